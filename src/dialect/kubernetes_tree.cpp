#include "dialect/kubernetes_tree.h"

#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::dialect {

namespace {

void add_role(WorkloadSpec& workload, const Role& role, std::int32_t parent) {
    GroupSpec group{.name = role.name, .parent = parent, .topology = role.wish};
    if (role.parts.count == 0) {
        group.minimum = static_cast<std::int32_t>(role.minimum);
        group.count = static_cast<std::int32_t>(role.count);
        group.task = role.task;
        workload.groups.push_back(std::move(group));
        return;
    }
    const auto inner = static_cast<std::int32_t>(workload.groups.size());
    group.minimum = static_cast<std::int32_t>(role.parts.minimum);
    workload.groups.push_back(std::move(group));
    for (std::int64_t i = 0; i < role.parts.count; ++i) {
        workload.groups.push_back({.name = fmt::format("{}/{}", role.name, i),
                                   .parent = inner,
                                   .minimum = static_cast<std::int32_t>(role.parts.size),
                                   .count = static_cast<std::int32_t>(role.parts.size),
                                   .task = role.task,
                                   .topology = role.parts.wish});
    }
}

bool is_empty(const TopologyWish& wish) { return wish.required.empty() && wish.preferred.empty(); }

}  // namespace

std::int64_t share_minimum(std::int64_t minimum, std::span<Role> roles) {
    std::int64_t own = 0;
    for (const Role& role : roles) { own += std::max<std::int64_t>(role.minimum, 0); }
    for (Role& role : roles) {
        role.minimum = own > minimum ? 0 : std::max<std::int64_t>(role.minimum, 0);
    }
    std::int64_t rest = own > minimum ? minimum : minimum - own;
    for (Role& role : roles) {
        if (rest > 0 && role.minimum == 0 && role.count > 0) {
            role.minimum = 1;
            --rest;
        }
    }
    for (Role& role : roles) {
        const std::int64_t more = std::min(rest, role.count - role.minimum);
        role.minimum += more;
        rest -= more;
    }
    const auto needed = std::count_if(roles.begin(), roles.end(),
                                      [](const Role& role) { return role.minimum > 0; });
    for (Role& role : roles) { role.minimum = std::max<std::int64_t>(role.minimum, 1); }
    return needed;
}

void add_roles(WorkloadSpec& workload, std::span<const Role> roles, std::int64_t roles_that_must,
               const TopologyWish& wish, const std::string& root_name, std::int32_t parent) {
    const bool is_single = roles.size() == 1;
    if (is_single && (is_empty(wish) || is_empty(roles[0].wish))) {
        Role role = roles[0];
        if (is_empty(role.wish)) { role.wish = wish; }
        return add_role(workload, role, parent);
    }
    const auto root = static_cast<std::int32_t>(workload.groups.size());
    workload.groups.push_back(
        {.name = root_name,
         .parent = parent,
         .minimum = static_cast<std::int32_t>(std::max<std::int64_t>(roles_that_must, 1)),
         .topology = wish});
    for (const Role& role : roles) { add_role(workload, role, root); }
}

bool check_size(const WorkloadSpec& workload, const Field& field) {
    if (workload.groups.size() > groups_per_workload_max) {
        field.refuse(fmt::format("{} groups, expected at most {}", workload.groups.size(),
                                 groups_per_workload_max));
        return false;
    }
    std::int64_t tasks = 0;
    for (const std::int32_t leaf : leaves_of(workload)) {
        tasks += workload.groups[static_cast<std::size_t>(leaf)].count;
    }
    if (tasks > static_cast<std::int64_t>(tasks_per_workload_max)) {
        field.refuse(fmt::format("{} tasks, expected at most {}", tasks, tasks_per_workload_max));
        return false;
    }
    return true;
}

std::vector<std::int32_t> leaves_of(const WorkloadSpec& workload) {
    std::vector<bool> is_inner(workload.groups.size(), false);
    for (const GroupSpec& group : workload.groups) {
        if (group.parent >= 0) { is_inner[static_cast<std::size_t>(group.parent)] = true; }
    }
    std::vector<std::int32_t> leaves;
    for (std::size_t i = 0; i < is_inner.size(); ++i) {
        if (!is_inner[i]) { leaves.push_back(static_cast<std::int32_t>(i)); }
    }
    return leaves;
}

}  // namespace muster::dialect
