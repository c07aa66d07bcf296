// What the loop needs of the world outside, and all it knows of it. An adapter (Kubernetes, Slurm,
// the lab, the simulator) is a Source and an Actuator. All are called by the I/O thread only.
#pragma once

#include "base/result.h"
#include "model/fact.h"
#include "model/order.h"
#include "model/snapshot.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace muster {

/// Workload and task.
using TaskRefName = std::pair<std::string, std::uint32_t>;

/// Where facts come from.
class Source {
public:
    virtual ~Source() = default;
    /// Before the first observation: what the ledger says is there. What is otherwise, and what has
    /// gone since, are the first facts; a Source that listens to a cluster looks at all of it.
    virtual Result<> begin(const Snapshot& known) = 0;
    /// What was heard since the last call, in the order in which it happened; nothing when nothing
    /// was. Waits for it no longer than `patience_ms`. What is there may be told again, but the end
    /// of one run of a task is told once: told late, it would end the next run.
    virtual Result<std::vector<Fact>> observe(std::int64_t patience_ms) = 0;
    /// Tasks of which the last observation saw something that an order waits for, such as their
    /// pod: what is ordered of them is given now.
    virtual std::vector<TaskRefName> take_ready() { return {}; }
};

/// Who carries orders out.
class Actuator {
public:
    virtual ~Actuator() = default;
    /// Asks; how it ended comes as facts: a bind as TaskBound, an eviction as TaskGone. An order is
    /// for the pod and the node that the last observation spoke of: to another one of the same name
    /// it does nothing, however late it comes. The same order may come again, also after it was
    /// carried out; then the Source tells how it stands. A failure means that some were perhaps not
    /// asked; they are asked again later.
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
