#include "kube/cluster_kinds.h"

#include "kube/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::kube {

namespace {

const std::array<KindName, object_kind_count>& kinds() {
    static const std::array<KindName, object_kind_count> all{{
        {{"", "v1", "nodes"}, "Node", {}},
        {{"", "v1", "pods"}, "Pod", {}},
        {{"scheduling.k8s.io", "v1", "priorityclasses"}, "PriorityClass", {}},
        {{"batch", "v1", "jobs"}, "Job", {}},
        {{"batch.volcano.sh", "v1alpha1", "jobs"}, "Job", {}},
        {{"scheduling.volcano.sh", "v1beta1", "queues"}, "Queue", {}},
        {{"topology.volcano.sh", "v1alpha1", "hypernodes"}, "HyperNode", {}},
        {{"scheduling.volcano.sh", "v1beta1", "podgroups"}, "PodGroup", {}},
        {{"scheduling.k8s.io", "v1beta1", "podgroups"}, "PodGroup", {"v1alpha3", "v1alpha2"}},
        {{"scheduling.k8s.io", "v1beta1", "compositepodgroups"}, "CompositePodGroup", {"v1alpha3"}},
        {{"scheduling.x-k8s.io", "v1alpha1", "podgroups"}, "PodGroup", {}},
        {{"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "ClusterQueue", {"v1beta1"}},
        {{"kueue.x-k8s.io", "v1beta2", "localqueues"}, "LocalQueue", {"v1beta1"}},
        {{"scheduling.run.ai", "v2", "queues"}, "Queue", {}},
        {{"apps", "v1", "statefulsets"}, "StatefulSet", {}},
        {{"jobset.x-k8s.io", "v1alpha2", "jobsets"}, "JobSet", {}},
        {{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets"}, "LeaderWorkerSet", {}},
        // Of later ones the scheduler needs no Workload.
        {{"scheduling.k8s.io", "v1alpha1", "workloads"}, "Workload", {}},
        {{"", "v1", "persistentvolumeclaims"}, "PersistentVolumeClaim", {}},
        {{"", "v1", "persistentvolumes"}, "PersistentVolume", {}},
        {{"storage.k8s.io", "v1", "storageclasses"}, "StorageClass", {}},
        {{"storage.k8s.io", "v1", "csinodes"}, "CSINode", {}},
        {{"", "v1", "namespaces"}, "Namespace", {}},
    }};
    return all;
}

}  // namespace

std::set<ObjectKind> all_kinds() {
    std::set<ObjectKind> out;
    for (std::size_t i = 0; i < object_kind_count; ++i) { out.insert(static_cast<ObjectKind>(i)); }
    return out;
}

std::string api_version_of(const Resource& resource) {
    return resource.group.empty() ? resource.version
                                  : fmt::format("{}/{}", resource.group, resource.version);
}

std::string KindName::api_version() const { return api_version_of(resource); }

const KindName& name_of(ObjectKind kind) { return kinds().at(static_cast<std::size_t>(kind)); }

bool is_frame(ObjectKind kind) {
    return kind == ObjectKind::node || kind == ObjectKind::priority_class ||
           kind == ObjectKind::hypernode || kind == ObjectKind::volcano_queue ||
           kind == ObjectKind::kueue_queue || kind == ObjectKind::kueue_local_queue ||
           kind == ObjectKind::kai_queue;
}

namespace {

constexpr std::array owners{ObjectKind::batch_job, ObjectKind::job_set,
                            ObjectKind::leader_worker_set, ObjectKind::stateful_set};

}  // namespace

bool is_owner(ObjectKind kind) {
    return std::find(owners.begin(), owners.end(), kind) != owners.end();
}

std::function<bool(std::string_view, std::string_view)> owners_by(
    std::function<bool(const ObjectKey&)> is_there) {
    return [is_there = std::move(is_there)](std::string_view kind, std::string_view name) {
        const auto found = std::find_if(owners.begin(), owners.end(),
                                        [&](ObjectKind one) { return name_of(one).kind == kind; });
        return found == owners.end() || is_there({*found, object_name(std::string(name))});
    };
}

bool is_around(ObjectKind kind) {
    return kind == ObjectKind::claim || kind == ObjectKind::volume ||
           kind == ObjectKind::storage_class || kind == ObjectKind::csi_node ||
           kind == ObjectKind::name_space;
}

std::string ObjectKey::text() const {
    const KindName& of = name_of(kind);
    const std::string where = name.first.empty() ? "" : name.first + "/";
    // Jobs and groups of several dialects have one kind.
    const bool is_core = of.resource.group.empty();
    return is_core ? fmt::format("{} {}{}", of.kind, where, name.second)
                   : fmt::format("{} {}{} of {}", of.kind, where, name.second, of.resource.group);
}

}  // namespace muster::kube
