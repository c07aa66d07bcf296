#include "control/decider.h"

#include "base/assert.h"
#include "engine/world.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {

namespace {

TaskOrder order_of(OrderKind kind, TaskRef ref, const World& world) {
    const Workload& workload = world.workloads[ref.workload.value];
    const Task& task = workload.tasks[ref.task];
    return {.kind = kind,
            .workload = workload.name,
            .task = ref.task,
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

/// What is to be done about a task, if anything is.
Decider::Open Decider::open_now(TaskRef ref) const {
    const Task* task = find_task(ref);
    if (task == nullptr) { return {}; }
    if (task->state == TaskState::leaving) { return {OrderKind::evict, task->node, task->devices}; }
    if (task->state == TaskState::placed && !task->is_confirmed) {
        return {OrderKind::bind, task->node, task->devices};
    }
    return {};
}

bool Decider::is_open(TaskRef ref) const {
    if (ref.workload.value >= open_.size()) { return false; }  // so is no workload
    const std::vector<Open>& tasks = open_[ref.workload.value].tasks;
    return ref.task < tasks.size() && tasks[ref.task].node.is_valid();
}

void Decider::keep(TaskRef ref, Open open) {
    if (ref.workload.value >= open_.size()) { open_.resize(ref.workload.value + 1); }
    OpenTasks& of = open_[ref.workload.value];
    if (ref.task >= of.tasks.size()) {
        of.tasks.resize(engine_.world().workloads[ref.workload.value].tasks.size());
    }
    of.tasks[ref.task] = std::move(open);
    ++of.count;
}

void Decider::keep_open_orders() {
    open_.clear();
    const World& world = engine_.world();
    for (std::size_t id = 0; id < world.workloads.size(); ++id) {
        for (std::uint32_t i = 0; i < world.workloads[id].tasks.size(); ++i) {
            const TaskRef ref{WorkloadId(id), i};
            if (Open open = open_now(ref); open.node.is_valid()) { keep(ref, std::move(open)); }
        }
    }
}

std::vector<TaskOrder> Decider::open_orders() const {
    std::vector<TaskOrder> out;
    for (std::size_t id = 0; id < open_.size(); ++id) {
        for (std::uint32_t i = 0; i < open_[id].tasks.size(); ++i) {
            const TaskRef ref{WorkloadId(id), i};
            if (is_open(ref)) {
                out.push_back(order_of(open_[id].tasks[i].kind, ref, engine_.world()));
            }
        }
    }
    return out;
}

Decision Decider::decide(std::vector<Fact> facts, bool with_snapshot) {
    Decision decision;
    decision.cycle.facts = std::move(facts);
    updated_.clear();
    touched_.clear();
    // What facts free may go to whom it belonged before.
    for (const auto& [ref, claim] : engine_.world().claims) { touched_.push_back(ref); }
    for (std::uint32_t i = 0; i < decision.cycle.facts.size(); ++i) {
        hear(decision.cycle.facts[i], i, decision);
    }
    decision.cycle.plan = engine_.cycle();
    const auto touch_all = [&](const auto& changes) {
        for (const auto& change : changes) {
            const WorkloadId id = engine_.world().find_workload(change.workload);
            for (const TaskPlace& place : change.tasks) { touched_.push_back({id, place.task}); }
        }
    };
    touch_all(decision.cycle.plan.releases);
    touch_all(decision.cycle.plan.placements);
    change_orders(decision);
    if (with_snapshot) { take_snapshot(decision); }
    return decision;
}

/// A boundary: who goes on from the record and who goes on here decide the same.
void Decider::take_snapshot(Decision& decision) {
    decision.snapshot = engine_.snapshot();
    go_on_from(*decision.snapshot);
}

void Decider::change_policy(Policy policy) {
    policy_ = std::move(policy);
    go_on_from(engine_.snapshot());
}

void Decider::go_on_from(const Snapshot& snapshot) {
    auto restored = Engine::restore(snapshot, policy_);
    MUSTER_ASSERT(restored.has_value());
    engine_ = std::move(*restored);
    keep_open_orders();  // nodes have other ids now
}

/// Before the fact is applied: whose orders it may change.
void Decider::touch(const Fact& fact, Decision& decision) {
    const World& world = engine_.world();
    if (const auto* bound = std::get_if<TaskBound>(&fact)) {
        touched_.push_back(ref_of(bound->workload, bound->task));
    } else if (const auto* ended = std::get_if<TaskGone>(&fact)) {
        touched_.push_back(ref_of(ended->workload, ended->task));
    } else if (const auto* node = std::get_if<NodeSet>(&fact)) {
        touch_node(node->node.name);
    } else if (const auto* lost = std::get_if<NodeGone>(&fact)) {
        touch_node(lost->node);
    }
    const auto* set = std::get_if<WorkloadSet>(&fact);
    const auto* removed = std::get_if<WorkloadGone>(&fact);
    if (set == nullptr && removed == nullptr) { return; }
    const std::string& name = set != nullptr ? set->workload.name : removed->workload;
    const WorkloadId id = world.find_workload(name);
    if (!id.is_valid()) { return; }
    if (set != nullptr) { updated_.push_back(name); }
    const bool stays =
        set != nullptr && !is_another(world.workloads[id.value].uid, set->workload.uid);
    for (std::uint32_t i = 0; id.value < open_.size() && i < open_[id.value].tasks.size(); ++i) {
        if (!is_open({id, i})) { continue; }
        if (stays) {
            touched_.push_back({id, i});  // it may have another number behind it
        } else {
            decision.closed.emplace_back(name, i);
        }
    }
    if (!stays && id.value < open_.size()) { open_[id.value] = {}; }
}

void Decider::touch_node(std::string_view name) {
    const World& world = engine_.world();
    const NodeId id = world.find_node(name);
    if (!id.is_valid()) { return; }
    const std::vector<TaskRef>& tasks = world.machines[id.value].tasks;
    touched_.insert(touched_.end(), tasks.begin(), tasks.end());
}

/// A fact that breaks a law or makes no sense is put on record with the rule that resolves it.
void Decider::hear(const Fact& fact, std::uint32_t index, Decision& decision) {
    const auto conflict = [&](ConflictRule rule, std::string text) {
        decision.cycle.conflicts.push_back({.fact = index, .rule = rule, .text = std::move(text)});
    };
    const World& world = engine_.world();
    const auto* node = std::get_if<NodeSet>(&fact);
    const auto* bound = std::get_if<TaskBound>(&fact);
    const auto* queue = std::get_if<QueueSet>(&fact);
    const std::int64_t before = node != nullptr ? conflicts_on(world, node->node.name) : 0;
    touch(fact, decision);
    const Task* task = bound == nullptr ? nullptr : find_task(touched_.back());
    const bool was_there = task != nullptr && task->state == TaskState::placed &&
                           world.machines[task->node.value].spec.name == bound->node;
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
        const Workload& workload = world.workloads[touched_.back().workload.value];
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

TaskRef Decider::ref_of(std::string_view workload, std::uint32_t task) const {
    return {engine_.world().find_workload(workload), task};
}

const Task* Decider::find_task(TaskRef ref) const {
    if (!ref.workload.is_valid()) { return nullptr; }
    const Workload& workload = engine_.world().workloads[ref.workload.value];
    return !workload.is_lease && ref.task < workload.tasks.size() ? &workload.tasks[ref.task]
                                                                  : nullptr;
}

/// Closes the orders that facts settled, and those that a fact or the plan turned into others, and
/// opens the others; also of tasks that have another number since their workload was described
/// again.
void Decider::change_orders(Decision& decision) {
    const World& world = engine_.world();
    for (const std::string& name : updated_) {
        const WorkloadId id = world.find_workload(name);
        if (!id.is_valid()) { continue; }
        const auto count = static_cast<std::uint32_t>(world.workloads[id.value].tasks.size());
        for (std::uint32_t i = 0; i < count; ++i) { touched_.push_back({id, i}); }
    }
    decision.opened.reserve(touched_.size());
    decision.closed.reserve(decision.closed.size() + touched_.size());
    for (const TaskRef ref : touched_) {
        Open now = open_now(ref);
        if (is_open(ref)) {
            OpenTasks& of = open_[ref.workload.value];
            if (now == of.tasks[ref.task]) { continue; }
            decision.closed.emplace_back(world.workloads[ref.workload.value].name, ref.task);
            of.tasks[ref.task] = {};
            if (--of.count == 0) { of.tasks.clear(); }
        }
        if (!now.node.is_valid()) { continue; }
        decision.opened.push_back(order_of(now.kind, ref, world));
        keep(ref, std::move(now));
    }
}

}  // namespace muster
