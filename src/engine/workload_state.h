// A workload as the engine knows it: its group tree, its tasks and what they hold.
#pragma once

#include "engine/machine.h"
#include "engine/queue_tree.h"
#include "engine/shape.h"
#include "model/plan.h"
#include "model/snapshot.h"

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace muster {

struct Task {
    [[nodiscard]] bool holds() const {
        return state == TaskState::placed || state == TaskState::leaving;
    }

    TaskState state = TaskState::waiting;
    bool is_confirmed = false;  // a fact said that it is there
    bool is_conflict = false;   // it holds what was free of its devices; see World::claims
    std::uint32_t group = 0;
    NodeId node;
    std::int64_t gpu_milli = 0;  // charged to the queue while placed
    Devices devices;
};

struct Group {
    std::string name;
    std::int32_t parent = -1;
    std::int32_t minimum = 1;
    std::int32_t count = 1;  // leaf: tasks; inner: children
    std::int32_t held_minimum =
        0;  // the minimum as of the last placement; a fact may break only this
    bool is_leaf = true;
    ShapeId shape;
    std::uint32_t first_task = 0;
    std::int32_t placed = 0;    // leaf: tasks that hold something and do not leave
    std::int32_t finished = 0;  // leaf: tasks that are done; they count for the minimum
    TopologyWish topology;
    std::string labels;  // packed, see match.h
    Symbol name_space;
    std::vector<std::int32_t> children;
    std::vector<PodTerm> pod_terms;      // as they were given
    std::vector<std::uint32_t> terms;    // own pod terms, in the PodIndex
    std::vector<std::uint32_t> matched;  // pod terms of anyone whose selector these labels match
};

/// Who is decided first: higher priority, then earlier submission, then earlier fact. Total.
struct Order {
    std::int64_t minus_priority = 0;
    std::int64_t submitted = 0;
    std::uint64_t sequence = 0;

    auto operator<=>(const Order&) const = default;
};

/// Where a waiting workload is registered to be woken.
struct Wait {
    Wake wake = Wake::room;
    ShapeId shape;
    std::int32_t level = -1;  // −1: anywhere in the cluster
    std::int64_t needed = 0;  // tasks of the shape in one domain of the level
    QueueId queue;

    bool operator==(const Wait&) const = default;
};

struct Workload {
    std::string name;
    std::string queue_name;
    std::string user;
    std::string uid;
    QueueId queue;  // invalid while the queue is not known
    std::int64_t priority = 0;
    Order order;
    std::vector<std::string> linked;
    std::int64_t runtime_estimate_s = 0;
    std::vector<Group> groups;
    std::vector<Task> tasks;
    bool is_present = false;
    bool is_lease = false;     // holds a lease's blocks, one task each; never decided
    bool is_running = false;   // its minimum was placed and it has not been released since
    bool is_hopeless = false;  // waits for something that no release can bring: it blocks no queue
    std::unique_ptr<Reason> reason;  // the last refusal of one that waits; else null
    std::vector<Wait> waits;
    std::int32_t leaving = 0;  // tasks; it is not decided before they are gone

    [[nodiscard]] bool is_waiting() const { return is_present && !is_running; }
};

enum class Floor : std::uint8_t { asked, held };
/// Leaf: placed or finished reaches the minimum. Inner: enough children do. A child of an inner
/// group that is not among the required ones may be empty.
bool has_minimum(const Workload& workload, std::int32_t group, Floor floor);
/// No group stands between nothing and its minimum, and the root has it.
bool is_whole(const Workload& workload, Floor floor);
/// True when a leaf has tasks that wait.
bool wants_more(const Workload& workload);

/// After a placement: what it made the minimum is what a later fact may break.
void settle(Workload& workload);

}  // namespace muster
