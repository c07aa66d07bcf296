#include "sim/loop_agreement.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::sim {

namespace {

void compare(const std::string& name, const Task& task, const std::string& node,
             const LoopCluster::Pod& pod, std::vector<std::string>& out) {
    if (pod.is_finished) {
        if (task.state != TaskState::finished) {
            out.push_back(fmt::format("quiet: {} has finished, and the engine has it {}", name,
                                      node.empty() ? "waiting" : "on " + node));
        }
        return;
    }
    if (pod.node != node || task.state == TaskState::finished) {
        out.push_back(fmt::format("quiet: {} is on \"{}\", and the engine has it {}", name,
                                  pod.node,
                                  task.state == TaskState::finished ? "finished" : "on " + node));
    } else if (!node.empty() && !task.is_conflict && pod.devices != task.devices) {
        out.push_back(fmt::format("quiet: {} on {} has devices {:x}, and the engine has {:x}", name,
                                  node, pod.devices.gpus, task.devices.gpus));
    }
}

}  // namespace

std::vector<std::string> disagreements(const World& world, const LoopCluster& cluster) {
    std::vector<std::string> out;
    std::size_t count = 0;
    for (const Workload& workload : world.workloads) {
        if (!workload.is_present || workload.is_lease) { continue; }
        ++count;
        const auto work = cluster.works().find(workload.name);
        if (work == cluster.works().end() || work->second.pods.size() != workload.tasks.size()) {
            out.push_back(fmt::format("quiet: the engine has {} with {} tasks", workload.name,
                                      workload.tasks.size()));
            continue;
        }
        for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
            const Task& task = workload.tasks[i];
            const std::string node = task.holds() ? world.machines[task.node.value].spec.name : "";
            compare(fmt::format("{}/{}", workload.name, i), task, node, work->second.pods[i], out);
        }
    }
    if (count != cluster.works().size()) {
        out.push_back(fmt::format("quiet: {} workloads are there, and the engine has {}",
                                  cluster.works().size(), count));
    }
    return out;
}

std::size_t unsettled_tasks(const World& world) {
    std::size_t count = 0;
    for (const Workload& workload : world.workloads) {
        if (!workload.is_present || workload.is_lease) { continue; }
        count += static_cast<std::size_t>(
            std::count_if(workload.tasks.begin(), workload.tasks.end(), [](const Task& task) {
                return task.state == TaskState::leaving ||
                       (task.state == TaskState::placed && !task.is_confirmed);
            }));
    }
    return count;
}

}  // namespace muster::sim
