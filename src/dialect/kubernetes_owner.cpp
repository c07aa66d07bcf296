#include "dialect/kubernetes_owner.h"

#include "base/text.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace muster::dialect {

namespace {

constexpr auto tasks_max = static_cast<std::int64_t>(tasks_per_group_max);
constexpr std::int64_t parts_max = 10'000;  // groups of one LeaderWorkerSet
constexpr std::string_view leader_role = "leader";
constexpr std::string_view worker_role = "worker";

std::int64_t number(const Field& field) {
    return field.is_present() ? parse_int(field.text()).value_or(-1) : -1;
}

/// The number at the end of a name; −1 when there is none.
std::int64_t last_number(std::string_view name) {
    const std::size_t dash = name.rfind('-');
    return dash == std::string_view::npos ? -1 : parse_int(name.substr(dash + 1)).value_or(-1);
}

/// `muster.dev/gang`, as an annotation or a label.
std::string_view gang_wish(const Field& metadata) {
    constexpr std::string_view key = "muster.dev/gang";
    const Field annotation = metadata["annotations"][key];
    return annotation.is_present() ? annotation.text() : metadata["labels"][key].text();
}

DeclaredJob read_head(const Field& object, std::string_view kind) {
    DeclaredJob out;
    const Field metadata = object["metadata"];
    out.place = metadata["name"].place();
    out.workload.name = full_name(metadata);
    out.owner = fmt::format("{} {}", kind, out.workload.name);
    read_workload_metadata(metadata, out.workload);
    return out;
}

/// A template's pods as a role.
Role read_role(std::string name, const Field& pod_template, const std::string& name_space,
               const Scope& scope) {
    Role role{.name = std::move(name)};
    const Field spec = pod_template["spec"];
    if (spec["containers"].items().empty()) {
        spec["containers"].expected("at least one container");
    }
    role.task = read_task(pod_template["metadata"], spec, name_space, scope);
    role.wish = read_wish(pod_template["metadata"], scope);
    if (spec["nodeName"].is_present()) {
        scope.refuse(spec["nodeName"], "nodeName goes past the scheduler");
    }
    return role;
}

/// Queue and priority are the owner's, else those of its first template.
void read_rank(const Field& metadata, const Field& pod_template, const Scope& scope,
               WorkloadSpec& workload) {
    const Field spec = pod_template["spec"];
    workload.queue = read_queue(metadata, read_queue(pod_template["metadata"], "default"));
    workload.priority = read_priority(spec["priorityClassName"], spec["priority"], scope);
}

std::string_view scheduler_of(const Field& pod_template) {
    return pod_template["spec"]["schedulerName"].text();
}

/// Nobody fills a name into the templates of these kinds. Where some have one, the others mean the
/// scheduler that pods have without; where none has, their pods tell.
bool is_ours(const Field& pod_template, bool is_any_named, const Scope& scope) {
    const std::string_view name = scheduler_of(pod_template);
    return scope.is_ours(name.empty() && is_any_named ? "default-scheduler" : name);
}

/// One that is kept by an owner's own controllers, which place Jobs apart from each other.
void refuse_exclusive(const Field& metadata, std::string_view key, const Scope& scope) {
    if (const Field asked = metadata["annotations"][key]; asked.is_present()) {
        scope.refuse(asked, fmt::format("{} is not supported; muster.dev/required-topology asks "
                                        "for one domain",
                                        key));
    }
}

void add_tasks(DeclaredJob& out, std::vector<Role> roles, const TopologyWish& wish,
               const Field& object) {
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < roles.size(); ++i) {
        out.roles[i].first = first;
        out.roles[i].count = static_cast<std::uint32_t>(roles[i].count);
        first += out.roles[i].count;
    }
    add_roles(out.workload, roles, static_cast<std::int64_t>(roles.size()), wish,
              out.workload.name.substr(out.workload.name.find('/') + 1));
    check_size(out.workload, object["spec"]);
}

bool is_true(const Field& conditions, std::initializer_list<std::string_view> types) {
    for (const Field& condition : conditions.items()) {
        const std::string_view type = condition["type"].text();
        if (std::find(types.begin(), types.end(), type) != types.end() &&
            condition["status"].text() == "True") {
            return true;
        }
    }
    return false;
}

/// Its replicatedJobs are the roles; the Jobs of one are equal parts of it.
std::optional<DeclaredJob> read_job_set(const Field& object, const Scope& scope) {
    DeclaredJob out = read_head(object, "JobSet");
    const Field metadata = object["metadata"];
    constexpr std::string_view exclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology";
    refuse_exclusive(metadata, exclusive, scope);
    std::vector<Role> roles;
    const bool is_in_order =
        object["spec"]["startupPolicy"]["startupPolicyOrder"].text() == "InOrder";
    bool is_any_named = false;
    for (const Field& one : object["spec"]["replicatedJobs"].items()) {
        is_any_named = is_any_named || !scheduler_of(one["template"]["spec"]["template"]).empty();
    }
    for (const Field& one : object["spec"]["replicatedJobs"].items()) {
        const Field job = one["template"];
        const Field pod = job["spec"]["template"];
        const std::int64_t jobs = one["replicas"].integer(0, tasks_max, 1);
        const std::int64_t parallel = job["spec"]["parallelism"].integer(0, tasks_max, 1);
        const std::int64_t wanted = job["spec"]["completions"].integer(0, INT32_MAX, parallel);
        if (wanted > parallel) {
            scope.notes.add(job["spec"]["completions"],
                            "a JobSet whose Jobs work through more pods than run at once is no "
                            "gang");
            return std::nullopt;
        }
        if (jobs * wanted == 0 || !is_ours(pod, is_any_named, scope)) { continue; }
        if (jobs * wanted > tasks_max) {
            one.refuse(fmt::format("{} pods, expected at most {}", jobs * wanted, tasks_max));
            return std::nullopt;
        }
        if (roles.empty()) { read_rank(metadata, pod, scope, out.workload); }
        refuse_exclusive(job["metadata"], exclusive, scope);
        Role role = read_role(std::string(one["name"].name()), pod, namespace_of(metadata), scope);
        role.count = jobs * wanted;
        role.minimum = role.count;
        const TopologyWish of_each = read_wish(job["metadata"], scope);
        if (!of_each.required.empty() || !of_each.preferred.empty()) {
            role.parts = {.count = jobs, .size = wanted, .minimum = jobs, .wish = of_each};
        }
        const bool is_later = is_in_order && !out.roles.empty();
        out.roles.push_back({.name = role.name,
                             .waits = is_later || !one["dependsOn"].items().empty(),
                             .batch = static_cast<std::uint32_t>(wanted)});
        roles.push_back(std::move(role));
    }
    if (roles.empty()) { return std::nullopt; }
    add_tasks(out, std::move(roles), read_wish(metadata, scope), object);
    // What was done in an earlier attempt is done again, so each is a workload of its own.
    const Field status = object["status"];
    out.attempt = status["restarts"].integer(0, INT32_MAX, 0);
    if (out.attempt > 0 && !out.workload.uid.empty()) {
        out.workload.uid += fmt::format("/{}", out.attempt);
    }
    out.is_over = object["spec"]["suspend"].boolean() ||
                  is_true(status["conditions"], {"Completed", "Failed"});
    return out;
}

std::optional<DeclaredJob> read_leader_worker_set(const Field& object, const Scope& scope) {
    DeclaredJob out = read_head(object, "LeaderWorkerSet");
    const Field metadata = object["metadata"];
    const Field both = object["spec"]["leaderWorkerTemplate"];
    for (const std::string_view key : {"leaderworkerset.sigs.k8s.io/exclusive-topology",
                                       "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"}) {
        refuse_exclusive(metadata, key, scope);
    }
    const Field worker = both["workerTemplate"];
    const Field leader = both["leaderTemplate"].is_present() ? both["leaderTemplate"] : worker;
    const bool is_any_named = !scheduler_of(worker).empty() || !scheduler_of(leader).empty();
    const std::int64_t size = both["size"].integer(1, tasks_max, 1);
    out.parts = object["spec"]["replicas"].integer(0, parts_max, 1);
    std::vector<Role> roles;
    const auto add = [&](std::string_view name, const Field& pod, std::int64_t count) {
        if (count == 0 || !is_ours(pod, is_any_named, scope)) { return; }
        if (roles.empty()) { read_rank(metadata, pod, scope, out.workload); }
        Role role = read_role(std::string(name), pod, namespace_of(metadata), scope);
        role.count = count;
        role.minimum = count;
        out.roles.push_back({.name = role.name, .batch = static_cast<std::uint32_t>(count)});
        roles.push_back(std::move(role));
    };
    add(leader_role, leader, 1);
    add(worker_role, worker, size - 1);
    if (roles.empty()) { return std::nullopt; }
    // Workers are made when their leader runs, and can't be waited for.
    if (object["spec"]["startupPolicy"].text() == "LeaderReady") { out.roles.back().waits = true; }
    add_tasks(out, std::move(roles), read_wish(metadata, scope), object);
    return out;
}

std::optional<DeclaredJob> read_stateful_set(const Field& object, const Scope& scope) {
    const Field metadata = object["metadata"];
    const Field pod = object["spec"]["template"];
    const std::int64_t count = object["spec"]["replicas"].integer(0, tasks_max, 1);
    if (gang_wish(metadata) != "true" || count == 0 || !scope.is_ours(scheduler_of(pod))) {
        return std::nullopt;
    }
    DeclaredJob out = read_head(object, "StatefulSet");
    if (const Field policy = object["spec"]["podManagementPolicy"]; policy.text() != "Parallel") {
        scope.refuse(policy.is_present() ? policy : metadata["name"],
                     "a gang needs podManagementPolicy Parallel: else the second pod is made when "
                     "the first one runs");
    }
    read_rank(metadata, pod, scope, out.workload);
    Role role = read_role(std::string(metadata["name"].name()), pod, namespace_of(metadata), scope);
    role.count = count;
    role.minimum = count;
    out.roles.push_back({.name = "", .batch = static_cast<std::uint32_t>(count)});
    out.first_index = object["spec"]["ordinals"]["start"].integer(0, INT32_MAX, 0);
    add_tasks(out, {std::move(role)}, read_wish(metadata, scope), object);
    return out;
}

}  // namespace

std::string maker_of(const Field& job_metadata, const std::string& name_space) {
    const Field name = job_metadata["labels"]["jobset.sigs.k8s.io/jobset-name"];
    return name.is_present() ? fmt::format("JobSet {}/{}", name_space, name.name()) : "";
}

OwnerTie read_owner_tie(const Field& metadata, const std::string& name_space) {
    OwnerTie out;
    const Field labels = metadata["labels"];
    const Field annotations = metadata["annotations"];
    const Field group = labels["leaderworkerset.sigs.k8s.io/group-index"];
    if (const Field name = labels["leaderworkerset.sigs.k8s.io/name"];
        name.is_present() && number(group) >= 0) {
        out.owner = fmt::format("LeaderWorkerSet {}/{}", name_space, name.name());
        out.part = group.text();
        const std::int64_t index = number(labels["leaderworkerset.sigs.k8s.io/worker-index"]);
        out.role = index == 0 ? leader_role : worker_role;
        out.index = index == 0 ? 0 : index - 1;
        return out;
    }
    out.owner = maker_of(metadata, name_space);
    if (!out.owner.empty()) {
        constexpr std::string_view completion = "batch.kubernetes.io/job-completion-index";
        out.role = labels["jobset.sigs.k8s.io/replicatedjob-name"].text();
        out.batch = number(labels["jobset.sigs.k8s.io/job-index"]);
        out.index =
            number(labels[completion].is_present() ? labels[completion] : annotations[completion]);
        out.attempt =
            std::max<std::int64_t>(number(labels["jobset.sigs.k8s.io/restart-attempt"]), 0);
        return out;
    }
    for (const Field& owner : metadata["ownerReferences"].items()) {
        if (owner["kind"].text() != "StatefulSet" ||
            !owner["apiVersion"].text().starts_with("apps/")) {
            continue;
        }
        out.owner = fmt::format("StatefulSet {}/{}", name_space, owner["name"].name());
        const Field index = labels["apps.kubernetes.io/pod-index"];
        out.index = index.is_present() ? number(index) : last_number(metadata["name"].text());
    }
    return out;
}

std::optional<DeclaredJob> read_owner(const Field& object, const Scope& scope) {
    const std::size_t before = scope.unsupported.size();
    if (gang_wish(object["metadata"]) == "false") { return std::nullopt; }
    const std::string_view kind = object.document().kind;
    std::optional<DeclaredJob> out = kind == "JobSet" ? read_job_set(object, scope)
                                     : kind == "LeaderWorkerSet"
                                         ? read_leader_worker_set(object, scope)
                                         : read_stateful_set(object, scope);
    if (out) {
        out->unsupported.assign(scope.unsupported.begin() + static_cast<std::ptrdiff_t>(before),
                                scope.unsupported.end());
    }
    scope.unsupported.resize(before);
    return out;
}

}  // namespace muster::dialect
