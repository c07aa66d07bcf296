#include "sim/loop_reader.h"

#include "control/difference.h"
#include "control/recover.h"
#include "engine/world.h"
#include "sim/laws.h"

#include <fmt/format.h>

namespace muster::sim {

void LoopReader::restore(const Policy& policy) {
    const Snapshot known = engine_.snapshot();
    auto engine = Engine::restore(known, policy);
    if (!engine) { return say("law 8: not to be restored: " + engine.error().message); }
    engine_ = std::move(*engine);
    Snapshot again = engine_.snapshot();
    again.policy = known.policy;
    if (!(known == again)) {
        say("law 8: restored, it is another one: " + difference_of(known, again));
    }
}

void LoopReader::read(const Record& record) {
    if (const auto* opened = std::get_if<Opened>(&record)) { return restore(opened->policy); }
    if (const auto* cycle = std::get_if<Cycle>(&record)) { return read(*cycle); }
    const auto& snapshot = std::get<Snapshot>(record);
    if (const Snapshot ours = engine_.snapshot(); !(ours == snapshot)) {
        say("law 8: a snapshot says what was not folded: " + difference_of(ours, snapshot));
    }
    restore(snapshot.policy);
}

void LoopReader::read(const Cycle& cycle) {
    ++cycles_;
    if (auto done = hear(engine_, cycle); !done) { say("law 8: " + done.error().message); }
    for (const Fact& fact : cycle.facts) {
        if (const auto* set = std::get_if<WorkloadSet>(&fact)) { renumber(set->workload.name); }
    }
    const CycleWatch watch(engine_.world());
    if (auto done = engine_.fold(cycle.plan); !done) {
        return say("law 8: a plan can't be folded: " + done.error().message);
    }
    if (checks_plans_) {
        for (std::string& law : watch.broken_laws(engine_.world(), cycle.plan)) {
            say(std::move(law));
        }
    }
    for (const Release& release : cycle.plan.releases) {
        for (const TaskPlace& task : release.tasks) {
            released_.insert({release.workload, task.task});
        }
    }
    for (const Placement& placement : cycle.plan.placements) {
        for (const TaskPlace& task : placement.tasks) {
            placed_.insert({{placement.workload, task.task}, task.node});
        }
    }
}

/// Tasks of a workload that is described again may have other numbers; what was ordered is the
/// same.
void LoopReader::renumber(const std::string& name) {
    const World& world = engine_.world();
    const WorkloadId id = world.find_workload(name);
    if (!id.is_valid()) { return; }
    const std::vector<Task>& tasks = world.workloads[id.value].tasks;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
        if (!tasks[i].holds()) { continue; }
        placed_.insert({{name, i}, world.machines[tasks[i].node.value].spec.name});
        if (tasks[i].state == TaskState::leaving) { released_.insert({name, i}); }
    }
}

void LoopReader::check_order(const TaskOrder& order) {
    const PodName name{order.workload, order.task};
    const bool is_known = order.kind == OrderKind::evict ? released_.contains(name)
                                                         : placed_.contains({name, order.node});
    if (!is_known) {
        say(fmt::format("law 8: {} of {}/{} on {} is ordered and not on record",
                        order.kind == OrderKind::evict ? "eviction" : "bind", order.workload,
                        order.task, order.node));
    }
}

void LoopReader::compare(const Engine& live, std::string_view when) {
    const Snapshot known = live.snapshot();
    const Snapshot ours = engine_.snapshot();
    if (known == ours) { return; }
    say(fmt::format("law 8: {}, the live engine is not what is on record: {}", when,
                    difference_of(known, ours)));
}

}  // namespace muster::sim
