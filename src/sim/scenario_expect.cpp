#include "sim/scenario_expect.h"

#include "codec/plan_names.h"
#include "sim/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace muster::sim {

namespace {

const Workload* find(const Seen& seen, const std::string& name) {
    const WorkloadId id = seen.world.find_workload(name);
    return id.is_valid() ? &seen.world.workloads[id.value] : nullptr;
}

std::int64_t placed_tasks(const Workload& workload) {
    return std::ranges::count(workload.tasks, TaskState::placed, &Task::state);
}

std::string node_name(const Seen& seen, const Task& task) {
    return seen.world.machines[task.node.value].spec.name;
}

std::vector<std::string> nodes_of(const Seen& seen, const Workload& workload) {
    std::set<std::string> nodes;
    for (const Task& task : workload.tasks) {
        if (task.state == TaskState::placed) { nodes.insert(node_name(seen, task)); }
    }
    return {nodes.begin(), nodes.end()};
}

/// "a runs: 2 tasks on n1,n2", "a waits \"…\" why=no_room …", "a is gone"
std::string describe(const Seen& seen, const std::string& name) {
    const Workload* workload = find(seen, name);
    if (workload == nullptr) { return fmt::format("{} is gone", name); }
    if (!workload->is_waiting()) {
        const auto last = seen.last.find(name);
        const std::string domain = last == seen.last.end() || last->second.domain.empty()
                                       ? ""
                                       : fmt::format(" in \"{}\"", last->second.domain);
        return fmt::format("{} runs tasks={}{} on {}", name, placed_tasks(*workload), domain,
                           fmt::join(nodes_of(seen, *workload), ","));
    }
    if (!workload->reason) { return fmt::format("{} waits and was not looked at", name); }
    const Reason& reason = *workload->reason;
    std::string out = fmt::format("{} waits \"{}\" why={} link={} needed={} have={} closest=\"{}\"",
                                  name, reason.text, name_of(reason.why), name_of(reason.link),
                                  reason.needed, reason.have, reason.closest);
    for (const CauseCount& cause : reason.causes) {
        out += fmt::format(" cause.{}={}", name_of(cause.cause), cause.nodes);
    }
    if (placed_tasks(*workload) > 0) {
        out += fmt::format(", {} tasks placed", placed_tasks(*workload));
    }
    return out;
}

bool is_as_expected(const ExpectWaits& expected, const Reason& reason) {
    const auto is = [](const auto& wanted, const auto& found) {
        return !wanted || *wanted == found;
    };
    const bool has_causes = std::ranges::all_of(expected.causes, [&](const CauseCount& wanted) {
        const auto found = std::ranges::find(reason.causes, wanted.cause, &CauseCount::cause);
        return (found == reason.causes.end() ? 0 : found->nodes) == wanted.nodes;
    });
    return has_causes && is(expected.text, reason.text) && is(expected.why, reason.why) &&
           is(expected.link, reason.link) && is(expected.have, reason.have) &&
           is(expected.needed, reason.needed) && is(expected.closest, reason.closest) &&
           (!expected.part || reason.text.find(*expected.part) != std::string::npos);
}

bool is_as_expected(const ExpectRuns& expected, const Seen& seen, const std::string& name) {
    const Workload* workload = find(seen, name);
    if (workload == nullptr || workload->is_waiting()) { return false; }
    const auto last = seen.last.find(name);
    const Placement placement = last == seen.last.end() ? Placement{} : last->second;
    return (!expected.tasks || *expected.tasks == placed_tasks(*workload)) &&
           (!expected.nodes || *expected.nodes == nodes_of(seen, *workload)) &&
           (!expected.domain || *expected.domain == placement.domain) &&
           (!expected.crossings || *expected.crossings == placement.crossings);
}

}  // namespace

std::vector<std::string> check(const ExpectRuns& expected, const Seen& seen) {
    std::vector<std::string> out;
    for (const std::string& name : expected.workloads) {
        if (is_as_expected(expected, seen, name)) { continue; }
        std::string found = describe(seen, name);
        const auto last = seen.last.find(name);
        if (expected.crossings && last != seen.last.end()) {
            found += fmt::format(" crossings={}", last->second.crossings);
        }
        out.push_back(std::move(found));
    }
    return out;
}

std::vector<std::string> check(const ExpectTask& expected, const Seen& seen) {
    const std::string name = fmt::format("{}/{}", expected.workload, expected.task);
    const Workload* workload = find(seen, expected.workload);
    if (workload == nullptr) { return {fmt::format("{} is gone", expected.workload)}; }
    if (expected.task >= workload->tasks.size()) {
        return {fmt::format("{} has {} tasks", expected.workload, workload->tasks.size())};
    }
    const Task& task = workload->tasks[expected.task];
    if (task.state != TaskState::placed) {
        const bool is_so = expected.node.empty() && task.state == TaskState::waiting;
        if (is_so) { return {}; }
        return {task.state == TaskState::finished ? name + " is finished" : name + " has no place"};
    }
    const bool is_so = expected.node == node_name(seen, task) &&
                       (!expected.gpus || *expected.gpus == task.devices.gpus) &&
                       (!expected.mig || *expected.mig == task.devices.mig) &&
                       (!expected.numa || *expected.numa == task.devices.numa);
    if (is_so) { return {}; }
    return {fmt::format("{} on {} {}", name, node_name(seen, task), write_devices(task.devices))};
}

std::vector<std::string> check(const ExpectWaits& expected, const Seen& seen) {
    std::vector<std::string> out;
    for (const std::string& name : expected.workloads) {
        const Workload* workload = find(seen, name);
        const bool is_so = workload != nullptr && workload->is_waiting() && workload->reason &&
                           placed_tasks(*workload) == 0 &&
                           is_as_expected(expected, *workload->reason);
        if (!is_so) { out.push_back(describe(seen, name)); }
    }
    return out;
}

std::vector<std::string> check(const ExpectCount& expected, const Seen& seen) {
    std::int64_t running = 0;
    std::string found;
    for (const std::string& name : expected.workloads) {
        const Workload* workload = find(seen, name);
        running += workload != nullptr && !workload->is_waiting();
        found += "\n      " + describe(seen, name);
    }
    if (running == expected.count) { return {}; }
    return {fmt::format("{} run{}", running, found)};
}

}  // namespace muster::sim
