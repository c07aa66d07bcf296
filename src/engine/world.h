// The World: all the engine knows, changed in place by facts and by committed trials, with its
// indexes kept up. One thread. Facts go through `apply`; decisions through a Trial (trial.h) only.
#pragma once

#include "base/result.h"
#include "engine/mix.h"
#include "engine/node_state.h"
#include "engine/pod_index.h"
#include "engine/queue_tree.h"
#include "engine/room.h"
#include "engine/topology.h"
#include "engine/wake_index.h"
#include "engine/workload_state.h"
#include "model/policy.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster {

/// Bytes that rooms not in use may keep, 8 KiB a node when that is more; at least rooms_min stay.
inline constexpr std::size_t room_bytes_max = std::size_t{96} << 20;
inline constexpr std::size_t rooms_min = 32;
/// Changes remembered before rooms that are further behind look at every node again.
inline constexpr std::size_t journal_max = std::size_t{1} << 16;

/// Lets names be looked up without a copy.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

using WaitingSet = std::set<std::pair<Order, WorkloadId>>;

struct World {
    explicit World(Policy chosen);

    Result<> apply(const Fact& fact);
    [[nodiscard]] Snapshot snapshot() const;
    /// Into a World that is new; after a failure it is of no use.
    Result<> restore(const Snapshot& from);
    /// Takes a recorded plan as it is, in place of a cycle. After it this World makes no cycle of
    /// its own; one restored from its snapshot does.
    Result<> fold(const Plan& plan);
    /// A new workload, checked, that is in no set of those that wait and teaches the mix nothing.
    Result<WorkloadId> add(const WorkloadSpec& spec);
    void remove(WorkloadId id);
    /// Looks for its queue, if it has none yet.
    void adopt_queue(WorkloadId id);
    /// The same for all, when the queue tree has changed; at the start of a cycle only.
    void adopt_queues();

    // ---- what is known
    Policy policy;
    Symbols symbols;
    std::vector<std::string> gpu_models;
    ShapeTable shapes;
    DeviceTable devices;
    Topology topology;
    QueueTree queues;
    std::vector<Machine> machines;  // by NodeId; gone ones keep their place and name
    Space space;
    std::vector<Workload> workloads;  // by WorkloadId
    /// Live leases by name, with the workload that holds the blocks.
    struct Lease {
        LeaseSpec spec;
        WorkloadId holder;
    };
    std::map<std::string, Lease, std::less<>> leases;
    /// All devices of conflicts that hold fewer: what they run on, as far as facts say. They get
    /// the rest as soon as it is free, before anyone else.
    std::map<TaskRef, Devices> claims;
    PodIndex pods;
    ValueModel values;
    std::int64_t now = 0;
    std::uint64_t cycle = 0;

    // ---- who is to be looked at
    WaitingSet ready;                       // woken or new
    std::vector<WaitingSet> queue_waiting;  // by QueueId
    WakeIndex waits;
    std::set<WorkloadId> broken;   // a fact took tasks of theirs, or bound some
    std::set<WorkloadId> growing;  // running, woken for their elastic rest
    std::vector<NodeId> grown;     // nodes that may hold more than at the last cycle
    bool is_all_grown = false;
    std::vector<QueueId> eased;  // queues whose headroom grew
    std::vector<NodeId> moved;   // new, gone, or elsewhere in the order since the last refresh

    [[nodiscard]] NodeId find_node(std::string_view name) const;
    [[nodiscard]] WorkloadId find_workload(std::string_view name) const;
    [[nodiscard]] const Group& group_of(TaskRef ref) const {
        const Workload& workload = workloads[ref.workload.value];
        return workload.groups[workload.tasks[ref.task].group];
    }

    /// The room for a shape, up to date.
    Room& room(ShapeId shape);
    /// What is open on a node, remembered until it changes.
    [[nodiscard]] const OpenValue& opened(NodeId node) {
        OpenValue& known = opened_[node.value];
        if (!known.is_known) { known = open_now(machines[node.value], node, space, values); }
        return known;
    }
    [[nodiscard]] StateId state(NodeId node) {
        return states_.of(machines[node.value], node, space);
    }
    /// The same without a number, for two nodes at hand; false where that would be dear to say.
    [[nodiscard]] bool looks_alike(NodeId a, NodeId b) const;
    [[nodiscard]] std::size_t state_count() const { return states_.size(); }
    /// What a position costs by its rank.
    [[nodiscard]] Value rank_cost(Position at) const { return rank_costs_[at]; }
    /// Positions and classes, made fresh when facts have changed them.
    void refresh();
    /// The value model too: at the start of a cycle only, so that no question between two cycles
    /// changes what the next one learns.
    void refresh_values();
    /// All that the value model is made of.
    struct ValueInput {
        std::vector<MixClass> mix;
        std::vector<std::int64_t> capacity;
        Churn churn;

        bool operator==(const ValueInput&) const = default;
    };
    /// For such a question: the values that the next cycle would use, until they are put back.
    struct LentValues {
        ValueModel values;
        ValueInput input;
        Mix mix;
        bool is_lent = false;
    };
    LentValues lend_values();
    void put_back(LentValues lent);

    /// What a task would cost its queue on a node; exact once its devices are known.
    [[nodiscard]] Charge charge_of(const Shape& shape, const Machine& machine,
                                   const Devices& chosen) const;
    /// A lower bound before any placement.
    [[nodiscard]] Charge charge_of(const Shape& shape) const;

    /// Takes and gives back. For Trial and facts only.
    void hold(TaskRef ref, NodeId node, Devices devices);
    void unhold(TaskRef ref, TaskState next);
    /// A placed task is given up; what it holds stays taken until a fact says that it is gone.
    void leave(TaskRef ref);

    void make_ready(WorkloadId id);
    /// Registers it under what could change its answer, in place of what it stood under before.
    void set_waits(WorkloadId id, std::vector<Wait> waits);
    void start_waiting(WorkloadId id);
    /// It runs or is gone: a strict queue's next head is woken.
    void stop_waiting(WorkloadId id);
    /// The first of a queue that waits for something which a release can bring; invalid when none.
    [[nodiscard]] WorkloadId head_of(QueueId queue) const;
    /// Where it stands in a strict queue: linked gangs stand, each in its own queue, where the
    /// first of them does; else two pairs could wait for each other for ever.
    [[nodiscard]] Order standing_of(WorkloadId id) const;
    /// Whom it waits behind in a strict queue; invalid when it may go.
    [[nodiscard]] WorkloadId blocker_of(WorkloadId id) const;
    void wake_head(QueueId queue);
    void wake_linked_heads(const Workload& workload);
    /// After an unhold that is no rollback: who has a claim to it takes it, and who waits for it
    /// may go on.
    void mark_grown(NodeId node, QueueId queue);

    // ---- journal of changed nodes, for the rooms
    std::vector<NodeId> journal;
    std::uint64_t journal_begin = 0;  // number of the first entry
    std::uint64_t layout_version = 1;
    std::vector<std::uint64_t> stamp;  // by NodeId, scratch of Room::sync
    std::uint64_t stamp_now = 0;
    void touch(NodeId node);

    std::vector<Symbol> class_keys;  // label keys that live or past shapes ask for, sorted
    [[nodiscard]] std::size_t class_count() const { return class_ids_.size(); }

private:
    Result<> on(const TopologySet& fact);
    Result<> on(const NodeSet& fact);
    Result<> on(const NodeGone& fact);
    Result<> on(const GpuHealth& fact);
    Result<> on(const QueueSet& fact);
    Result<> on(const QueueGone& fact);
    Result<> on(const WorkloadSet& fact);
    Result<> on(const WorkloadGone& fact);
    Result<> on(const TaskGone& fact);
    Result<> on(const TaskBound& fact);
    Result<> on(const LeaseSet& fact);
    Result<> on(const TimeIs& fact);

    Result<> check_gpu_models(const std::vector<std::string>& names) const;
    void count_capacity(const Machine& machine, std::int64_t sign);
    void rebuild_machine(NodeId id);  // Space and compiled form from the specification and holdings
    void hold_claimed(NodeId id);
    void charge_again(TaskRef ref);
    void classify(NodeId id);
    void ask_keys(const Shape& shape);
    void learn(const Workload& workload);
    void rebuild_values();
    void rebuild_rank_costs();
    void drop_old_rooms();
    Result<> check(const WorkloadSpec& spec) const;
    Result<> hold_lease(const LeaseSpec& lease);
    void hold_block(const Lease& lease, std::uint32_t index, NodeId node);
    void hold_leases_on(NodeId node);
    Result<> restore(const WorkloadStatus& status);
    [[nodiscard]] bool can_leave(WorkloadId id, const TaskPlace& place) const;
    [[nodiscard]] bool can_hold(WorkloadId id, const TaskPlace& place) const;
    WorkloadId new_workload();
    void build_workload(WorkloadId id, const WorkloadSpec& spec);
    void drop_workload(WorkloadId id);
    void leave_queue(WorkloadId id);
    void update_workload(WorkloadId id, const WorkloadSpec& spec);

    template <class Id>
    using ByName = std::unordered_map<std::string, Id, TextHash, std::equal_to<>>;

    ByName<NodeId> node_ids_;
    ByName<WorkloadId> workload_ids_;
    mutable WorkloadId last_found_;  // facts about one come one behind the other
    std::vector<WorkloadId> free_workloads_;
    std::uint64_t sequence_ = 0;
    std::unordered_map<std::string, ClassId> class_ids_;
    std::vector<std::unique_ptr<Room>> rooms_;  // by ShapeId
    std::vector<std::uint64_t> room_used_;      // by ShapeId
    std::uint64_t room_clock_ = 0;
    std::size_t room_bytes_ = 0;
    std::vector<OpenValue> opened_;       // by NodeId
    std::vector<std::int64_t> capacity_;  // milli-GPU of present nodes without MIG, by GPU model
    std::vector<NodeId> freed_;  // by the fact being applied, where somebody may have a claim
    NodeStates states_;
    std::vector<Value> rank_costs_;  // by Position
    Mix mix_;
    ValueInput value_input_;
    bool are_values_stale_ = true;
    bool are_classes_stale_ = false;
    bool are_queues_changed_ = false;
};

}  // namespace muster
