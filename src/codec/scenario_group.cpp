#include "base/text.h"
#include "codec/scenario_specs.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::scenario {

namespace {

constexpr std::int64_t tasks_max = static_cast<std::int64_t>(tasks_per_group_max);
constexpr std::int64_t estimate_s_max = 1'000'000'000;

std::string_view workload_keys() { return "queue, user, priority, submitted, linked, estimate"; }

}  // namespace

Result<bool> change_workload(WorkloadSpec& workload, const Attribute& attribute) {
    if (attribute.is("queue")) {
        MUSTER_TRY(name, read_name("queue", attribute.value));
        workload.queue = name;
    } else if (attribute.is("user")) {
        workload.user = attribute.value.text;
    } else if (attribute.is("priority")) {
        MUSTER_TRY(priority, read_count(attribute, -priority_max, priority_max));
        workload.priority = priority;
    } else if (attribute.is("submitted")) {
        MUSTER_TRY(submitted, read_count(attribute, INT64_MIN / 4, INT64_MAX / 4));
        workload.submitted = submitted;
    } else if (attribute.is("linked")) {
        MUSTER_TRY(names, read_names("linked", attribute.value));
        std::vector<std::string> sorted = names;
        std::ranges::sort(sorted);
        const auto twice = std::ranges::adjacent_find(sorted);
        if (twice != sorted.end()) {
            return fail(Code::invalid, fmt::format("linked: '{}' stands twice", *twice));
        }
        workload.linked = std::move(names);
    } else if (attribute.is("estimate")) {
        MUSTER_TRY(milliseconds, read_duration(attribute.value.text));
        if (milliseconds % 1000 != 0 || milliseconds / 1000 > estimate_s_max) {
            return fail(Code::invalid,
                        fmt::format("estimate='{}'; expected whole seconds, at most {}s",
                                    attribute.value.text, estimate_s_max));
        }
        workload.runtime_estimate_s = milliseconds / 1000;
    } else {
        return false;
    }
    return true;
}

std::string write_workload(const WorkloadSpec& workload, std::int64_t now) {
    std::string out;
    if (workload.queue != WorkloadSpec{}.queue) { out += " queue=" + quote(workload.queue); }
    if (!workload.user.empty()) { out += " user=" + quote(workload.user); }
    if (workload.priority != 0) { out += fmt::format(" priority={}", workload.priority); }
    if (workload.submitted != now) { out += fmt::format(" submitted={}", workload.submitted); }
    if (!workload.linked.empty()) { out += " linked=" + write_names(workload.linked); }
    if (workload.runtime_estimate_s != 0) {
        out += fmt::format(" estimate={}s", workload.runtime_estimate_s);
    }
    return out;
}

Result<> change_group(GroupSpec& group, bool is_leaf, std::span<const Attribute> attributes) {
    bool has_minimum = false;
    bool has_tasks = false;
    for (const Attribute& attribute : attributes) {
        if (attribute.is("min")) {
            MUSTER_TRY(minimum, read_count(attribute, 0, tasks_max));
            group.minimum = static_cast<std::int32_t>(minimum);
            has_minimum = true;
        } else if (attribute.is("require")) {
            group.topology.required = attribute.value.text;
        } else if (attribute.is("prefer")) {
            group.topology.preferred = attribute.value.text;
        } else if (!is_leaf) {
            return fail(Code::invalid,
                        fmt::format("'{}' with roles below; expected it on a role line, or one of: "
                                    "min, require, prefer, {}",
                                    attribute.key.text, workload_keys()));
        } else if (attribute.is("tasks")) {
            MUSTER_TRY(count, read_count(attribute, 1, tasks_max));
            group.count = static_cast<std::int32_t>(count);
            has_tasks = true;
        } else {
            MUSTER_TRY(is_task, change_task(group.task, attribute));
            if (!is_task) {
                return unknown_key(attribute, fmt::format("tasks, min, require, prefer, {}, {}",
                                                          workload_keys(), task_keys()));
            }
        }
    }
    if (is_leaf && has_tasks && !has_minimum) { group.minimum = group.count; }
    if (is_leaf && group.minimum > group.count) {
        return fail(Code::invalid, fmt::format("min={} is over tasks={}; expected at most that",
                                               group.minimum, group.count));
    }
    return {};
}

std::string write_group(const GroupSpec& group, bool is_leaf, std::int32_t child_count) {
    std::string out;
    if (is_leaf) { out += fmt::format(" tasks={}", group.count); }
    if (group.minimum != (is_leaf ? group.count : child_count)) {
        out += fmt::format(" min={}", group.minimum);
    }
    if (!group.topology.required.empty()) { out += " require=" + quote(group.topology.required); }
    if (!group.topology.preferred.empty()) { out += " prefer=" + quote(group.topology.preferred); }
    if (is_leaf) { out += write_task(group.task); }
    return out;
}

Result<MixEntry> read_mix(std::span<const Attribute> attributes) {
    MixEntry entry;
    std::optional<std::int64_t> gpu_count;
    bool has_share = false;
    for (const Attribute& attribute : attributes) {
        if (attribute.is("gpu")) {
            MUSTER_TRY(count,
                       read_count(attribute, 0, static_cast<std::int64_t>(gpus_per_node_max)));
            gpu_count = count;
        } else if (attribute.is("share")) {
            MUSTER_TRY(milli, read_milli(attribute, gpu_milli_whole));
            entry.gpu_milli = static_cast<std::int32_t>(milli);
            has_share = true;
        } else if (attribute.is("cpu")) {
            MUSTER_TRY(cpu, read_cpu(attribute));
            entry.milli_cpu = cpu;
        } else if (attribute.is("model")) {
            MUSTER_TRY(models, read_names("model", attribute.value));
            entry.models = std::move(models);
        } else if (attribute.is("weight")) {
            MUSTER_TRY(weight, read_count(attribute, 1, 1'000'000'000));
            entry.weight = weight;
        } else {
            return unknown_key(attribute, "gpu, share, cpu, model, weight");
        }
    }
    entry.gpu_count = static_cast<std::int32_t>(gpu_count.value_or(has_share ? 1 : 0));
    return entry;
}

std::string write_mix(const MixEntry& entry) {
    std::string out = fmt::format(" gpu={}", entry.gpu_count);
    if (entry.gpu_milli != gpu_milli_whole) { out += " share=" + write_milli(entry.gpu_milli); }
    if (entry.milli_cpu != 0) { out += " cpu=" + write_milli(entry.milli_cpu); }
    if (!entry.models.empty()) { out += " model=" + write_names(entry.models); }
    if (entry.weight != 1) { out += fmt::format(" weight={}", entry.weight); }
    return out;
}

}  // namespace muster::scenario
