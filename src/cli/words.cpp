#include "cli/words.h"

#include "cli/table.h"
#include "sim/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <set>

namespace muster::cli {

std::string_view words_of(Cause cause) {
    switch (cause) {
        case Cause::not_ready: return "not ready";
        case Cause::cordoned: return "cordoned";
        case Cause::taint: return "a taint that is not tolerated";
        case Cause::selector: return "node selector, affinity, volume or GPU vendor does not match";
        case Cause::pod_affinity: return "pod affinity or anti-affinity";
        case Cause::gpu_model: return "another GPU model";
        case Cause::gpu_total: return "fewer GPUs than a task asks for, even when empty";
        case Cause::gpu_free: return "too few free GPUs";
        case Cause::gpu_share: return "no GPU with that share free";
        case Cause::mig_profile: return "no GPU that can be cut into that MIG profile";
        case Cause::mig_free: return "no room for that MIG profile";
        case Cause::cpu: return "too little free CPU";
        case Cause::memory: return "too little free memory";
        case Cause::pods: return "no free pod slot";
        case Cause::extended: return "too little of another resource";
        case Cause::numa: return "no single NUMA zone with room";
    }
    return "";
}

std::string_view words_of(Wake wake) {
    switch (wake) {
        case Wake::never: return "nothing but another job";
        case Wake::room: return "GPUs, CPUs or memory become free";
        case Wake::node_change: return "a node joins or changes";
        case Wake::queue_room: return "the queue's usage falls";
        case Wake::head_leaves: return "the job at the head of the queue starts or leaves";
        case Wake::linked_arrives: return "the linked gang is submitted";
        case Wake::queue_set: return "the queue is made or its cap is raised";
        case Wake::topology_set: return "the topology has that level";
        case Wake::tasks_leave: return "the tasks that were released are gone";
        case Wake::pods_change: return "pods that (anti-)affinity looks at come or go";
    }
    return "";
}

std::string need_in_words(const TaskSpec& task) {
    std::vector<std::string> parts;
    const GpuNeed& gpu = task.gpu;
    switch (gpu.kind) {
        case GpuKind::none: break;
        case GpuKind::whole: parts.push_back(fmt::format("{} GPU", gpu.count)); break;
        case GpuKind::share: {
            const std::string share = gpu.milli != 0 ? sim::write_thousandths(gpu.milli) + " GPU"
                                                     : fmt::format("{} MiB of a GPU", gpu.mib);
            parts.push_back(gpu.count == 1 ? share : fmt::format("{} × {}", gpu.count, share));
            break;
        }
        case GpuKind::mig:
            parts.push_back(gpu.count == 1 ? gpu.profile
                                           : fmt::format("{} × {}", gpu.count, gpu.profile));
            break;
    }
    if (!gpu.models.empty() && !parts.empty()) {
        parts.back() += fmt::format(" ({})", fmt::join(gpu.models, " or "));
    }
    if (task.request.milli_cpu > 0) {
        parts.push_back(sim::write_thousandths(task.request.milli_cpu) + " CPU");
    }
    if (task.request.memory > 0) {
        constexpr std::int64_t mebi = 1 << 20;
        const std::int64_t mib = (task.request.memory + mebi - 1) / mebi;
        parts.push_back(mib % 1024 == 0 ? fmt::format("{} GiB", mib / 1024)
                                        : fmt::format("{} MiB", mib));
    }
    for (const Amount& amount : task.request.extended) {
        parts.push_back(fmt::format("{} {}", amount.count, amount.name));
    }
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<const GroupSpec*> leaves_of(const WorkloadSpec& workload) {
    std::vector<bool> has_children(workload.groups.size());
    for (const GroupSpec& group : workload.groups) {
        if (group.parent >= 0) { has_children[static_cast<std::size_t>(group.parent)] = true; }
    }
    std::vector<const GroupSpec*> leaves;
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        if (!has_children[i]) { leaves.push_back(&workload.groups[i]); }
    }
    return leaves;
}

std::int64_t task_count(const WorkloadSpec& workload) {
    std::int64_t tasks = 0;
    for (const GroupSpec* leaf : leaves_of(workload)) { tasks += leaf->count; }
    return tasks;
}

std::string workload_in_words(const WorkloadSpec& workload) {
    const std::vector<const GroupSpec*> leaves = leaves_of(workload);
    std::string out;
    for (const GroupSpec* leaf : leaves) {
        if (!out.empty()) { out += " + "; }
        if (leaves.size() > 1) { out += leaf->name + ": "; }
        out += fmt::format("{} of {}", plural(leaf->count, "task"), need_in_words(leaf->task));
        if (leaf->minimum < leaf->count) { out += fmt::format(", at least {}", leaf->minimum); }
    }
    return out;
}

std::string task_in_words(const WorkloadSpec& workload, std::uint32_t task) {
    const std::vector<const GroupSpec*> leaves = leaves_of(workload);
    std::uint32_t first = 0;
    for (const GroupSpec* leaf : leaves) {
        const auto count = static_cast<std::uint32_t>(leaf->count);
        if (task < first + count) {
            const bool has_name = !leaf->name.empty() && leaf->name != workload.name;
            return has_name ? fmt::format("{}-{}", leaf->name, task - first)
                            : fmt::format("{}", task - first);
        }
        first += count;
    }
    return fmt::format("{}", task);
}

std::string devices_in_words(const TaskPlace& place) {
    const int count = std::popcount(place.devices.gpus);
    if (place.is_counted && count > 0) { return fmt::format("{} gpu", count); }
    return sim::write_devices(place.devices);
}

std::string where_in_words(const Placement& placement) {
    if (placement.level == "node") { return "on " + placement.domain; }
    std::set<std::string_view> nodes;
    for (const TaskPlace& place : placement.tasks) { nodes.insert(place.node); }
    return fmt::format("on {}{}", plural(static_cast<std::int64_t>(nodes.size()), "node"),
                       placement.domain.empty() ? "" : " in " + placement.domain);
}

}  // namespace muster::cli
