#include "dialect/kubernetes_pod.h"

#include "base/text.h"
#include "dialect/kubernetes_affinity.h"
#include "dialect/kubernetes_gpu.h"
#include "dialect/kubernetes_group.h"
#include "dialect/kubernetes_owner.h"
#include "dialect/kubernetes_resources.h"
#include "dialect/kubernetes_volume.h"
#include "model/limits.h"

#include <fmt/core.h>

namespace muster::dialect {

namespace {

/// Gangs of dialects that are not read; forgetting one would place its pods one by one.
constexpr std::string_view unsupported_gangs[] = {
    "gang.scheduling.koordinator.sh/name",
    "yunikorn.apache.org/task-groups",
    "yunikorn.apache.org/task-group-name",
    "godel.bytedance.com/pod-group-name",
    "hivedscheduler.microsoft.com/pod-scheduling-spec",
};

void read_group(const Field& metadata, const Field& spec, const std::string& name_space,
                PodItem& pod, const Scope& scope) {
    const Field labels = metadata["labels"];
    const Field annotations = metadata["annotations"];
    if (const Field workload = spec["workloadRef"]; workload.is_present()) {
        pod.group = workload_group(name_space, workload["name"].name(), workload["podGroup"].name(),
                                   workload["podGroupReplicaKey"].text());
    }
    const Field group_fields[] = {
        spec["schedulingGroup"]["podGroupName"],
        annotations["scheduling.k8s.io/group-name"],
        annotations["scheduling.volcano.sh/group-name"],
        labels["scheduling.x-k8s.io/pod-group"],
        labels["kueue.x-k8s.io/pod-group-name"],
    };
    for (const Field& field : group_fields) {
        if (!field.is_present() || !pod.group.empty()) { continue; }
        pod.group = fmt::format("{}/{}", name_space, field.name());
    }
    for (const std::string_view key :
         {"scheduling.volcano.sh/group-min-member", "kueue.x-k8s.io/pod-group-total-count"}) {
        const Field minimum = annotations[key];
        if (!minimum.is_present()) { continue; }
        const auto count = parse_int(minimum.text());
        if (count && *count >= 1 && *count <= static_cast<std::int64_t>(tasks_per_group_max)) {
            pod.group_minimum = *count;
        } else {
            minimum.expected("a whole number ≥ 1 in quotes");
        }
    }
    for (const std::string_view key : unsupported_gangs) {
        for (const Field& field : {labels[key], annotations[key]}) {
            if (field.is_present()) {
                scope.refuse(field, fmt::format("a gang by {} is not supported", key));
            }
        }
    }
}

void read_job(const Field& metadata, const std::string& name_space, PodItem& pod) {
    const Field labels = metadata["labels"];
    const Field annotations = metadata["annotations"];
    const auto either = [&](std::string_view key) {
        return labels[key].is_present() ? labels[key] : annotations[key];
    };
    pod.role = either("volcano.sh/task-spec").text();
    Field job = either("volcano.sh/job-name");
    if (!job.is_present()) { job = labels["batch.kubernetes.io/job-name"]; }
    if (!job.is_present()) { job = labels["job-name"]; }
    if (!job.is_present()) { return; }
    pod.job = fmt::format("{}/{}", name_space, job.name());
    Field index = either("volcano.sh/task-index");
    if (!index.is_present()) { index = either("batch.kubernetes.io/job-completion-index"); }
    if (index.is_present()) { pod.index = parse_int(index.text()).value_or(-1); }
}

/// What a pod and a template say alike.
void read_head(const Field& metadata, const Field& spec, const std::string& name_space,
               PodItem& pod, const Scope& scope) {
    pod.scheduler = spec["schedulerName"].text();
    pod.head.queue = read_queue(metadata, "default");
    pod.head.priority = read_priority(spec["priorityClassName"], spec["priority"], scope);
    pod.wish = read_wish(metadata, scope);
    pod.is_gated = !spec["schedulingGates"].items().empty();
    read_group(metadata, spec, name_space, pod, scope);
}

PodPhase read_phase(const Field& pod, const std::string& node) {
    const std::string_view phase = pod["status"]["phase"].text();
    if (phase == "Succeeded") { return PodPhase::succeeded; }
    if (phase == "Failed") { return PodPhase::failed; }
    return node.empty() ? PodPhase::waiting : PodPhase::bound;
}

}  // namespace

TaskSpec read_task(const Field& metadata, const Field& spec, std::string name_space,
                   const Scope& scope, std::string_view pod) {
    TaskSpec task;
    task.name_space = std::move(name_space);
    task.labels = read_labels(metadata["labels"]);
    PodRequest request = read_pod_request(spec);
    task.is_cpu_exclusive = request.is_cpu_exclusive;
    read_node_affinity(spec, task, scope);
    read_pod_affinity(spec, task, scope);
    read_spread(spec, task, scope);
    read_host_ports(spec, task);
    read_volumes(spec, pod, task, request.amounts, scope);
    read_tolerations(spec, task, scope);
    read_task_gpus(metadata, spec, request.amounts, task, scope);
    task.request = to_resources(std::move(request.amounts), spec["containers"]);
    refuse_other_constraints(spec, scope);
    return task;
}

PodItem read_template_head(const Field& object, const Scope& scope) {
    const Field metadata = object["metadata"];
    const Field template_metadata = object["spec"]["template"]["metadata"];
    const Field spec = object["spec"]["template"]["spec"];
    PodItem pod;
    pod.head.name = full_name(metadata);
    pod.name = pod.head.name;
    read_workload_metadata(metadata, pod.head);
    read_head(template_metadata, spec, namespace_of(metadata), pod, scope);
    pod.head.queue = read_queue(template_metadata, read_queue(metadata, "default"));
    return pod;
}

PodItem read_pod(const Field& pod, const Scope& scope) {
    const Field metadata = pod["metadata"];
    const Field spec = pod["spec"];
    const std::size_t before = scope.unsupported.size();
    PodItem item;
    item.head.name = full_name(metadata);
    item.name = item.head.name;
    read_workload_metadata(metadata, item.head);
    read_head(metadata, spec, namespace_of(metadata), item, scope);
    read_job(metadata, namespace_of(metadata), item);
    item.tie = read_owner_tie(metadata, namespace_of(metadata));
    for (const Field& owner : metadata["ownerReferences"].items()) {
        if (owner["kind"].text() == "Job" && owner["apiVersion"].text().starts_with("batch/")) {
            item.maker = fmt::format("Job {}/{}", namespace_of(metadata), owner["name"].name());
        }
    }
    if (spec["nodeName"].is_present()) { item.node = spec["nodeName"].name(); }
    item.phase = read_phase(pod, item.node);
    if (spec["containers"].items().empty()) {
        spec["containers"].expected("at least one container");
    }
    item.task = read_task(metadata, spec, namespace_of(metadata), scope, metadata["name"].text());
    const auto begin = scope.unsupported.begin() + static_cast<std::ptrdiff_t>(before);
    item.unsupported.assign(begin, scope.unsupported.end());
    scope.unsupported.erase(begin, scope.unsupported.end());
    if (item.phase == PodPhase::waiting) { item.place = metadata["name"].place(); }
    return item;
}

}  // namespace muster::dialect
