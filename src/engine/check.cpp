#include "engine/check.h"

#include "base/text.h"
#include "engine/devices.h"
#include "model/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace muster {

namespace {

Result<> check_range(std::string_view what, std::int64_t value, std::int64_t low,
                     std::int64_t high) {
    if (value >= low && value <= high) { return {}; }
    return fail(Code::invalid, fmt::format("{} is {}, expected {} to {}", what, value, low, high));
}

template <class List, class KeyOf>
Result<> check_unique(std::string_view what, const List& list, KeyOf key_of) {
    std::unordered_set<std::string_view> seen;
    for (const auto& entry : list) {
        if (!seen.insert(key_of(entry)).second) {
            return fail(Code::invalid, fmt::format("{} '{}' is there twice", what, key_of(entry)));
        }
    }
    return {};
}

Result<> check_resources(const Resources& resources) {
    MUSTER_CHECK(check_range("milli-CPU", resources.milli_cpu, 0, milli_cpu_max));
    MUSTER_CHECK(check_range("memory", resources.memory, 0, memory_bytes_max));
    for (const Amount& amount : resources.extended) {
        MUSTER_CHECK(check_range(amount.name, amount.count, 0, extended_count_max));
    }
    return check_unique("resource", resources.extended,
                        [](const Amount& amount) { return std::string_view(amount.name); });
}

Result<> check_matches(const std::vector<LabelMatch>& matches) {
    for (const LabelMatch& match : matches) {
        MUSTER_CHECK(check_name("label key", match.key));
        const bool is_bound = match.op == MatchOp::greater || match.op == MatchOp::less;
        if (is_bound && (match.values.size() != 1 || !parse_int(match.values[0]))) {
            return fail(Code::invalid,
                        fmt::format("selector on {}: expected one whole number to compare with",
                                    match.key));
        }
        if ((match.op == MatchOp::in || match.op == MatchOp::not_in) && match.values.empty()) {
            return fail(Code::invalid,
                        fmt::format("selector on {}: expected at least one value", match.key));
        }
    }
    return {};
}

Result<> check_gpu(const GpuNeed& gpu) {
    constexpr auto gpus = static_cast<std::int64_t>(gpus_per_node_max);
    switch (gpu.kind) {
        case GpuKind::none: return {};
        case GpuKind::whole: return check_range("gpu count", gpu.count, 1, 1'000'000);
        case GpuKind::mig:
            MUSTER_CHECK(check_range("MIG instances", gpu.count, 1, gpus * 8));
            return check_name("MIG profile", gpu.profile);
        case GpuKind::share:
            MUSTER_CHECK(check_range("gpu count", gpu.count, 1, gpus));
            MUSTER_CHECK(check_range("gpu share in thousandths", gpu.milli, 0, gpu_milli_whole));
            MUSTER_CHECK(check_range("gpu memory in MiB", gpu.mib, 0, gpu_memory_mib_max));
            if (gpu.milli == 0 && gpu.mib == 0) {
                return fail(Code::invalid,
                            "gpu share: expected thousandths of a GPU or MiB, found neither");
            }
            return {};
    }
    return {};
}

Result<> check_task(const TaskSpec& task) {
    MUSTER_CHECK(check_resources(task.request));
    MUSTER_CHECK(check_gpu(task.gpu));
    for (const NodeTerm& term : task.required) { MUSTER_CHECK(check_matches(term.matches)); }
    for (const NodeTerm& term : task.implied) { MUSTER_CHECK(check_matches(term.matches)); }
    for (const NodeTerm& term : task.preferred) {
        MUSTER_CHECK(check_matches(term.matches));
        MUSTER_CHECK(check_range("preference weight", term.weight, 1, 100));
    }
    for (const PodTerm& term : task.pod_terms) {
        MUSTER_CHECK(check_matches(term.selector));
        MUSTER_CHECK(check_name("topology key", term.topology_key));
        MUSTER_CHECK(check_range("affinity weight", term.weight, 0, 100));
        MUSTER_CHECK(check_range("spread", term.spread.max_skew, 0, INT32_MAX));
        MUSTER_CHECK(check_range("domains of a spread", term.spread.domains_min, 1, INT32_MAX));
    }
    return check_unique("label", task.labels,
                        [](const Label& label) { return std::string_view(label.key); });
}

Result<> check_group(const WorkloadSpec& workload, std::size_t index, std::int32_t children) {
    const GroupSpec& group = workload.groups[index];
    if (index == 0 ? group.parent != -1
                   : group.parent < 0 || static_cast<std::size_t>(group.parent) >= index) {
        return fail(Code::invalid,
                    index == 0 ? std::string("the first group is the root: expected no parent")
                               : fmt::format("parent {} is not an earlier group", group.parent));
    }
    if (children > 0) { return check_range("minimum of child groups", group.minimum, 1, children); }
    MUSTER_CHECK(
        check_range("count", group.count, 1, static_cast<std::int64_t>(tasks_per_group_max)));
    if (group.minimum > group.count) {
        return fail(Code::invalid,
                    fmt::format("minimum {} is over its {} tasks", group.minimum, group.count));
    }
    MUSTER_CHECK(check_range("minimum", group.minimum, 1, group.count));
    return check_task(group.task);
}

}  // namespace

Result<> check_name(std::string_view what, std::string_view name) {
    if (name.empty() || name.size() > name_bytes_max * 2) {
        return fail(Code::invalid, fmt::format("{} has {} bytes, expected 1 to {}", what,
                                               name.size(), name_bytes_max * 2));
    }
    if (std::any_of(name.begin(), name.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
        return fail(Code::invalid, fmt::format("{} has a control character", what));
    }
    return {};
}

Result<> check_levels(const std::vector<Level>& levels) {
    MUSTER_CHECK(check_range("number of topology levels", static_cast<std::int64_t>(levels.size()),
                             0, static_cast<std::int64_t>(topology_levels_max)));
    for (const Level& level : levels) {
        MUSTER_CHECK(check_name("level name", level.name));
        MUSTER_CHECK(check_name("level label key", level.key));
        if (level.name == "node") {
            return fail(Code::invalid, "level 'node': single nodes are always the innermost level");
        }
    }
    MUSTER_CHECK(check_unique("level", levels,
                              [](const Level& level) { return std::string_view(level.name); }));
    return check_unique("level key", levels,
                        [](const Level& level) { return std::string_view(level.key); });
}

Result<> check_node(const NodeSpec& node) {
    MUSTER_CHECK(check_name("node name", node.name));
    const auto check = [&]() -> Result<> {
        MUSTER_CHECK(check_resources(node.allocatable));
        MUSTER_CHECK(check_range("pods", node.pods, 0, 1'000'000));
        MUSTER_CHECK(check_unique("label", node.labels,
                                  [](const Label& label) { return std::string_view(label.key); }));
        for (const GpuSpec& gpu : node.gpus) {
            MUSTER_CHECK(check_range("gpu memory in MiB", gpu.memory_mib, 0, gpu_memory_mib_max));
        }
        for (const NumaZone& zone : node.numa) {
            MUSTER_CHECK(check_range("milli-CPU of a NUMA zone", zone.milli_cpu, 0, milli_cpu_max));
        }
        return check_devices(node);
    };
    auto result = check();
    if (!result) { return tl::unexpected(std::move(result.error()).wrap("node " + node.name)); }
    return {};
}

Result<> check_workload(const WorkloadSpec& workload) {
    MUSTER_CHECK(check_name("workload name", workload.name));
    const auto check = [&]() -> Result<> {
        MUSTER_CHECK(check_name("queue name", workload.queue));
        MUSTER_CHECK(check_range("priority", workload.priority, -priority_max, priority_max));
        MUSTER_CHECK(check_range("number of groups",
                                 static_cast<std::int64_t>(workload.groups.size()), 1,
                                 static_cast<std::int64_t>(groups_per_workload_max)));
        std::vector<std::int32_t> children(workload.groups.size(), 0);
        for (const GroupSpec& group : workload.groups) {
            if (group.parent >= 0 && static_cast<std::size_t>(group.parent) < children.size()) {
                ++children[static_cast<std::size_t>(group.parent)];
            }
        }
        std::int64_t tasks = 0;
        for (std::size_t i = 0; i < workload.groups.size(); ++i) {
            auto result = check_group(workload, i, children[i]);
            if (!result) {
                return tl::unexpected(
                    std::move(result.error()).wrap("group " + workload.groups[i].name));
            }
            tasks += children[i] > 0 ? 0 : workload.groups[i].count;
        }
        MUSTER_CHECK(check_range("number of tasks", tasks, 1,
                                 static_cast<std::int64_t>(tasks_per_workload_max)));
        MUSTER_CHECK(check_unique("linked gang", workload.linked,
                                  [](const std::string& name) { return std::string_view(name); }));
        if (!workload.linked.empty() && std::find(workload.linked.begin(), workload.linked.end(),
                                                  workload.name) == workload.linked.end()) {
            return fail(Code::invalid, "linked gangs: expected the workload itself among them");
        }
        return {};
    };
    auto result = check();
    if (!result) {
        return tl::unexpected(std::move(result.error()).wrap("workload " + workload.name));
    }
    return {};
}

Result<> check_lease(const LeaseSpec& lease) {
    MUSTER_CHECK(check_name("lease name", lease.name));
    const auto check = [&]() -> Result<> {
        MUSTER_CHECK(check_name("holder", lease.holder));
        MUSTER_CHECK(check_range("notice in seconds", lease.notice_s, 0, lease_notice_s_max));
        MUSTER_CHECK(check_range("deadline", lease.deadline, 0, INT64_MAX));
        MUSTER_CHECK(check_range("number of blocks", static_cast<std::int64_t>(lease.blocks.size()),
                                 1, static_cast<std::int64_t>(groups_per_workload_max) - 1));
        for (const LeaseBlock& block : lease.blocks) {
            MUSTER_CHECK(check_name("node", block.node));
            MUSTER_CHECK(check_range("milli-CPU", block.milli_cpu, 0, milli_cpu_max));
            MUSTER_CHECK(check_range("memory", block.memory, 0, memory_bytes_max));
        }
        return check_unique("node", lease.blocks,
                            [](const LeaseBlock& block) { return std::string_view(block.node); });
    };
    auto result = check();
    if (!result) { return tl::unexpected(std::move(result.error()).wrap("lease " + lease.name)); }
    return {};
}

}  // namespace muster
