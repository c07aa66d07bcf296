// Facts are the only way into the World: what the cluster, the users and the clock say.
#pragma once

#include "model/lease.h"
#include "model/node.h"
#include "model/queue.h"
#include "model/workload.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

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

/// Outermost level first; replaces the tree.
struct TopologySet {
    std::vector<Level> levels;

    bool operator==(const TopologySet&) const = default;
};

/// New or changed.
struct NodeSet {
    NodeSpec node;

    bool operator==(const NodeSet&) const = default;
};

struct NodeGone {
    std::string node;

    bool operator==(const NodeGone&) const = default;
};

struct GpuHealth {
    std::string node;
    std::uint32_t gpu = 0;
    bool is_healthy = true;

    bool operator==(const GpuHealth&) const = default;
};

/// New or changed; "default" exists from the start.
struct QueueSet {
    QueueSpec queue;

    bool operator==(const QueueSet&) const = default;
};

struct QueueGone {
    std::string queue;

    bool operator==(const QueueGone&) const = default;
};

/// New or changed.
struct WorkloadSet {
    WorkloadSpec workload;

    bool operator==(const WorkloadSet&) const = default;
};

/// Deleted or finished: its holdings are free.
struct WorkloadGone {
    std::string workload;

    bool operator==(const WorkloadGone&) const = default;
};

/// A finished task is not placed again, wherever it ran; one that was lost is.
struct TaskGone {
    std::string workload;
    std::uint32_t task = 0;
    bool is_finished = false;

    bool operator==(const TaskGone&) const = default;
};

/// The cluster says that a task runs there, whoever decided it.
struct TaskBound {
    std::string workload;
    std::uint32_t task = 0;
    std::string node;
    bool has_devices = false;
    Devices devices;

    bool operator==(const TaskBound&) const = default;
};

/// New, or one step further.
struct LeaseSet {
    LeaseSpec lease;

    bool operator==(const LeaseSet&) const = default;
};

/// Milliseconds since the epoch, never falls.
struct TimeIs {
    std::int64_t now = 0;

    bool operator==(const TimeIs&) const = default;
};

using Fact = std::variant<TopologySet, NodeSet, NodeGone, GpuHealth, QueueSet, QueueGone,
                          WorkloadSet, WorkloadGone, TaskGone, TaskBound, LeaseSet, TimeIs>;

}  // namespace muster
