#include "dialect/kubernetes_group.h"

#include "dialect/kubernetes_affinity.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::dialect {

namespace {

constexpr auto tasks_max = static_cast<std::int64_t>(tasks_per_group_max);

GroupObject read_head(const Field& object, const Scope& scope) {
    GroupObject group;
    const Field metadata = object["metadata"];
    group.name = full_name(metadata);
    group.head.name = group.name;
    group.place = metadata["name"].place();
    read_workload_metadata(metadata, group.head);
    group.wish = read_wish(metadata, scope);
    group.head.queue = read_queue(metadata, "");
    group.has_queue = !group.head.queue.empty();
    const Field spec = object["spec"];
    group.has_priority = spec["priorityClassName"].is_present() || spec["priority"].is_present();
    if (group.has_priority) {
        group.head.priority = read_priority(spec["priorityClassName"], spec["priority"], scope);
    }
    for (const Field& owner : metadata["ownerReferences"].items()) {
        if (owner["kind"].text() != "Job") { continue; }
        group.owner_job = fmt::format("{}/{}", namespace_of(metadata), owner["name"].name());
    }
    return group;
}

void note_unknown(const Field& spec, std::initializer_list<std::string_view> known,
                  const Scope& scope) {
    for (const auto& [name, field] : spec.members()) {
        if (std::find(known.begin(), known.end(), name) != known.end()) { continue; }
        scope.notes.add(field,
                        fmt::format("unknown field {} of a PodGroup is not looked at", name));
    }
}

SubGroups read_sub_groups(const Field& field, const Scope& scope) {
    SubGroups out;
    out.name = field["name"].name();
    out.selector = read_selector(field["labelSelector"]);
    for (const Field& key : field["matchLabelKeys"].items()) { out.keys.emplace_back(key.name()); }
    out.size = field["subGroupSize"].integer(1, tasks_max, 0);
    out.minimum = field["minSubGroups"].integer(1, tasks_max, 0);
    out.wish = read_network_topology(field["networkTopology"], scope);
    for (const auto& [name, value] : field.members()) {
        constexpr std::string_view known[] = {"name",         "labelSelector", "matchLabelKeys",
                                              "subGroupSize", "minSubGroups",  "networkTopology"};
        if (std::find(std::begin(known), std::end(known), name) != std::end(known)) { continue; }
        scope.refuse(value, fmt::format("subGroupPolicy.{} is not supported", name));
    }
    return out;
}

void read_volcano(const Field& spec, GroupObject& group, const Scope& scope) {
    note_unknown(spec,
                 {"minMember", "minTaskMember", "minResources", "queue", "priorityClassName",
                  "networkTopology", "subGroupPolicy"},
                 scope);
    group.minimum = spec["minMember"].integer(0, tasks_max, 1);
    for (const auto& [role, count] : spec["minTaskMember"].members()) {
        group.role_minima.push_back({std::string(role), count.integer(0, tasks_max)});
    }
    if (spec["queue"].is_present()) {
        group.head.queue = spec["queue"].name();
        group.has_queue = true;
    }
    if (spec["networkTopology"].is_present()) {
        group.wish = read_network_topology(spec["networkTopology"], scope);
    }
    for (const Field& policy : spec["subGroupPolicy"].items()) {
        group.sub_groups.push_back(read_sub_groups(policy, scope));
    }
}

/// `schedulingPolicy`, which PodGroup and CompositePodGroup share but for the minimum's name.
void read_upstream(const Field& spec, std::string_view minimum, GroupObject& group,
                   const Scope& scope) {
    const Field policy = spec["schedulingPolicy"];
    // A basic group has no minimum; as a part of something it is there when one of it is.
    group.minimum = policy["gang"][minimum].integer(1, tasks_max, 1);
    if (policy["gang"].is_present() && !policy["gang"][minimum].is_present()) {
        policy["gang"][minimum].expected("a whole number ≥ 1");
    }
    for (const auto& [name, field] : policy.members()) {
        if (name != "basic" && name != "gang") { field.expected("basic or gang"); }
    }
    const auto keys = spec["schedulingConstraints"]["topology"].items();
    if (keys.size() > 1) {
        spec["schedulingConstraints"]["topology"].expected("at most one topology key");
    }
    for (const Field& key : keys) { group.wish.required = key["key"].name(); }
    for (const auto& [name, field] : spec["schedulingConstraints"].members()) {
        if (name != "topology") {
            scope.refuse(field, fmt::format("schedulingConstraints.{} is not supported", name));
        }
    }
    if (const Field claims = spec["resourceClaims"]; !claims.items().empty()) {
        scope.refuse(claims, "resourceClaims (dynamic resource allocation) are not supported");
    }
    if (const Field parent = spec["parentCompositePodGroupName"]; parent.is_present()) {
        group.parent =
            fmt::format("{}/{}", group.name.substr(0, group.name.find('/')), parent.name());
    }
    note_unknown(spec,
                 {"schedulingPolicy", "schedulingConstraints", "resourceClaims",
                  "parentCompositePodGroupName", "priorityClassName", "priority",
                  "preemptionPolicy", "disruptionMode", "workloadRef", "podGroupTemplateRef"},
                 scope);
}

void take_unsupported(GroupObject& group, std::size_t before, const Scope& scope) {
    group.unsupported.assign(scope.unsupported.begin() + static_cast<std::ptrdiff_t>(before),
                             scope.unsupported.end());
    scope.unsupported.resize(before);
}

}  // namespace

std::optional<GroupDialect> group_dialect(std::string_view api_version) {
    if (api_version.starts_with("scheduling.volcano.sh/")) { return GroupDialect::volcano; }
    if (api_version.starts_with("scheduling.x-k8s.io/")) { return GroupDialect::scheduler_plugins; }
    if (api_version.starts_with("scheduling.k8s.io/")) { return GroupDialect::upstream; }
    return {};
}

GroupObject read_pod_group(const Field& object, GroupDialect dialect, const Scope& scope) {
    const std::size_t before = scope.unsupported.size();
    GroupObject group = read_head(object, scope);
    const Field spec = object["spec"];
    switch (dialect) {
        case GroupDialect::volcano: read_volcano(spec, group, scope); break;
        case GroupDialect::scheduler_plugins:
            note_unknown(spec, {"minMember", "minResources", "scheduleTimeoutSeconds"}, scope);
            group.minimum = spec["minMember"].integer(0, tasks_max, 1);
            break;
        case GroupDialect::upstream: read_upstream(spec, "minCount", group, scope); break;
    }
    take_unsupported(group, before, scope);
    return group;
}

std::string workload_group(std::string_view name_space, std::string_view workload,
                           std::string_view group, std::string_view replica) {
    return fmt::format("{}/{}#{}{}{}", name_space, workload, group, replica.empty() ? "" : "#",
                       replica);
}

GroupNames names_of_group(std::string_view group) {
    GroupNames out{std::string(group), std::string(group), std::string(group)};
    const std::size_t first = group.find('#');
    if (first == std::string_view::npos) { return out; }
    out.object = group.substr(0, first);
    out.declared = group.substr(0, group.find('#', first + 1));
    std::replace(out.shown.begin(), out.shown.end(), '#', '-');
    return out;
}

std::vector<GroupObject> read_workload_groups(const Field& object, const Scope& scope) {
    std::vector<GroupObject> out;
    const std::string name_space = namespace_of(object["metadata"]);
    for (const Field& one : object["spec"]["podGroups"].items()) {
        GroupObject group = read_head(object, scope);
        group.is_template = true;
        group.name =
            workload_group(name_space, object["metadata"]["name"].name(), one["name"].name(), "");
        const Field gang = one["policy"]["gang"];
        group.minimum = gang["minCount"].integer(1, tasks_max, 1);
        if (gang.is_present() && !gang["minCount"].is_present()) {
            gang["minCount"].expected("a whole number ≥ 1");
        }
        out.push_back(std::move(group));
    }
    return out;
}

GroupObject read_composite_group(const Field& object, const Scope& scope) {
    const std::size_t before = scope.unsupported.size();
    GroupObject group = read_head(object, scope);
    group.is_composite = true;
    read_upstream(object["spec"], "minGroupCount", group, scope);
    take_unsupported(group, before, scope);
    return group;
}

}  // namespace muster::dialect
