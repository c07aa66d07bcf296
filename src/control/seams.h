// What the loop needs of the world outside, and all it knows of it. An adapter (Kubernetes, Slurm,
// the lab, the simulator) is a Source and an Actuator. All are called by the I/O thread only.
#pragma once

#include "base/result.h"
#include "model/fact.h"
#include "model/order.h"

#include <cstdint>
#include <span>
#include <vector>

namespace muster {

/// Where facts come from.
class Source {
public:
    virtual ~Source() = default;
    /// What was heard since the last call, in the order in which it happened; nothing when nothing
    /// was. Waits for it no longer than `patience_ms`. After a restart it tells all that is there.
    virtual Result<std::vector<Fact>> observe(std::int64_t patience_ms) = 0;
};

/// Who carries orders out.
class Actuator {
public:
    virtual ~Actuator() = default;
    /// Asks; how it ended comes as facts: a bind as TaskBound, an eviction as TaskGone. The same
    /// order may come again, also after it was carried out, and is then the same fact again. A
    /// failure means that some were perhaps not asked; they are asked again later.
    virtual Result<> carry_out(std::span<const TaskOrder> orders) = 0;
};

class Clock {
public:
    virtual ~Clock() = default;
    virtual std::int64_t now() = 0;  // ms since the epoch; may jump
};

/// Whether this process may still lead. The ledger's fence is what makes it sure; this makes it
/// polite.
class Leader {
public:
    virtual ~Leader() = default;
    virtual bool is_leader() = 0;
};

}  // namespace muster
