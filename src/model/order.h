// What the cluster is told to do, and how far that got: planned → ordered → confirmed. An order
// that was recorded may be carried out at any time until a fact says how it ended, so a restarted
// scheduler gives it again and never plans over it.
#pragma once

#include "model/fact.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

enum class OrderKind : std::uint8_t { bind, evict };

/// One task of a recorded plan.
struct TaskOrder {
    OrderKind kind = OrderKind::bind;
    std::string workload;
    std::uint32_t task = 0;
    std::string node;
    Devices devices;
    std::uint64_t cycle = 0;  // of the plan; with workload and task it names the order

    bool operator==(const TaskOrder&) const = default;
};

/// Orders that the cluster was told, of one workload and one plan. Where each task goes and what it
/// holds there is what the ledger amounts to behind that plan.
struct Ordered {
    OrderKind kind = OrderKind::bind;
    std::string workload;
    std::uint64_t cycle = 0;
    std::vector<std::uint32_t> tasks;

    bool operator==(const Ordered&) const = default;
};

/// Rules by which a fact that breaks a law, or makes no sense, is resolved.
enum class ConflictRule : std::uint8_t {
    fact_refused,      // it says what can't be: it is kept on record and changes nothing
    cluster_is_right,  // what runs, runs: it holds what is free and is marked as a conflict
    over_cap_waits  // what runs stays; nothing more starts in the queue before it is below its cap
};

struct Conflict {
    std::uint32_t fact = 0;  // index in the cycle's facts
    ConflictRule rule = ConflictRule::fact_refused;
    std::string text;

    bool operator==(const Conflict&) const = default;
};

}  // namespace muster
