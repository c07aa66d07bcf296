// Facts are the only way into the World: what the cluster, the users and the clock say.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/node.h"
#include "model/queue.h"
#include "model/workload.h"

namespace muster {

/// Devices of one task on its node: bit i = GPU i; for MIG one slot per instance.
struct MigSlot {
    std::uint8_t gpu = 0;
    std::uint8_t start = 0;  // first memory slice

    bool operator==(const MigSlot&) const = default;
};

struct Devices {
    std::uint64_t gpus = 0;
    std::vector<MigSlot> mig;
    std::int8_t numa = -1;  // zone of a single-numa-node placement

    bool operator==(const Devices&) const = default;
};

struct TopologySet { std::vector<Level> levels; };   // outermost first; replaces the tree
struct NodeSet { NodeSpec node; };                   // new or changed
struct NodeGone { std::string node; };
struct GpuHealth { std::string node; std::uint32_t gpu = 0; bool is_healthy = true; };
struct QueueSet { QueueSpec queue; };                // new or changed; "default" exists from the start
struct QueueGone { std::string queue; };
struct WorkloadSet { WorkloadSpec workload; };       // new or changed
struct WorkloadGone { std::string workload; };       // deleted or finished: its holdings are free
struct TaskGone { std::string workload; std::uint32_t task = 0; bool is_finished = false; };  // finished tasks are not placed again
/// The cluster says that a task runs there, whoever decided it.
struct TaskBound { std::string workload; std::uint32_t task = 0; std::string node; bool has_devices = false; Devices devices; };
struct TimeIs { std::int64_t now = 0; };             // ms since the epoch, never falls

using Fact = std::variant<TopologySet, NodeSet, NodeGone, GpuHealth, QueueSet, QueueGone, WorkloadSet,
                          WorkloadGone, TaskGone, TaskBound, TimeIs>;

}  // namespace muster
