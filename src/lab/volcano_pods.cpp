#include "lab/volcano_pods.h"

#include "lab/volcano_object.h"
#include "lab/volcano_plugins.h"
#include "lab/volcano_resources.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace muster::lab::volcano {

namespace json = boost::json;

namespace {

/// The job's volumes, in each container at their path. Claims are named, not made.
void mount_volumes(json::object& pod_spec, const JobSpec& spec) {
    const json::array* volumes = array_at(*spec.raw, "volumes");
    if (volumes == nullptr) { return; }
    std::size_t index = 0;
    std::set<std::string> known;
    for (const json::value& one : *volumes) {
        const json::object* volume = one.if_object();
        if (volume == nullptr) { continue; }
        const std::string_view claim = text_at(*volume, "volumeClaimName");
        const std::string name =
            claim.empty() ? fmt::format("volume-{}", index) : std::string(claim);
        ++index;
        if (known.insert(name).second) {
            json::object made{{"name", name}};
            if (claim.empty()) {
                made["emptyDir"] = json::object();
            } else {
                made["persistentVolumeClaim"] = {{"claimName", claim}};
            }
            children(pod_spec, "volumes").emplace_back(std::move(made));
        }
        for (json::value& container : children(pod_spec, "containers")) {
            if (!container.is_object()) { continue; }
            children(container.get_object(), "volumeMounts")
                .emplace_back(
                    json::object{{"name", name}, {"mountPath", text_at(*volume, "mountPath")}});
        }
    }
}

json::object sub_group(const TaskSpec& task) {
    const json::object& policy = *object_at(*task.raw, "partitionPolicy");
    json::object out{{"name", task.name},
                     {"subGroupSize", task.partition_size},
                     {"labelSelector", {{"matchLabels", {{"volcano.sh/task-spec", task.name}}}}},
                     {"matchLabelKeys", json::array{"volcano.sh/partition-id"}}};
    if (const json::value* least = policy.if_contains("minPartitions")) {
        out["minSubGroups"] = *least;
    }
    if (const json::value* topology = policy.if_contains("networkTopology")) {
        out["networkTopology"] = *topology;
    }
    return out;
}

}  // namespace

std::string pod_name(const json::object& job, std::string_view task, std::int64_t index) {
    return fmt::format("{}-{}-{}", text_at(job, "metadata.name"), task, index);
}

std::string pod_group_name(const json::object& job) {
    return fmt::format("{}-{}", text_at(job, "metadata.name"), uid_of(job));
}

json::object make_pod(const json::object& job, const JobSpec& spec, const PodPlace& place) {
    const TaskSpec& task = place.task;
    const json::object* template_ = object_at(*task.raw, "template");
    json::object pod{{"apiVersion", "v1"}, {"kind", "Pod"}};
    const std::string_view job_name = text_at(job, "metadata.name");
    const std::string_view space = text_at(job, "metadata.namespace");
    const std::string index = std::to_string(place.index);

    json::object& metadata = child(pod, "metadata");
    metadata["name"] = pod_name(job, task.name, place.index);
    metadata["namespace"] = space;
    metadata["ownerReferences"] = owned_by(job);
    json::object labels;
    json::object annotations;
    json::object pod_spec;
    if (template_ != nullptr) {
        if (const json::object* own = object_at(*template_, "metadata.labels")) { labels = *own; }
        if (const json::object* own = object_at(*template_, "metadata.annotations")) {
            annotations = *own;
        }
        if (const json::object* own = object_at(*template_, "spec")) { pod_spec = *own; }
    }
    labels["volcano.sh/job-name"] = job_name;
    labels["volcano.sh/job-namespace"] = space;
    labels["volcano.sh/queue-name"] = spec.queue;
    labels["volcano.sh/task-spec"] = task.name;
    labels["volcano.sh/task-index"] = index;
    if (task.partition_size > 0) {
        labels["volcano.sh/partition-id"] = std::to_string(place.index / task.partition_size);
    }
    annotations["scheduling.k8s.io/group-name"] = pod_group_name(job);
    annotations["volcano.sh/task-spec"] = task.name;
    annotations["volcano.sh/task-index"] = index;
    annotations["volcano.sh/job-name"] = job_name;
    annotations["volcano.sh/job-version"] = std::to_string(place.version);
    annotations["volcano.sh/queue-name"] = spec.queue;
    annotations["volcano.sh/template-uid"] = fmt::format("{}-{}", uid_of(job), task.name);

    metadata["labels"] = std::move(labels);
    metadata["annotations"] = std::move(annotations);
    if (text_at(pod_spec, "schedulerName").empty()) { pod_spec["schedulerName"] = spec.scheduler; }
    const std::string_view priority = text_at(*spec.raw, "priorityClassName");
    if (!priority.empty() && text_at(pod_spec, "priorityClassName").empty()) {
        pod_spec["priorityClassName"] = priority;
    }
    mount_volumes(pod_spec, spec);
    pod["spec"] = std::move(pod_spec);
    wire_pod(pod, job, spec, place.index);
    return pod;
}

json::object pod_group_spec(const json::object& job, const JobSpec& spec, const PodCounts& counts) {
    std::int64_t waiting = 0;
    const bool takes_all = spec.minimum >= spec.tasks_minimum();
    json::object roles;
    json::array partitions;
    for (const TaskSpec& task : spec.tasks) {
        if (!is_released(task, spec, counts)) {
            waiting += takes_all ? task.minimum() : task.replicas;
            continue;
        }
        if (task.own_minimum || takes_all) { roles[task.name] = task.minimum(); }
        if (task.partition_size > 0) { partitions.emplace_back(sub_group(task)); }
    }
    // What there is to count, when not every member has to be there.
    const std::int64_t most = takes_all ? spec.minimum : spec.replicas;
    json::object out{{"minMember", std::min(spec.minimum, most - waiting)},
                     {"queue", spec.queue},
                     {"minResources", min_resources(spec)}};
    if (!roles.empty()) { out["minTaskMember"] = std::move(roles); }
    if (!partitions.empty()) { out["subGroupPolicy"] = std::move(partitions); }
    for (const std::string_view key : {"priorityClassName", "networkTopology"}) {
        if (const json::value* value = value_at(job, fmt::format("spec.{}", key))) {
            out[key] = *value;
        }
    }
    return out;
}

json::object make_pod_group(const json::object& job, json::object spec) {
    json::object annotations;
    if (const json::object* own = object_at(job, "metadata.annotations")) {
        annotations = *own;
        annotations.erase("kubectl.kubernetes.io/last-applied-configuration");
    }
    json::object labels;
    if (const json::object* own = object_at(job, "metadata.labels")) { labels = *own; }
    json::object out{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                     {"kind", "PodGroup"},
                     {"metadata",
                      {{"name", pod_group_name(job)},
                       {"namespace", text_at(job, "metadata.namespace")},
                       {"ownerReferences", owned_by(job)}}},
                     {"spec", std::move(spec)}};
    json::object& metadata = child(out, "metadata");
    if (!annotations.empty()) { metadata["annotations"] = std::move(annotations); }
    if (!labels.empty()) { metadata["labels"] = std::move(labels); }
    return out;
}

}  // namespace muster::lab::volcano
