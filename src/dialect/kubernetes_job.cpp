#include "dialect/kubernetes_job.h"

#include "dialect/kubernetes_owner.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::dialect {

namespace {

constexpr auto tasks_max = static_cast<std::int64_t>(tasks_per_group_max);

void note_unknown(const Field& object, std::initializer_list<std::string_view> known,
                  std::string_view of, const Scope& scope) {
    for (const auto& [name, field] : object.members()) {
        if (std::find(known.begin(), known.end(), name) != known.end()) { continue; }
        scope.notes.add(field, fmt::format("unknown field {} of {} is not looked at", name, of));
    }
}

Parts read_parts(const Field& field, std::int64_t replicas, const Scope& scope) {
    Parts parts;
    if (!field.is_present()) { return parts; }
    parts.count = field["totalPartitions"].integer(1, tasks_max, 1);
    parts.size = field["partitionSize"].integer(1, tasks_max, 1);
    parts.minimum = field["minPartitions"].integer(1, parts.count, parts.count);
    parts.wish = read_network_topology(field["networkTopology"], scope);
    if (parts.count * parts.size != replicas) {
        field.refuse(
            fmt::format("found {} partitions of {}, expected as many tasks as the {} replicas",
                        parts.count, parts.size, replicas));
    }
    for (const auto& [name, value] : field.members()) {
        if (name == "totalPartitions" || name == "partitionSize" || name == "minPartitions" ||
            name == "networkTopology") {
            continue;
        }
        scope.refuse(value, fmt::format("partitionPolicy.{} is not supported", name));
    }
    return parts;
}

Role read_volcano_task(const Field& task, std::size_t index, const std::string& name_space,
                       const Scope& scope) {
    note_unknown(task,
                 {"name", "replicas", "minAvailable", "template", "policies", "topologyPolicy",
                  "maxRetry", "dependsOn", "partitionPolicy"},
                 "a Volcano task", scope);
    Role role;
    role.name = task["name"].is_present() ? std::string(task["name"].name())
                                          : fmt::format("default{}", index);
    role.count = task["replicas"].integer(0, tasks_max, 1);
    // What Volcano's webhook writes where nothing is said.
    role.minimum = task["minAvailable"].integer(0, role.count, role.count);
    role.parts = read_parts(task["partitionPolicy"], role.count, scope);
    const Field metadata = task["template"]["metadata"];
    const Field spec = task["template"]["spec"];
    if (spec["containers"].items().empty()) {
        spec["containers"].expected("at least one container");
    }
    role.task = read_task(metadata, spec, name_space, scope);
    role.wish = read_wish(metadata, scope);
    const std::string_view policy = task["topologyPolicy"].text("none");
    if (policy == "restricted" || policy == "single-numa-node") {
        scope.refuse(task["topologyPolicy"],
                     fmt::format("topologyPolicy {} is not supported", policy));
    } else if (policy != "none" && policy != "best-effort" && !policy.empty()) {
        task["topologyPolicy"].expected("none, best-effort, restricted or single-numa-node");
    }
    if (task["dependsOn"].is_present()) {
        scope.notes.add(task["dependsOn"],
                        "dependsOn is not kept in a plan: all tasks are planned together");
    }
    if (spec["nodeName"].is_present()) {
        scope.refuse(spec["nodeName"], "nodeName goes past the scheduler");
    }
    return role;
}

std::vector<DeclaredJob::RoleTasks> tasks_of(const std::vector<Role>& roles) {
    std::vector<DeclaredJob::RoleTasks> out;
    std::uint32_t first = 0;
    for (const Role& role : roles) {
        out.push_back({role.name, first, static_cast<std::uint32_t>(role.count)});
        first += static_cast<std::uint32_t>(role.count);
    }
    return out;
}

std::vector<Role> read_volcano_tasks(const Field& list, const std::string& name_space,
                                     const Scope& scope) {
    std::vector<Role> roles;
    std::vector<std::string> names;
    for (const Field& task : list.items()) {
        Role role = read_volcano_task(task, names.size(), name_space, scope);
        if (std::find(names.begin(), names.end(), role.name) != names.end()) {
            task["name"].refuse(fmt::format("two tasks are called \"{}\"", role.name));
        }
        names.push_back(role.name);
        if (role.count > 0) { roles.push_back(std::move(role)); }
    }
    if (roles.empty()) { list.expected("at least one task with replicas"); }
    return roles;
}

void tell_shares(const Field& field, std::int64_t minimum, const std::vector<Role>& roles,
                 const Scope& scope) {
    std::string text;
    std::int64_t sum = 0;
    for (const Role& role : roles) {
        text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", role.minimum, role.name);
        sum += role.minimum;
    }
    const bool is_any = sum != minimum;
    scope.notes.add(
        field,
        fmt::format("minAvailable {} over {} tasks is taken as {}{}; tasks[].minAvailable says "
                    "it exactly",
                    minimum, roles.size(), is_any ? "any of " : "", text));
}

}  // namespace

DeclaredJob read_volcano_job(const Field& job, const Scope& scope) {
    DeclaredJob out;
    const Field metadata = job["metadata"];
    const Field spec = job["spec"];
    note_unknown(spec,
                 {"schedulerName", "minAvailable", "volumes", "tasks", "policies", "plugins",
                  "runningEstimate", "queue", "maxRetry", "ttlSecondsAfterFinished",
                  "priorityClassName", "minSuccess", "networkTopology"},
                 "a Volcano Job", scope);
    const std::size_t before = scope.unsupported.size();
    out.place = metadata["name"].place();
    out.workload.name = full_name(metadata);
    read_workload_metadata(metadata, out.workload);
    if (spec["runningEstimate"].is_present()) {
        out.workload.runtime_estimate_s = read_duration_s(spec["runningEstimate"]);
    }
    out.workload.queue = spec["queue"].is_present() ? std::string(spec["queue"].name())
                                                    : read_queue(metadata, "default");
    std::vector<Role> roles = read_volcano_tasks(spec["tasks"], namespace_of(metadata), scope);
    const Field first_spec = spec["tasks"].items().empty()
                                 ? spec["tasks"]
                                 : spec["tasks"].items()[0]["template"]["spec"];
    out.workload.priority =
        spec["priorityClassName"].is_present()
            ? read_priority(spec["priorityClassName"], spec["priority"], scope)
            : read_priority(first_spec["priorityClassName"], first_spec["priority"], scope);
    TopologyWish wish = read_network_topology(spec["networkTopology"], scope);
    const TopologyWish asked = read_wish(metadata, scope);
    if (wish.required.empty()) { wish.required = asked.required; }
    if (wish.preferred.empty()) { wish.preferred = asked.preferred; }

    std::int64_t total = 0;
    std::int64_t own = 0;
    for (const Role& role : roles) {
        total += role.count;
        own += role.minimum;
    }
    const Field field = spec["minAvailable"];
    std::int64_t minimum = field.integer(0, INT64_MAX, 0);
    if (minimum == 0) { minimum = own; }
    if (minimum > total) {
        field.expected(fmt::format("at most {}, the sum of the tasks' replicas", total));
    }
    const std::int64_t must = share_minimum(std::min(minimum, total), roles);
    if (minimum != own && roles.size() > 1) { tell_shares(field, minimum, roles, scope); }
    add_roles(out.workload, roles, must, wish, std::string(metadata["name"].name()));
    check_size(out.workload, spec["tasks"]);
    out.roles = tasks_of(roles);
    for (const Field& task : spec["tasks"].items()) {
        if (task["dependsOn"]["name"].items().empty()) { continue; }
        for (DeclaredJob::RoleTasks& role : out.roles) {
            role.waits = role.waits || role.name == task["name"].text();
        }
    }
    const std::string_view phase = job["status"]["state"]["phase"].text();
    out.is_over = phase == "Completed" || phase == "Failed" || phase == "Aborted" ||
                  phase == "Terminated" || phase == "Aborting" || phase == "Terminating" ||
                  phase == "Completing";
    out.unsupported.assign(scope.unsupported.begin() + static_cast<std::ptrdiff_t>(before),
                           scope.unsupported.end());
    scope.unsupported.resize(before);
    return out;
}

bool is_gang_job(const Field& job, const Scope& scope) {
    const Field template_metadata = job["spec"]["template"]["metadata"];
    const TopologyWish wish = read_wish(template_metadata, scope);
    const bool is_asked = job["metadata"]["annotations"]["muster.dev/gang"].text() == "true" ||
                          job["metadata"]["labels"]["muster.dev/gang"].text() == "true";
    return is_asked || job["spec"]["scheduling"]["schedulingPolicy"]["gang"].is_present() ||
           !wish.required.empty() || !wish.preferred.empty();
}

DeclaredJob read_gang_job(const Field& job, const Scope& scope) {
    DeclaredJob out;
    const Field metadata = job["metadata"];
    const Field spec = job["spec"];
    const std::size_t before = scope.unsupported.size();
    out.place = metadata["name"].place();
    out.workload.name = full_name(metadata);
    read_workload_metadata(metadata, out.workload);
    out.workload.queue = read_queue(metadata, read_queue(spec["template"]["metadata"], "default"));
    const Field pod = spec["template"]["spec"];
    out.workload.priority = read_priority(pod["priorityClassName"], pod["priority"], scope);
    Role role{.name = std::string(metadata["name"].name())};
    role.count = spec["parallelism"].integer(1, tasks_max, 1);
    const std::int64_t completions = spec["completions"].integer(1, INT32_MAX, role.count);
    if (completions != role.count) {
        spec["completions"].expected(
            fmt::format("as many as the parallelism of {} in a gang", role.count));
    }
    const Field gang = spec["scheduling"]["schedulingPolicy"]["gang"];
    role.minimum = gang["minCount"].integer(1, role.count, role.count);
    role.task = read_task(spec["template"]["metadata"], pod, namespace_of(metadata), scope);
    role.wish = read_wish(spec["template"]["metadata"], scope);
    for (const Field& key : spec["scheduling"]["schedulingConstraints"]["topology"].items()) {
        role.wish.required = key["key"].name();
    }
    if (pod["nodeName"].is_present()) {
        scope.refuse(pod["nodeName"], "nodeName goes past the scheduler");
    }
    out.made_by = maker_of(metadata, namespace_of(metadata));
    add_roles(out.workload, std::vector<Role>{role}, 1, {}, role.name);
    check_size(out.workload, spec);
    out.roles = {{"", 0, static_cast<std::uint32_t>(role.count)}};
    out.is_over = spec["suspend"].boolean() || job["status"]["completionTime"].is_present();
    for (const Field& condition : job["status"]["conditions"].items()) {
        const std::string_view type = condition["type"].text();
        out.is_over = out.is_over || ((type == "Complete" || type == "Failed") &&
                                      condition["status"].text() == "True");
    }
    out.unsupported.assign(scope.unsupported.begin() + static_cast<std::ptrdiff_t>(before),
                           scope.unsupported.end());
    scope.unsupported.resize(before);
    return out;
}

std::vector<PodItem> expand_pods(const Field& object, const Scope& scope) {
    const Field metadata = object["metadata"];
    const Field spec = object["spec"];
    const bool is_job = object.document().kind == "Job";
    std::int64_t count = 0;
    if (is_job) {
        count = spec["parallelism"].integer(0, tasks_max, 1);
        if (spec["completions"].is_present()) {
            count = std::min(count, spec["completions"].integer(0, INT32_MAX, 1));
        }
    } else {
        count = spec["replicas"].integer(0, tasks_max, 1);
    }
    if (spec["suspend"].boolean()) {
        scope.notes.add(spec["suspend"], "a suspended job is planned as if it were resumed");
    }
    const Field pod_metadata = spec["template"]["metadata"];
    const Field pod_spec = spec["template"]["spec"];
    if (pod_spec["containers"].items().empty()) {
        pod_spec["containers"].expected("at least one container");
    }
    const std::size_t before = scope.unsupported.size();
    // The template has the labels, the object has the name.
    PodItem pod = read_template_head(object, scope);
    pod.task = read_task(pod_metadata, pod_spec, namespace_of(metadata), scope);
    if (pod_spec["nodeName"].is_present()) {
        scope.refuse(pod_spec["nodeName"], "nodeName goes past the scheduler");
    }
    pod.unsupported.assign(scope.unsupported.begin() + static_cast<std::ptrdiff_t>(before),
                           scope.unsupported.end());
    scope.unsupported.resize(before);
    pod.place = metadata["name"].place();
    std::vector<PodItem> pods;
    for (std::int64_t i = 0; i < count; ++i) {
        pods.push_back(pod);
        pods.back().name = fmt::format("{}-{}", pod.name, i);
        pods.back().head.name = pods.back().name;
        pods.back().index = i;
    }
    return pods;
}

}  // namespace muster::dialect
