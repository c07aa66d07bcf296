// Facts about queues, workloads and their tasks.
#include "base/assert.h"
#include "engine/check.h"
#include "engine/world.h"
#include "model/rest_of_gang.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster {

namespace {

/// Marked as tasks that a node has lost the devices of: what is not there must not start. Where all
/// that is placed is there, it is tasks that have ended which the gang lacks.
bool give_up_rest(Workload& workload) {
    if (!workload.is_running) { return false; }
    bool is_any = false;
    for (Task& task : workload.tasks) {
        if (task.state != TaskState::placed || task.is_confirmed) { continue; }
        task.is_conflict = true;
        is_any = true;
    }
    if (is_any) { return true; }
    const auto ended =
        std::find_if(workload.tasks.begin(), workload.tasks.end(),
                     [](const Task& task) { return task.state == TaskState::finished; });
    if (ended == workload.tasks.end()) { return false; }
    ended->is_conflict = true;
    return true;
}

}  // namespace

Result<> World::apply(const Fact& fact) {
    auto done = std::visit([this](const auto& one) { return on(one); }, fact);
    for (const NodeId node : std::exchange(freed_, {})) { hold_claimed(node); }
    return done;
}

Result<> World::on(const TimeIs& fact) {
    if (fact.now < now) {
        return fail(Code::invalid,
                    fmt::format("time {} is before {}, where it was", fact.now, now));
    }
    now = fact.now;
    return {};
}

Result<> World::on(const QueueSet& fact) {
    MUSTER_CHECK(queues.set(fact.queue, symbols));
    queue_waiting.resize(queues.size());
    const QueueId id = queues.find(fact.queue.name);
    eased.push_back(id);
    are_queues_changed_ = true;
    // Those that waited for a queue of this name, or for the tree to be another one.
    waits.wake_all(*this, Wake::queue_set);
    for (const auto& [order, workload] : queue_waiting[id.value]) { make_ready(workload); }
    return {};
}

Result<> World::on(const QueueGone& fact) {
    MUSTER_CHECK(queues.remove(fact.queue));
    are_queues_changed_ = true;
    waits.wake_all(*this, Wake::queue_set);  // its parent may be a leaf now
    return {};
}

Result<> World::check(const WorkloadSpec& spec) const {
    MUSTER_CHECK(check_workload(spec));
    std::vector<std::string> models;
    for (const GroupSpec& group : spec.groups) {
        models.insert(models.end(), group.task.gpu.models.begin(), group.task.gpu.models.end());
    }
    return check_gpu_models(models);
}

WorkloadId World::new_workload() {
    WorkloadId id(workloads.size());
    if (free_workloads_.empty()) {
        workloads.emplace_back();
    } else {
        id = free_workloads_.back();
        free_workloads_.pop_back();
    }
    workloads[id.value].order.sequence = ++sequence_;
    return id;
}

Result<WorkloadId> World::add(const WorkloadSpec& spec) {
    MUSTER_CHECK(check(spec));
    const WorkloadId id = new_workload();
    workload_ids_.emplace(spec.name, id);
    build_workload(id, spec);
    return id;
}

void World::remove(WorkloadId id) {
    drop_workload(id);
    workload_ids_.erase(workloads[id.value].name);
    last_found_ = {};
    workloads[id.value] = Workload{};
    free_workloads_.push_back(id);
}

Result<> World::on(const WorkloadSet& fact) {
    if (const WorkloadId known = find_workload(fact.workload.name); known.is_valid()) {
        MUSTER_CHECK(check(fact.workload));
        if (!is_another(workloads[known.value].uid, fact.workload.uid)) {
            update_workload(known, fact.workload);
            return {};
        }
        MUSTER_CHECK(on(WorkloadGone{fact.workload.name}));
    }
    MUSTER_TRY(id, add(fact.workload));
    learn(workloads[id.value]);
    start_waiting(id);
    waits.wake_all(*this, Wake::linked_arrives);
    return {};
}

/// A queue that is not known, or is no leaf, is no queue: admission says so.
void World::adopt_queue(WorkloadId id) {
    Workload& workload = workloads[id.value];
    const QueueId queue = queues.find(workload.queue_name);
    if (!queue.is_valid() || queues.at(queue).children > 0) { return; }
    workload.queue = queue;
    ++queues.at(queue).workloads;
    for (const Task& task : workload.tasks) {
        if (!task.holds()) { continue; }
        Charge charge = charge_of(shapes.at(workload.groups[task.group].shape));
        charge.gpu_milli = task.gpu_milli;
        queues.add(queue, charge, 1);
    }
    if (workload.is_waiting()) { queue_waiting[queue.value].emplace(workload.order, id); }
}

/// Also of those that run: a foreign bind may have come before the queue.
void World::adopt_queues() {
    if (!std::exchange(are_queues_changed_, false)) { return; }
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        if (workloads[i].is_present && !workloads[i].is_lease && !workloads[i].queue.is_valid()) {
            adopt_queue(WorkloadId(i));
        }
    }
}

void World::leave_queue(WorkloadId id) {
    Workload& workload = workloads[id.value];
    if (!workload.queue.is_valid()) { return; }
    --queues.at(workload.queue).workloads;
    workload.queue = {};
}

void World::build_workload(WorkloadId id, const WorkloadSpec& spec) {
    Workload& workload = workloads[id.value];
    const std::uint64_t sequence = workload.order.sequence;
    std::string uid =
        spec.uid.empty() ? std::move(workload.uid) : spec.uid;  // once known, it stays
    workload = Workload{};
    workload.name = spec.name;
    workload.queue_name = spec.queue;
    workload.user = spec.user;
    workload.uid = std::move(uid);
    workload.priority = spec.priority;
    workload.order = {-spec.priority, spec.submitted, sequence};
    workload.linked = spec.linked;
    workload.runtime_estimate_s = spec.runtime_estimate_s;
    workload.is_present = true;
    workload.groups.resize(spec.groups.size());
    for (std::size_t i = 0; i < spec.groups.size(); ++i) {
        const GroupSpec& from = spec.groups[i];
        Group& group = workload.groups[i];
        group.name = from.name;
        group.parent = from.parent;
        group.minimum = from.minimum;
        group.topology = from.topology;
        if (from.parent >= 0) {
            Group& parent = workload.groups[static_cast<std::size_t>(from.parent)];
            parent.children.push_back(static_cast<std::int32_t>(i));
            parent.is_leaf = false;
        }
    }
    for (std::size_t i = 0; i < spec.groups.size(); ++i) {
        const GroupSpec& from = spec.groups[i];
        Group& group = workload.groups[i];
        if (!group.is_leaf) {
            group.count = static_cast<std::int32_t>(group.children.size());
            continue;
        }
        group.count = from.count;
        group.shape = shapes.acquire(from.task, symbols, gpu_models);
        if (rooms_.size() > group.shape.value && shapes.at(group.shape).users == 1 &&
            rooms_[group.shape.value]) {
            rooms_[group.shape.value]->forget();  // the id's last owner asked for something else
        }
        ask_keys(shapes.at(group.shape));
        group.first_task = static_cast<std::uint32_t>(workload.tasks.size());
        group.labels = pack_labels(from.task.labels);
        group.pod_terms = from.task.pod_terms;
        group.name_space = symbols.intern(from.task.name_space);
        workload.tasks.resize(workload.tasks.size() + static_cast<std::size_t>(group.count));
        for (std::int32_t t = 0; t < group.count; ++t) {
            workload.tasks[group.first_task + static_cast<std::uint32_t>(t)].group =
                static_cast<std::uint32_t>(i);
        }
        pods.add_group(group, from.task.pod_terms, *this);
    }
    adopt_queue(id);
}

void World::drop_workload(WorkloadId id) {
    Workload& workload = workloads[id.value];
    for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
        if (!workload.tasks[i].holds()) { continue; }
        const NodeId node = workload.tasks[i].node;
        unhold({id, i}, TaskState::waiting);
        mark_grown(node, workload.queue);
    }
    stop_waiting(id);
    leave_queue(id);
    for (const Group& group : workload.groups) {
        if (!group.is_leaf) { continue; }
        pods.remove_group(group, *this);
        shapes.release(group.shape);
    }
    broken.erase(id);
}

Result<> World::on(const WorkloadGone& fact) {
    const WorkloadId id = find_workload(fact.workload);
    if (!id.is_valid()) {
        return fail(Code::not_found, fmt::format("workload {} is not known", fact.workload));
    }
    for (const Task& task : workloads[id.value].tasks) {
        if (task.state == TaskState::placed) { mix_.leave(); }
    }
    remove(id);
    return {};
}

/// Running members of the same role and shape stay where they are; a new minimum counts for later
/// placements.
void World::update_workload(WorkloadId id, const WorkloadSpec& spec) {
    const std::vector<Group> groups = workloads[id.value].groups;
    const std::vector<Task> tasks = workloads[id.value].tasks;
    std::map<std::uint32_t, Devices> old_claims;  // by task
    for (auto at = claims.lower_bound({id, 0}); at != claims.end() && at->first.workload == id;
         ++at) {
        old_claims.emplace(at->first.task, at->second);
    }
    const bool was_running = workloads[id.value].is_running;
    for (const Group& group : groups) {  // the ids must mean the same until compared
        if (group.is_leaf) { shapes.share(group.shape); }
    }
    drop_workload(id);
    build_workload(id, spec);
    Workload& workload = workloads[id.value];
    std::vector<bool> is_taken(workload.groups.size(), false);
    for (const Group& old : groups) {
        // Names need not be unique: the first of the name that no other has become.
        const auto group = std::find_if(
            workload.groups.begin(), workload.groups.end(), [&](const Group& candidate) {
                return !is_taken[static_cast<std::size_t>(&candidate - workload.groups.data())] &&
                       candidate.name == old.name && candidate.is_leaf == old.is_leaf &&
                       (!old.is_leaf || candidate.shape == old.shape);
            });
        if (group == workload.groups.end()) { continue; }
        is_taken[static_cast<std::size_t>(group - workload.groups.begin())] = true;
        group->held_minimum = std::min({old.held_minimum, group->count, group->minimum});
        const auto both = static_cast<std::uint32_t>(std::min(old.count, group->count));
        for (std::uint32_t i = 0; old.is_leaf && i < both; ++i) {
            const Task& task = tasks[old.first_task + i];
            const TaskRef ref{id, group->first_task + i};
            if (task.state == TaskState::finished) {
                workload.tasks[ref.task].state = TaskState::finished;
                ++group->finished;
            } else if (task.holds()) {
                hold(ref, task.node, task.devices);
                workload.tasks[ref.task].is_confirmed = task.is_confirmed;
                workload.tasks[ref.task].is_conflict = task.is_conflict;
                if (const auto claim = old_claims.find(old.first_task + i);
                    claim != old_claims.end()) {
                    claims.emplace(ref, claim->second);
                }
                if (task.state == TaskState::leaving) { leave(ref); }
            }
        }
    }
    for (const Group& group : groups) {
        if (group.is_leaf) { shapes.release(group.shape); }
    }
    start_waiting(id);
    const bool holds_any =
        std::any_of(workload.groups.begin(), workload.groups.end(),
                    [](const Group& group) { return group.placed + group.finished > 0; });
    if (was_running && holds_any) {
        stop_waiting(id);
        workload.is_running = true;
        broken.insert(id);
        if (wants_more(workload)) { growing.insert(id); }
    }
    waits.wake_all(*this, Wake::linked_arrives);
}

Result<> World::on(const TaskGone& fact) {
    const WorkloadId id = find_workload(fact.workload);
    if (!id.is_valid()) {
        return fail(Code::not_found, fmt::format("workload {} is not known", fact.workload));
    }
    Workload& workload = workloads[id.value];
    if (fact.task == rest_of_gang) {
        if (give_up_rest(workload)) { broken.insert(id); }
        return {};
    }
    if (fact.task >= workload.tasks.size()) {
        return fail(Code::not_found, fmt::format("workload {} has no task {}; it has {}",
                                                 fact.workload, fact.task, workload.tasks.size()));
    }
    Task& task = workload.tasks[fact.task];
    if (task.state == TaskState::waiting &&
        fact.is_finished) {  // it ran unknown to us, and is done
        task.state = TaskState::finished;
        ++workload.groups[task.group].finished;
        mix_.leave();
        make_ready(id);
        return {};
    }
    if (!task.holds()) {
        return fail(Code::conflict,
                    fmt::format("task {} of {} holds nothing", fact.task, fact.workload));
    }
    const NodeId node = task.node;
    const bool was_leaving = task.state == TaskState::leaving;
    unhold({id, fact.task}, fact.is_finished ? TaskState::finished : TaskState::waiting);
    mark_grown(node, workload.queue);
    if (was_leaving && workload.leaving == 0) { make_ready(id); }
    if (fact.is_finished) {
        mix_.leave();
    } else if (!was_leaving) {
        broken.insert(id);
        task.node = node;  // until the cycle's end, for who mends it
    }
    return {};
}

Result<> World::on(const TaskBound& fact) {
    const WorkloadId id = find_workload(fact.workload);
    if (!id.is_valid()) {
        return fail(Code::not_found, fmt::format("workload {} is not known", fact.workload));
    }
    Workload& workload = workloads[id.value];
    if (fact.task >= workload.tasks.size()) {
        return fail(Code::not_found, fmt::format("workload {} has no task {}; it has {}",
                                                 fact.workload, fact.task, workload.tasks.size()));
    }
    Task& task = workload.tasks[fact.task];
    if (task.state == TaskState::placed && machines[task.node.value].spec.name == fact.node) {
        const auto claim = task.is_conflict ? claims.find({id, fact.task}) : claims.end();
        const Devices& given = claim == claims.end() ? task.devices : claim->second;
        if (!fact.has_devices || given == fact.devices) {
            task.is_confirmed = true;
            return {};
        }
    }
    const NodeId node = find_node(fact.node);
    if (!node.is_valid()) {
        return fail(Code::not_found, fmt::format("node {} is not known", fact.node));
    }
    // The order that put it there came late: it was released since, and goes.
    if (task.state == TaskState::leaving && task.node == node) { return {}; }
    const Group& group = workload.groups[task.group];
    const Shape& shape = shapes.at(group.shape);
    const Machine& machine = machines[node.value];
    if (task.holds()) {
        const NodeId before = task.node;
        unhold({id, fact.task}, TaskState::waiting);
        mark_grown(before, workload.queue);
    }
    if (task.state == TaskState::finished) {
        return fail(Code::conflict,
                    fmt::format("task {} of {} has finished", fact.task, fact.workload));
    }
    // What runs, runs: a bind that breaks a law is kept with what is free, as a conflict.
    std::optional<Devices> chosen;
    Devices rest;
    if (!fact.has_devices) {
        chosen = choose_devices(shape, machine, node, space, devices, values);
    } else if (are_free(shape, machine, fact.devices, space)) {
        chosen = fact.devices;
    } else if (has_count(shape, fact.devices)) {
        rest = free_part(shape, machine, fact.devices, space);
        claims.emplace(TaskRef{id, fact.task}, fact.devices);
    }
    hold({id, fact.task}, node, chosen ? std::move(*chosen) : std::move(rest));
    workload.tasks[fact.task].is_confirmed = true;
    workload.tasks[fact.task].is_conflict = !chosen.has_value();
    for (auto up = static_cast<std::int32_t>(task.group); up >= 0;) {
        Group& changed = workload.groups[static_cast<std::size_t>(up)];
        changed.held_minimum = std::max(changed.held_minimum, changed.minimum);
        up = changed.parent;
    }
    if (!workload.is_running) {
        stop_waiting(id);
        workload.is_running = true;
        for (const std::string& name : workload.linked) {  // what they wait for is there now
            if (const WorkloadId peer = find_workload(name);
                peer.is_valid() && workloads[peer.value].is_waiting()) {
                make_ready(peer);
            }
        }
    }
    waits.wake_all(*this, Wake::pods_change);
    broken.insert(id);
    return {};
}

}  // namespace muster
