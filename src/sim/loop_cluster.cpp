#include "sim/loop_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace muster::sim {

namespace {

const GroupSpec& group_of(const WorkloadSpec& spec, std::uint32_t task) {
    for (const GroupSpec& group : spec.groups) {
        const bool is_inner =
            std::any_of(spec.groups.begin(), spec.groups.end(), [&](const GroupSpec& other) {
                return other.parent >= 0 &&
                       &spec.groups[static_cast<std::size_t>(other.parent)] == &group;
            });
        if (is_inner) { continue; }
        if (task < static_cast<std::uint32_t>(group.count)) { return group; }
        task -= static_cast<std::uint32_t>(group.count);
    }
    return spec.groups.back();
}

}  // namespace

Listing LoopCluster::listing() const {
    Listing out;
    out.levels = levels_;
    for (const auto& [name, node] : nodes_) {
        if (node.is_up) { out.nodes.push_back(node.spec); }
    }
    for (const auto& [name, queue] : queues_) { out.queues.push_back(queue); }
    for (const auto& [name, lease] : leases_) { out.leases.push_back(lease); }
    for (const auto& [name, work] : works_) {
        out.workloads.push_back(work.spec);
        for (std::uint32_t i = 0; i < work.pods.size(); ++i) {
            const Pod& pod = work.pods[i];
            if (pod.node.empty()) { continue; }
            out.runs.push_back({.workload = name,
                                .task = i,
                                .node = pod.node,
                                .has_devices = true,
                                .devices = pod.devices,
                                .is_finished = pod.is_finished});
        }
    }
    return out;
}

Numbers LoopCluster::numbers() const {
    Numbers out;
    for (const auto& [name, node] : nodes_) {
        if (node.is_up) { out.nodes[name] = node.number; }
    }
    for (const auto& [name, work] : works_) {
        for (std::uint32_t i = 0; i < work.pods.size(); ++i) {
            out.pods[{name, i}] = work.pods[i].number;
        }
    }
    return out;
}

void LoopCluster::tell(Heard heard, bool is_answer) {
    for (const auto& [listener, queue] : heard_) { tell_to(listener, heard, is_answer); }
}

void LoopCluster::tell_to(std::size_t listener, const Heard& heard, bool is_answer) {
    const auto found = heard_.find(listener);
    if (found == heard_.end() || (is_answer && dice_.chance(loss_percent))) { return; }
    found->second.push_back(heard);
    if (dice_.chance(twice_percent)) { found->second.push_back(heard); }
}

void LoopCluster::handle(const SentOrder& request) {
    const TaskOrder& order = request.order;
    const auto work = works_.find(order.workload);
    if (work == works_.end() || order.task >= work->second.pods.size()) { return; }
    Pod& pod = work->second.pods[order.task];
    if (pod.number != request.pod) {  // that pod is no more
        return tell_to(request.sender,
                       {.fact = TaskGone{order.workload, order.task, pod.is_finished},
                        .pod = request.pod,
                        .next_pod = pod.number},
                       true);
    }
    if (order.kind == OrderKind::bind) { return bind(request, pod); }
    if (pod.is_finished) {
        return tell_to(request.sender,
                       {.fact = TaskGone{order.workload, order.task, true},
                        .pod = pod.number,
                        .next_pod = pod.number},
                       true);
    }
    ++evicted_;
    end({order.workload, order.task}, false, true);
}

void LoopCluster::bind(const SentOrder& request, Pod& pod) {
    const TaskOrder& order = request.order;
    const PodName name{order.workload, order.task};
    if (!pod.node.empty()) {  // bound once, whoever did it
        tell_to(request.sender,
                {.fact = TaskBound{name.first, name.second, pod.node, true, pod.devices},
                 .pod = pod.number},
                true);
        if (pod.is_finished) {
            tell_to(request.sender,
                    {.fact = TaskGone{name.first, name.second, true},
                     .pod = pod.number,
                     .next_pod = pod.number},
                    true);
        }
        return;
    }
    const auto node = nodes_.find(order.node);
    if (node == nodes_.end() || !node->second.is_up || node->second.number != request.node) {
        return;
    }
    ++bound_;
    start(name, pod, order, true);
    const std::uint64_t there = node->second.spec.gpus.size() >= 64
                                    ? ~std::uint64_t{0}
                                    : (std::uint64_t{1} << node->second.spec.gpus.size()) - 1;
    const GpuNeed& need = group_of(works_.at(name.first).spec, name.second).task.gpu;
    if (std::popcount(order.devices.gpus) != need.count) {
        broken_.push_back(fmt::format("bind: {}/{} asks for {} gpus and starts with {}", name.first,
                                      name.second, need.count, std::popcount(order.devices.gpus)));
    }
    if ((pod.devices.gpus & ~there) != 0) { return end(name, false, false); }  // it can't start
    check_devices(order.node);
}

void LoopCluster::start(const PodName& name, Pod& pod, const TaskOrder& order, bool is_ours) {
    pod.node = order.node;
    pod.devices = order.devices;
    pod.is_ours = is_ours;
    tell({.fact = TaskBound{name.first, name.second, pod.node, true, pod.devices},
          .pod = pod.number},
         is_ours);
}

/// One that has finished keeps its number: nobody takes its place.
void LoopCluster::end(const PodName& name, bool is_finished, bool is_answer) {
    Pod& pod = works_.at(name.first).pods[name.second];
    const std::uint64_t before = pod.number;
    if (is_finished) {
        pod.is_finished = true;
    } else {
        pod = Pod{.number = ++last_number_};
    }
    tell({.fact = TaskGone{name.first, name.second, is_finished},
          .pod = before,
          .next_pod = pod.number},
         is_answer);
}

std::int32_t LoopCluster::milli_of(const Work& work, std::uint32_t task) const {
    const GpuNeed& need = group_of(work.spec, task).task.gpu;
    return need.kind == GpuKind::share ? need.milli : 1'000;
}

/// Law 1 where it counts: what runs. Those that were bound by others are not our doing.
void LoopCluster::check_devices(const std::string& node) {
    std::map<std::uint32_t, std::int32_t> used;
    std::map<std::uint32_t, std::string> users;
    for (const auto& [name, work] : works_) {
        for (std::uint32_t i = 0; i < work.pods.size(); ++i) {
            const Pod& pod = work.pods[i];
            if (pod.node != node || pod.is_finished || !pod.is_ours) { continue; }
            for (std::uint32_t gpu = 0; gpu < 64; ++gpu) {
                if ((pod.devices.gpus >> gpu & 1) == 0) { continue; }
                used[gpu] += milli_of(work, i);
                users[gpu] += fmt::format(" {}/{}", name, i);
            }
        }
    }
    for (const auto& [gpu, milli] : used) {
        if (milli > 1'000) {
            broken_.push_back(fmt::format("law 1: {} thousandths of gpu {} of {} are in use by{}",
                                          milli, gpu, node, users[gpu]));
        }
    }
}

}  // namespace muster::sim
