// What one cycle decided: placements of whole gangs, and a reason for every workload that waits.
#pragma once

#include "model/fact.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

/// The links of the decision chain, in order.
enum class ChainLink : std::uint8_t { submit, admit, gang, place, bind };

/// What keeps one node from taking one task. A node may have several. Each is a bit of a CauseSet.
enum class Cause : std::uint8_t {
    not_ready,
    cordoned,
    taint,
    selector,
    pod_affinity,
    gpu_model,  // no GPU of an allowed model
    gpu_total,  // fewer GPUs than asked, even when empty
    gpu_free,
    gpu_share,
    mig_profile,
    mig_free,
    cpu,
    memory,
    pods,
    extended,
    numa,
};
inline constexpr std::size_t cause_count = 16;
using CauseSet = std::uint16_t;

struct CauseCount {
    Cause cause = Cause::gpu_free;
    std::int64_t nodes = 0;

    bool operator==(const CauseCount&) const = default;
};

/// Why a workload waits.
enum class Why : std::uint8_t {
    unknown_queue,
    queue_not_leaf,
    unknown_level,
    unknown_constraint,
    over_cap_alone,  // more than a cap of the queue tree, even when empty
    queue_cap,       // the cap's headroom is too small now
    behind_head,     // strict queue: an earlier workload blocks
    linked_missing,  // a linked gang is not here yet
    linked_blocked,  // a linked gang does not fit
    too_large,       // no node, even empty, holds one task
    no_room,         // not enough room now
    no_domain,       // room enough in all, but in no single domain of the required level
    leaving,         // tasks that a plan released still hold their devices
    packing,         // each role fits alone, all of them together were not fitted
    pods_missing,    // its pods, or the owner of its pods, are not there yet
};

/// What could make the answer another one.
enum class Wake : std::uint8_t {
    never,
    room,
    node_change,
    queue_room,
    head_leaves,
    linked_arrives,
    queue_set,
    topology_set,
    pods_change,
    tasks_leave
};

struct Reason {
    ChainLink link = ChainLink::submit;
    Why why = Why::no_room;
    std::string role;         // the group whose tasks did not fit
    std::string subject;      // queue, level, workload, or resource that the sentence is about
    std::int64_t needed = 0;  // tasks, or the quota's units
    std::int64_t have = 0;    // tasks that would fit in the closest domain, or the quota's headroom
    std::string closest;      // the closest domain, "rack r1"; empty = the whole cluster
    std::int64_t nodes = 0;   // nodes looked at
    std::vector<CauseCount> causes;  // all of them, most nodes first
    std::vector<std::string> known;  // what would have been known names
    std::vector<Wake> wakes;         // what would change it
    std::string text;                // the sentence that a person reads

    bool operator==(const Reason&) const = default;
};

struct TaskPlace {
    std::uint32_t task = 0;  // index in the workload: roles in order, ranks along the tree
    std::string node;
    Devices devices;
    /// The node's devices are anonymous: how many is known, which ones is only assumed.
    bool is_counted = false;

    bool operator==(const TaskPlace&) const = default;
};

struct Placement {
    std::string workload;
    std::vector<TaskPlace> tasks;
    std::string domain;  // tightest domain that holds all of them, "rack r1"
    std::string level;   // its level; "node" when on one node, empty = the whole cluster
    std::int32_t crossings =
        0;  // domain boundaries at the innermost level that its tasks span, minus one

    bool operator==(const Placement&) const = default;
};

struct Refusal {
    std::string workload;
    Reason reason;

    bool operator==(const Refusal&) const = default;
};

/// A gang that a fact took below its minimum and that could not be completed: all of it stops and
/// waits again. Its devices are fenced until facts say that the tasks are gone.
struct Release {
    std::string workload;
    std::vector<TaskPlace> tasks;  // what it still held; nothing when facts took all of it

    bool operator==(const Release&) const = default;
};

struct Plan {
    std::uint64_t cycle = 0;
    std::vector<Release> releases;
    std::vector<Placement> placements;  // in the order of decision
    std::vector<Refusal> refusals;      // whose reason is new in this cycle

    bool operator==(const Plan&) const = default;
};

}  // namespace muster
