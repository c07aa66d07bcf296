#include "control/decider.h"

#include "base/assert.h"
#include "engine/world.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {

namespace {

TaskOrder order_of(OrderKind kind, const TaskName& name, const World& world, const Task& task) {
    return {.kind = kind,
            .workload = name.first,
            .task = name.second,
            .node = world.machines[task.node.value].spec.name,
            .devices = task.devices,
            .cycle = world.cycle};
}

/// Tasks of the node that hold less than they should.
std::int64_t conflicts_on(const World& world, const std::string& node) {
    const NodeId id = world.find_node(node);
    if (!id.is_valid()) { return 0; }
    const auto& tasks = world.machines[id.value].tasks;
    return std::count_if(tasks.begin(), tasks.end(), [&](const TaskRef& ref) {
        return world.workloads[ref.workload.value].tasks[ref.task].is_conflict;
    });
}

}  // namespace

Decider::Decider(Engine engine, Policy policy)
    : engine_(std::move(engine)),
      policy_(std::move(policy)) {
    keep_open_orders();
}

void Decider::keep_open_orders() {
    open_.clear();
    for (TaskOrder& order : open_orders()) {
        open_.emplace(TaskName(std::move(order.workload), order.task),
                      Open{.kind = order.kind,
                           .node = engine_.world().find_node(order.node),
                           .devices = std::move(order.devices)});
    }
}

/// What is to be done about a task, if anything is.
std::optional<Decider::Open> Decider::open_now(const Task& task) {
    if (task.state == TaskState::leaving) {
        return Open{OrderKind::evict, task.node, task.devices};
    }
    if (task.state == TaskState::placed && !task.is_confirmed) {
        return Open{OrderKind::bind, task.node, task.devices};
    }
    return std::nullopt;
}

std::vector<TaskOrder> Decider::open_orders() const {
    const World& world = engine_.world();
    std::vector<TaskOrder> out;
    for (const Workload& workload : world.workloads) {
        if (!workload.is_present || workload.is_lease) { continue; }
        for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
            if (const auto open = open_now(workload.tasks[i])) {
                out.push_back(order_of(open->kind, {workload.name, i}, world, workload.tasks[i]));
            }
        }
    }
    return out;
}

Decision Decider::decide(std::vector<Fact> facts, bool with_snapshot) {
    Decision decision;
    Cycle& cycle = decision.cycle;
    cycle.facts = std::move(facts);
    updated_.clear();
    for (std::uint32_t i = 0; i < cycle.facts.size(); ++i) { hear(cycle.facts[i], i, cycle); }
    cycle.plan = engine_.cycle();
    close_orders(decision);
    for (const Release& release : cycle.plan.releases) {
        for (const TaskPlace& place : release.tasks) {
            open({release.workload, place.task}, decision);
        }
    }
    for (const Placement& placement : cycle.plan.placements) {
        for (const TaskPlace& place : placement.tasks) {
            open({placement.workload, place.task}, decision);
        }
    }
    open_changed(decision);
    if (with_snapshot) { take_snapshot(decision); }
    return decision;
}

/// A boundary: who goes on from the record and who goes on here decide the same.
void Decider::take_snapshot(Decision& decision) {
    decision.snapshot = engine_.snapshot();
    auto restored = Engine::restore(*decision.snapshot, policy_);
    MUSTER_ASSERT(restored.has_value());
    engine_ = std::move(*restored);
    keep_open_orders();  // nodes have other ids now
}

/// A fact that breaks a law or makes no sense is put on record with the rule that resolves it.
void Decider::hear(const Fact& fact, std::uint32_t index, Cycle& cycle) {
    const auto conflict = [&](ConflictRule rule, std::string text) {
        cycle.conflicts.push_back({.fact = index, .rule = rule, .text = std::move(text)});
    };
    const World& world = engine_.world();
    const auto* node = std::get_if<NodeSet>(&fact);
    const auto* bound = std::get_if<TaskBound>(&fact);
    const auto* queue = std::get_if<QueueSet>(&fact);
    const std::int64_t before = node != nullptr ? conflicts_on(world, node->node.name) : 0;
    if (const auto* set = std::get_if<WorkloadSet>(&fact);
        set != nullptr && world.find_workload(set->workload.name).is_valid()) {
        updated_.push_back(set->workload.name);  // its tasks may have other numbers behind it
    }
    const Task* task = bound == nullptr ? nullptr : find_task(bound->workload, bound->task);
    const bool was_there = task != nullptr && task->state == TaskState::placed &&
                           task->node == world.find_node(bound->node);
    if (auto applied = engine_.apply(fact); !applied) {
        return conflict(ConflictRule::fact_refused, std::move(applied.error().message));
    }
    QueueId charged;
    if (node != nullptr) {
        const std::int64_t more = conflicts_on(world, node->node.name) - before;
        if (more > 0) {
            conflict(
                ConflictRule::cluster_is_right,
                fmt::format("node {} has less than {} tasks on it hold", node->node.name, more));
        }
    } else if (bound != nullptr) {
        const Workload& workload = world.workloads[world.find_workload(bound->workload).value];
        if (workload.tasks[bound->task].is_conflict) {
            conflict(ConflictRule::cluster_is_right,
                     fmt::format("{}/{} runs on {}, where its devices are not free",
                                 bound->workload, bound->task, bound->node));
        }
        if (!was_there) { charged = workload.queue; }
    } else if (queue != nullptr) {
        charged = world.queues.find(queue->queue.name);
    }
    if (const QueueId over = world.queues.over_cap(charged); over.is_valid()) {
        conflict(ConflictRule::over_cap_waits,
                 fmt::format("queue {} uses more than its cap", world.queues.at(over).spec.name));
    }
}

const Task* Decider::find_task(std::string_view workload, std::uint32_t task) const {
    const World& world = engine_.world();
    const WorkloadId id = world.find_workload(workload);
    if (!id.is_valid()) { return nullptr; }
    const std::vector<Task>& tasks = world.workloads[id.value].tasks;
    return task < tasks.size() ? &tasks[task] : nullptr;
}

/// Those that facts settled, and those that a fact or the plan turned into others.
void Decider::close_orders(Decision& decision) {
    for (auto at = open_.begin(); at != open_.end();) {
        const Task* task = find_task(at->first.first, at->first.second);
        if (task != nullptr && open_now(*task) == at->second) {
            ++at;
            continue;
        }
        decision.closed.push_back(at->first);
        at = open_.erase(at);
    }
}

/// Orders that facts changed and the plan says nothing of: on a node that has other devices now,
/// and of tasks that have another number since their workload was described again.
void Decider::open_changed(Decision& decision) {
    std::vector<TaskName> changed = decision.closed;
    const World& world = engine_.world();
    for (const std::string& name : updated_) {
        const WorkloadId id = world.find_workload(name);
        if (!id.is_valid()) { continue; }
        const auto count = static_cast<std::uint32_t>(world.workloads[id.value].tasks.size());
        for (std::uint32_t i = 0; i < count; ++i) { changed.emplace_back(name, i); }
    }
    for (TaskName& name : changed) {
        if (!open_.contains(name)) { open(std::move(name), decision); }
    }
}

void Decider::open(TaskName name, Decision& decision) {
    const Task* task = find_task(name.first, name.second);
    auto open = task == nullptr ? std::nullopt : open_now(*task);
    if (!open) { return; }
    decision.opened.push_back(order_of(open->kind, name, engine_.world(), *task));
    open_.insert_or_assign(std::move(name), std::move(*open));
}

}  // namespace muster
