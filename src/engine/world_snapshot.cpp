// A World as plain data and back, and recorded plans taken as they are.
#include "base/assert.h"
#include "engine/fit.h"
#include "engine/match.h"
#include "engine/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster {

namespace {

WorkloadSpec spec_of(const World& world, const Workload& workload) {
    WorkloadSpec spec{.name = workload.name,
                      .queue = workload.queue_name,
                      .user = workload.user,
                      .uid = workload.uid,
                      .priority = workload.priority,
                      .submitted = workload.order.submitted,
                      .groups = {},
                      .linked = workload.linked,
                      .runtime_estimate_s = workload.runtime_estimate_s};
    for (const Group& group : workload.groups) {
        GroupSpec out{.name = group.name,
                      .parent = group.parent,
                      .minimum = group.minimum,
                      .task = {},
                      .topology = group.topology};
        if (group.is_leaf) {
            out.count = group.count;
            out.task = world.shapes.at(group.shape).spec;
            out.task.labels = unpack_labels(group.labels);
            out.task.pod_terms = group.pod_terms;
            out.task.name_space = world.symbols.text(group.name_space);
        }
        spec.groups.push_back(std::move(out));
    }
    return spec;
}

WorkloadStatus status_of(const World& world, WorkloadId id) {
    const Workload& workload = world.workloads[id.value];
    WorkloadStatus out{.spec = spec_of(world, workload), .is_running = workload.is_running};
    for (const Group& group : workload.groups) { out.held_minimums.push_back(group.held_minimum); }
    for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
        const Task& task = workload.tasks[i];
        TaskStatus status{.state = task.state,
                          .is_confirmed = task.is_confirmed,
                          .is_conflict = task.is_conflict};
        if (task.holds()) {
            status.node = world.machines[task.node.value].spec.name;
            status.devices = task.devices;
            const auto claim = world.claims.find({id, i});
            if (claim != world.claims.end()) { status.claim = claim->second; }
        }
        out.tasks.push_back(std::move(status));
    }
    out.has_reason = workload.reason != nullptr;
    if (workload.reason) { out.reason = *workload.reason; }
    return out;
}

void add_queue(const World& world, QueueId id, std::vector<bool>& is_there, Snapshot& out) {
    const Queue& queue = world.queues.at(id);
    if (!queue.is_present || is_there[id.value]) { return; }
    is_there[id.value] = true;
    if (queue.parent.is_valid()) { add_queue(world, queue.parent, is_there, out); }
    out.queues.push_back(queue.spec);
}

}  // namespace

Snapshot World::snapshot() const {
    Snapshot out{.now = now, .cycle = cycle, .gpu_models = gpu_models, .levels = topology.levels()};
    for (const Machine& machine : machines) {
        if (machine.is_present) { out.nodes.push_back(machine.spec); }
    }
    std::vector<bool> is_there(queues.size(), false);
    for (std::size_t i = 0; i < queues.size(); ++i) { add_queue(*this, QueueId(i), is_there, out); }
    for (const auto& [name, lease] : leases) { out.leases.push_back(lease.spec); }
    std::vector<WorkloadId> present;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        if (workloads[i].is_present && !workloads[i].is_lease) { present.emplace_back(i); }
    }
    std::sort(present.begin(), present.end(), [&](WorkloadId a, WorkloadId b) {
        return workloads[a.value].order.sequence < workloads[b.value].order.sequence;
    });
    for (const WorkloadId id : present) { out.workloads.push_back(status_of(*this, id)); }
    out.mix = mix_.status(gpu_models);
    out.policy = policy;
    return out;
}

Result<> World::restore(const Snapshot& from) {
    MUSTER_ASSERT(machines.empty() && workloads.empty());
    gpu_models = from.gpu_models;
    now = from.now;
    cycle = from.cycle;
    if (!from.levels.empty()) { MUSTER_CHECK(on(TopologySet{from.levels})); }
    for (const NodeSpec& node : from.nodes) { MUSTER_CHECK(on(NodeSet{node})); }
    for (const QueueSpec& queue : from.queues) { MUSTER_CHECK(on(QueueSet{queue})); }
    refresh();
    for (const WorkloadStatus& status : from.workloads) { MUSTER_CHECK(restore(status)); }
    for (const LeaseSpec& lease : from.leases) { MUSTER_CHECK(hold_lease(lease)); }
    mix_.restore(from.mix, gpu_models);
    return {};
}

Result<> World::restore(const WorkloadStatus& status) {
    if (find_workload(status.spec.name).is_valid()) {
        return fail(Code::corrupt, fmt::format("workload {} is there twice", status.spec.name));
    }
    MUSTER_TRY(id, add(status.spec));
    Workload& workload = workloads[id.value];
    if (status.tasks.size() != workload.tasks.size() ||
        status.held_minimums.size() != workload.groups.size()) {
        return fail(Code::corrupt,
                    fmt::format("workload {}: {} tasks and {} groups, expected {} and {}",
                                workload.name, status.tasks.size(), status.held_minimums.size(),
                                workload.tasks.size(), workload.groups.size()));
    }
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        workload.groups[i].held_minimum = status.held_minimums[i];
    }
    for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
        const TaskStatus& task = status.tasks[i];
        if (task.state == TaskState::finished) {
            workload.tasks[i].state = TaskState::finished;
            ++workload.groups[workload.tasks[i].group].finished;
        }
        if (task.state != TaskState::placed && task.state != TaskState::leaving) { continue; }
        const NodeId node = find_node(task.node);
        if (!node.is_valid()) {
            return fail(Code::corrupt,
                        fmt::format("workload {}: task {} is on node {}, which is not there",
                                    workload.name, i, task.node));
        }
        hold({id, i}, node, task.devices);
        workload.tasks[i].is_confirmed = task.is_confirmed;
        workload.tasks[i].is_conflict = task.is_conflict;
        if (task.is_conflict && !(task.claim == Devices{})) { claims[{id, i}] = task.claim; }
        if (task.state == TaskState::leaving) { leave({id, i}); }
    }
    if (status.is_running) {
        workload.is_running = true;
        stop_waiting(id);
        if (wants_more(workload)) { growing.insert(id); }
    } else {
        start_waiting(id);
        if (status.has_reason) { workload.reason = std::make_unique<Reason>(status.reason); }
    }
    return {};
}

/// What a cycle does, by its record: nothing is decided.
Result<> World::fold(const Plan& plan) {
    const auto bad = [&](std::string what) {
        return fail(Code::corrupt, fmt::format("plan {}: {}", plan.cycle, std::move(what)));
    };
    if (plan.cycle != cycle + 1) {
        return bad(fmt::format("it follows cycle {}, expected {}", cycle, plan.cycle - 1));
    }
    refresh();
    refresh_values();
    adopt_queues();
    cycle = plan.cycle;
    for (const Release& release : plan.releases) {
        const WorkloadId id = find_workload(release.workload);
        if (!id.is_valid() || !workloads[id.value].is_running) {
            return bad(fmt::format("releases {}, which does not run", release.workload));
        }
        for (const TaskPlace& place : release.tasks) {
            if (!can_leave(id, place)) {
                return bad(fmt::format("releases {}/{} from {}, where it is not placed",
                                       release.workload, place.task, place.node));
            }
            leave({id, place.task});
        }
        for (Group& group : workloads[id.value].groups) { group.held_minimum = 0; }
        for (Task& task : workloads[id.value].tasks) {
            if (task.state == TaskState::finished) { task.is_conflict = false; }
        }
        start_waiting(id);
    }
    for (const Placement& placement : plan.placements) {
        const WorkloadId id = find_workload(placement.workload);
        if (!id.is_valid()) {
            return bad(fmt::format("places {}, which is not known", placement.workload));
        }
        for (const TaskPlace& place : placement.tasks) {
            if (!can_hold(id, place)) {
                return bad(fmt::format("places {}/{} on {}, which can't be", placement.workload,
                                       place.task, place.node));
            }
            hold({id, place.task}, find_node(place.node), place.devices);
        }
        settle(workloads[id.value]);
        workloads[id.value].is_running = true;
        stop_waiting(id);
    }
    for (const Refusal& refusal : plan.refusals) {
        const WorkloadId id = find_workload(refusal.workload);
        if (!id.is_valid() || !workloads[id.value].is_waiting()) {
            return bad(fmt::format("refuses {}, which does not wait", refusal.workload));
        }
        workloads[id.value].reason = std::make_unique<Reason>(refusal.reason);
    }
    for (const WorkloadId id : std::exchange(broken, {})) {
        // Mended without a task more: it still runs, so it was found whole as it is.
        Workload& workload = workloads[id.value];
        if (workload.is_running && !is_whole(workload, Floor::held)) { settle(workload); }
        for (Task& task : workload.tasks) {
            if (!task.holds()) { task.node = {}; }
        }
    }
    return {};
}

bool World::can_leave(WorkloadId id, const TaskPlace& place) const {
    const std::vector<Task>& tasks = workloads[id.value].tasks;
    return place.task < tasks.size() && tasks[place.task].state == TaskState::placed &&
           machines[tasks[place.task].node.value].spec.name == place.node;
}

bool World::can_hold(WorkloadId id, const TaskPlace& place) const {
    const Workload& workload = workloads[id.value];
    const NodeId node = find_node(place.node);
    if (place.task >= workload.tasks.size() || !node.is_valid()) { return false; }
    const Task& task = workload.tasks[place.task];
    return task.state == TaskState::waiting &&
           are_free(shapes.at(workload.groups[task.group].shape), machines[node.value],
                    place.devices, space);
}

}  // namespace muster
