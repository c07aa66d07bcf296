// A node in the queue tree. Cap binds now; weight and entitlement are read and kept for fair
// shares.
#pragma once

#include "model/resources.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

/// How a queue whose first workload is blocked goes on: the rest waits behind it, or is tried.
enum class HeadRule : std::uint8_t { strict, best_effort };

/// A limit per resource; a resource that is not named has none. GPUs in milli-GPU.
struct Quota {
    std::vector<Amount>
        amounts;  // "gpu" (milli-GPU), "cpu" (milli-CPU), "memory" (bytes), or a resource's name

    bool operator==(const Quota&) const = default;
};

struct QueueSpec {
    std::string name;
    std::string parent;  // empty = the root
    Quota cap;
    Quota entitlement;
    Quota guarantee;
    std::int64_t weight = 1;
    std::int64_t priority = 0;
    HeadRule head = HeadRule::best_effort;

    bool operator==(const QueueSpec&) const = default;
};

}  // namespace muster
