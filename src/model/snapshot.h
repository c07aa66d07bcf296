// All that an engine knows, as plain data: what a ledger keeps so that it need not read from its
// beginning. Taken between two cycles. An engine restored from it looks again at everything that
// waits, and decides as any other engine restored from it does.
#pragma once

#include "model/lease.h"
#include "model/plan.h"
#include "model/policy.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

enum class TaskState : std::uint8_t {
    waiting,
    placed,
    leaving,  // given up by a plan; its devices are fenced until the cluster says that it is gone
    finished
};

struct TaskStatus {
    TaskState state = TaskState::waiting;
    bool is_confirmed = false;  // the cluster said that it runs there; else it is only ordered
    bool is_conflict = false;   // a fact put it where its devices were not free
    std::string node;           // placed and leaving only, as are devices
    Devices devices;
    Devices claim;  // of a conflict: all that it runs on, of which `devices` was free

    bool operator==(const TaskStatus&) const = default;
};

struct WorkloadStatus {
    WorkloadSpec spec;
    bool is_running = false;
    std::vector<std::int32_t> held_minimums;  // by group
    std::vector<TaskStatus> tasks;            // by task
    bool has_reason = false;
    Reason reason;

    bool operator==(const WorkloadStatus&) const = default;
};

/// What was learned of one kind of request; see engine/mix.h.
struct MixCount {
    std::int64_t milli_cpu = 0;
    std::int32_t gpu_milli = 0;
    std::int32_t gpu_count = 0;
    std::vector<std::string> models;  // empty = any
    std::int64_t count = 0;

    bool operator==(const MixCount&) const = default;
};

struct MixStatus {
    std::vector<MixCount> counts;
    std::int64_t recent = 0;  // arrivals that the churn is measured over
    std::int64_t left = 0;    // departures meanwhile
    std::int64_t due_at = 0;
    std::int64_t built_churn = 0;  // percent, of the last build

    bool operator==(const MixStatus&) const = default;
};

struct Snapshot {
    std::int64_t now = 0;
    std::uint64_t cycle = 0;
    std::vector<std::string> gpu_models;  // in the order in which they were met
    std::vector<Level> levels;
    std::vector<NodeSpec> nodes;
    std::vector<QueueSpec> queues;  // parents first
    std::vector<LeaseSpec> leases;
    std::vector<WorkloadStatus> workloads;  // in the order in which they came
    MixStatus mix;
    Policy policy;  // by which it decided; who restores it may choose another one

    bool operator==(const Snapshot&) const = default;
};

}  // namespace muster
