#include "engine/world.h"

#include "base/assert.h"

#include <algorithm>
#include <bit>
#include <span>

namespace muster {

World::World(Policy chosen) : policy(std::move(chosen)), queues(symbols), queue_waiting(1) {}

NodeId World::find_node(std::string_view name) const {
    const auto found = node_ids_.find(name);
    return found == node_ids_.end() || !machines[found->second.value].is_present ? NodeId{}
                                                                                 : found->second;
}

WorkloadId World::find_workload(std::string_view name) const {
    if (last_found_.is_valid() && workloads[last_found_.value].name == name) { return last_found_; }
    const auto found = workload_ids_.find(name);
    if (found == workload_ids_.end()) { return {}; }
    return last_found_ = found->second;
}

// ---- rooms and what they are made of

Room& World::room(ShapeId shape) {
    if (rooms_.size() <= shape.value) {
        rooms_.resize(shapes.size());
        room_used_.resize(shapes.size(), 0);
    }
    std::unique_ptr<Room>& room = rooms_[shape.value];
    if (!room) {
        room = std::make_unique<Room>(shape);
        room->sync(*this);
        room_bytes_ += room->bytes();
        room_used_[shape.value] = ++room_clock_;
        const std::size_t most = std::max(room_bytes_max, machines.size() * (std::size_t{8} << 10));
        if (room_bytes_ > most) { drop_old_rooms(); }
        return *room;
    }
    room_used_[shape.value] = ++room_clock_;
    room->sync(*this);
    return *room;
}

/// Half of the rooms, those not used for longest.
void World::drop_old_rooms() {
    std::vector<std::uint64_t> used;
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
        if (rooms_[i]) { used.push_back(room_used_[i]); }
    }
    if (used.size() <= rooms_min) { return; }
    const auto middle = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
    std::nth_element(used.begin(), middle, used.end());
    const std::uint64_t oldest_kept = *middle;
    room_bytes_ = 0;
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
        if (rooms_[i] && room_used_[i] < oldest_kept) { rooms_[i].reset(); }
        if (rooms_[i]) { room_bytes_ += rooms_[i]->bytes(); }
    }
}

void World::touch(NodeId node) {
    if (journal.size() >= journal_max) {
        const auto half = static_cast<std::ptrdiff_t>(journal.size() / 2);
        journal.erase(journal.begin(), journal.begin() + half);
        journal_begin += static_cast<std::uint64_t>(half);
    }
    journal.push_back(node);
    opened_[node.value].is_known = false;
    states_.change(node);
}

bool World::looks_alike(NodeId a, NodeId b) const {
    if (space.nodes[a.value] != space.nodes[b.value]) { return false; }
    const Machine& left = machines[a.value];
    const Machine& right = machines[b.value];
    const NodeSpec& spec = left.spec;
    const NodeSpec& other = right.spec;
    const auto gpus = [&](const Machine& machine) {
        return space.gpus.begin() + static_cast<std::ptrdiff_t>(machine.gpu_begin);
    };
    const auto extended = [&](const Machine& machine) {
        return space.extended.begin() + static_cast<std::ptrdiff_t>(machine.extended_begin);
    };
    return left.node_class == right.node_class && left.devices == right.devices &&
           left.mig_gpus == 0 && !left.has_zone_rule && !right.has_zone_rule &&
           spec.gpus.size() == other.gpus.size() &&
           spec.allocatable.milli_cpu == other.allocatable.milli_cpu &&
           spec.allocatable.memory == other.allocatable.memory && spec.pods == other.pods &&
           std::equal(gpus(left), gpus(left) + static_cast<std::ptrdiff_t>(spec.gpus.size()),
                      gpus(right)) &&
           left.extended == right.extended &&
           std::equal(extended(left),
                      extended(left) + static_cast<std::ptrdiff_t>(left.extended.size()),
                      extended(right));
}

void World::rebuild_rank_costs() {
    ++layout_version;
    rank_costs_.resize(topology.size());
    for (Position at = 0; at < topology.size(); ++at) {
        rank_costs_[at] = values.rank_cost({.rank = at, .nodes = topology.size()});
    }
}

void World::refresh() {
    if (!moved.empty()) {
        std::vector<Symbol> keys;
        for (const Level& level : topology.levels()) { keys.push_back(symbols.intern(level.key)); }
        std::sort(moved.begin(), moved.end());
        moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
        std::vector<NodePlace> places;
        for (const NodeId id : moved) {
            const Machine& machine = machines[id.value];
            if (!machine.is_present) { continue; }
            NodePlace place{
                .node = id, .path = {}, .rank = machine.spec.rank, .name = machine.spec.name};
            for (const Symbol key : keys) { place.path.push_back(find_label(machine.labels, key)); }
            places.push_back(std::move(place));
        }
        topology.change(moved, std::move(places), symbols, machines.size());
        moved.clear();
        stamp.assign(machines.size(), 0);
        journal_begin += journal.size();
        journal.clear();
        rebuild_rank_costs();
    }
    if (are_classes_stale_) {
        are_classes_stale_ = false;
        class_ids_.clear();
        for (std::size_t i = 0; i < machines.size(); ++i) {
            if (machines[i].is_present) { classify(NodeId(i)); }
        }
        states_.forget_all();
        ++layout_version;
    }
}

void World::refresh_values() {
    if (are_values_stale_) { rebuild_values(); }
}

World::LentValues World::lend_values() {
    if (!are_values_stale_) { return {}; }
    LentValues lent{.values = values, .input = value_input_, .mix = mix_, .is_lent = true};
    rebuild_values();
    return lent;
}

void World::put_back(LentValues lent) {
    if (!lent.is_lent) { return; }
    values = std::move(lent.values);
    value_input_ = std::move(lent.input);
    mix_ = std::move(lent.mix);
    are_values_stale_ = true;
    opened_.assign(machines.size(), {});
    rebuild_rank_costs();
}

void World::rebuild_values() {
    are_values_stale_ = false;
    std::vector<MixClass> declared;
    for (const MixEntry& entry : policy.mix) {
        MixClass kind{.milli_cpu = entry.milli_cpu,
                      .gpu_milli = entry.gpu_milli,
                      .gpu_count = entry.gpu_count,
                      .models = any_model,
                      .weight = entry.weight};
        if (!entry.models.empty()) { kind.models = 0; }
        for (const std::string& model : entry.models) {
            kind.models |= std::uint64_t{1} << gpu_model_index(gpu_models, model);
        }
        declared.push_back(kind);
    }
    std::vector<MixClass> mix = declared.empty() ? mix_.classes() : std::move(declared);
    const bool names_models = std::any_of(
        mix.begin(), mix.end(), [](const MixClass& kind) { return kind.models != any_model; });
    std::vector<std::int64_t> capacity;
    if (names_models) { capacity = capacity_; }  // else nothing is priced by it
    capacity.resize(gpu_models.size(), 0);
    ValueInput input{std::move(mix), std::move(capacity), mix_.churn()};
    mix_.build_done();
    if (input == value_input_) { return; }
    value_input_ = std::move(input);
    values = ValueModel(value_input_.mix, value_input_.capacity, value_input_.churn);
    opened_.assign(machines.size(), {});
    rebuild_rank_costs();
}

/// The kinds of jobs seen so far are the mix, where none is declared; how many leave is always
/// seen.
void World::learn(const Workload& workload) {
    for (const Group& group : workload.groups) {
        if (!group.is_leaf) { continue; }
        const Shape& shape = shapes.at(group.shape);
        const GpuNeed& need = shape.spec.gpu;
        if (need.kind == GpuKind::mig) { continue; }  // its devices are no one else's
        MixClass kind{.milli_cpu = shape.milli_cpu,
                      .gpu_milli = 0,
                      .gpu_count = 0,
                      .models = shape.models,
                      .weight = group.count};
        if (need.kind == GpuKind::whole) {
            kind.gpu_milli = static_cast<std::int32_t>(gpu_milli_whole);
        }
        if (need.kind == GpuKind::share) { kind.gpu_milli = need.milli; }
        if (kind.gpu_milli > 0) { kind.gpu_count = need.count; }
        mix_.add(kind);
    }
    if (mix_.is_due()) { are_values_stale_ = true; }
}

void World::ask_keys(const Shape& shape) {
    for (const Symbol key : keys_of(shape)) {
        const auto at = std::lower_bound(class_keys.begin(), class_keys.end(), key);
        if (at != class_keys.end() && *at == key) { continue; }
        class_keys.insert(at, key);
        are_classes_stale_ = true;  // nodes are told apart by one label more
    }
}

// ---- what placements change

Charge World::charge_of(const Shape& shape) const {
    Charge charge{.gpu_milli = 0,
                  .milli_cpu = shape.milli_cpu,
                  .memory = shape.memory,
                  .extended = &shape.extended};
    const GpuNeed& need = shape.spec.gpu;
    if (need.kind == GpuKind::whole) {
        charge.gpu_milli = std::int64_t{need.count} * gpu_milli_whole;
    }
    if (need.kind == GpuKind::share) { charge.gpu_milli = std::int64_t{need.count} * need.milli; }
    return charge;
}

Charge World::charge_of(const Shape& shape, const Machine& machine, const Devices& chosen) const {
    Charge charge = charge_of(shape);
    const GpuNeed& need = shape.spec.gpu;
    if (need.kind == GpuKind::share && need.milli == 0) {
        for (std::uint64_t rest = chosen.gpus; rest != 0; rest &= rest - 1) {
            const auto gpu = static_cast<std::uint32_t>(std::countr_zero(rest));
            charge.gpu_milli += share_of(need, machine.model_of(gpu)->memory_mib).milli;
        }
    }
    for (const MigSlot& slot : chosen.mig) {
        charge.gpu_milli += mig_milli(shape, *machine.model_of(slot.gpu));
    }
    return charge;
}

void World::hold(TaskRef ref, NodeId node, Devices chosen) {
    Workload& workload = workloads[ref.workload.value];
    Task& task = workload.tasks[ref.task];
    Group& group = workload.groups[task.group];
    Machine& machine = machines[node.value];
    MUSTER_ASSERT(task.state == TaskState::waiting);
    MUSTER_ASSERT(machine.is_present);
    const Shape& shape = shapes.at(group.shape);
    const Charge charge = charge_of(shape, machine, chosen);
    change(space, Taking::take, shape, machine, node, chosen);
    task.state = TaskState::placed;
    task.node = node;
    task.gpu_milli = charge.gpu_milli;
    task.devices = std::move(chosen);
    ++group.placed;
    machine.tasks.push_back(ref);
    if (workload.queue.is_valid()) { queues.add(workload.queue, charge, 1); }
    pods.change(group, node, 1);
    touch(node);
}

void World::unhold(TaskRef ref, TaskState next) {
    Workload& workload = workloads[ref.workload.value];
    Task& task = workload.tasks[ref.task];
    Group& group = workload.groups[task.group];
    Machine& machine = machines[task.node.value];
    MUSTER_ASSERT(task.holds());
    const Shape& shape = shapes.at(group.shape);
    change(space, Taking::give, shape, machine, task.node, task.devices);
    Charge charge = charge_of(shape);
    charge.gpu_milli = task.gpu_milli;
    if (workload.queue.is_valid()) { queues.add(workload.queue, charge, -1); }
    pods.change(group, task.node, -1);
    touch(task.node);
    if (task.is_conflict) { claims.erase(ref); }
    const auto here = std::find(machine.tasks.begin(), machine.tasks.end(), ref);
    MUSTER_ASSERT(here != machine.tasks.end());
    *here = machine.tasks.back();
    machine.tasks.pop_back();
    if (task.state == TaskState::leaving) {
        --workload.leaving;
    } else {
        --group.placed;
    }
    if (next == TaskState::finished) { ++group.finished; }
    task = Task{.state = next,
                .is_confirmed = false,
                .is_conflict = false,
                .group = task.group,
                .node = {},
                .gpu_milli = 0,
                .devices = {}};
}

void World::leave(TaskRef ref) {
    Workload& workload = workloads[ref.workload.value];
    Task& task = workload.tasks[ref.task];
    MUSTER_ASSERT(task.state == TaskState::placed);
    task.state = TaskState::leaving;
    --workload.groups[task.group].placed;
    ++workload.leaving;
}

void World::mark_grown(NodeId node, QueueId queue) {
    if (!claims.empty()) { freed_.push_back(node); }
    if (grown.size() >= machines.size()) {
        is_all_grown = true;
    } else if (grown.empty() || grown.back() != node) {
        grown.push_back(node);
    }
    for (QueueId up = queue; up.is_valid(); up = queues.at(up).parent) {
        if (std::find(eased.begin(), eased.end(), up) == eased.end()) { eased.push_back(up); }
    }
}

// ---- who waits

void World::make_ready(WorkloadId id) {
    const Workload& workload = workloads[id.value];
    if (!workload.is_present) { return; }
    if (workload.is_running) {
        growing.insert(id);
    } else {
        ready.emplace(workload.order, id);
    }
}

void World::set_waits(WorkloadId id, std::vector<Wait> next) {
    Workload& workload = workloads[id.value];
    if (workload.waits == next) { return; }
    // A shape that is waited for keeps its id, also when the last group that asks for it has left.
    for (const Wait& wait : next) {
        if (wait.shape.is_valid()) { shapes.share(wait.shape); }
    }
    waits.remove(id, workload);
    std::swap(workload.waits, next);
    waits.add(id, workload);
    for (const Wait& wait : next) {
        if (wait.shape.is_valid()) { shapes.release(wait.shape); }
    }
}

void World::start_waiting(WorkloadId id) {
    Workload& workload = workloads[id.value];
    workload.is_running = false;
    workload.is_hopeless = false;
    growing.erase(id);
    set_waits(id, {});
    if (workload.queue.is_valid()) {
        queue_waiting[workload.queue.value].emplace(workload.order, id);
    }
    make_ready(id);
    wake_linked_heads(workload);
}

void World::stop_waiting(WorkloadId id) {
    Workload& workload = workloads[id.value];
    ready.erase({workload.order, id});
    growing.erase(id);
    set_waits(id, {});
    workload.reason.reset();
    if (!workload.queue.is_valid()) { return; }
    queue_waiting[workload.queue.value].erase({workload.order, id});
    wake_head(workload.queue);
    wake_linked_heads(workload);
}

/// Those it is linked to may stand elsewhere in their queues now.
void World::wake_linked_heads(const Workload& workload) {
    for (const std::string& name : workload.linked) {
        const WorkloadId peer = find_workload(name);
        if (peer.is_valid() && workloads[peer.value].queue.is_valid()) {
            wake_head(workloads[peer.value].queue);
        }
    }
}

Order World::standing_of(WorkloadId id) const {
    const Workload& workload = workloads[id.value];
    Order first = workload.order;
    for (const std::string& name : workload.linked) {
        const WorkloadId peer = find_workload(name);
        if (!peer.is_valid() || !workloads[peer.value].queue.is_valid()) { continue; }
        const Workload& other = workloads[peer.value];
        if (queue_waiting[other.queue.value].contains({other.order, peer})) {
            first = std::min(first, other.order);
        }
    }
    return first;
}

WorkloadId World::head_of(QueueId queue) const {
    WorkloadId head;
    Order first;
    for (const auto& [order, id] : queue_waiting[queue.value]) {
        const Workload& workload = workloads[id.value];
        if (workload.is_hopeless || (head.is_valid() && workload.linked.empty())) { continue; }
        const Order standing = standing_of(id);
        if (!head.is_valid() || standing < first) {
            head = id;
            first = standing;
        }
    }
    return head;
}

WorkloadId World::blocker_of(WorkloadId id) const {
    const QueueId queue = workloads[id.value].queue;
    if (queues.at(queue).spec.head != HeadRule::strict) { return {}; }
    const WorkloadId head = head_of(queue);
    return head.is_valid() && standing_of(head) < standing_of(id) ? head : WorkloadId{};
}

void World::wake_head(QueueId queue) {
    if (queues.at(queue).spec.head != HeadRule::strict) { return; }
    const WorkloadId head = head_of(queue);
    if (!head.is_valid()) { return; }
    // Only a workload that waited for this is looked at again; others know better why they wait.
    const std::vector<Wait>& known = workloads[head.value].waits;
    if (std::any_of(known.begin(), known.end(), [&](const Wait& wait) {
            return wait.wake == Wake::head_leaves && wait.queue == queue;
        })) {
        make_ready(head);
    }
}

}  // namespace muster
