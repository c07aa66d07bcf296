#include "lab/resources.h"

#include "base/text.h"

#include <algorithm>
#include <cstdint>

namespace muster::lab {

namespace {

enum class Scope : std::uint8_t { cluster, in_namespace, question };

struct ResourceRow {
    std::string_view group;
    std::string_view version;
    std::string_view kind;
    std::string_view plural;
    Scope scope = Scope::in_namespace;
    std::string_view subresources;  // words, as the next two
    std::string_view short_names;
    std::string_view categories;
};

constexpr std::string_view volcano_scheduling = "scheduling.volcano.sh";
constexpr std::string_view upstream_scheduling = "scheduling.k8s.io";

// clang-format off
/// Clients take the first group that knows a word: `events` is core's, `jobs` is batch's, and
/// `podgroups` is Volcano's. Its status is a subresource here, which Volcano's own definition does
/// not have, so that all groups are written alike.
constexpr ResourceRow rows[] = {
    {"", "v1", "ConfigMap", "configmaps", Scope::in_namespace, "", "cm", ""},
    {"", "v1", "Event", "events", Scope::in_namespace, "", "ev", ""},
    {"", "v1", "LimitRange", "limitranges", Scope::in_namespace, "", "limits", ""},
    {"", "v1", "Namespace", "namespaces", Scope::cluster, "finalize status", "ns", ""},
    {"", "v1", "Node", "nodes", Scope::cluster, "status", "no", ""},
    {"", "v1", "Pod", "pods", Scope::in_namespace, "attach binding eviction exec log portforward status", "po", "all"},
    {"", "v1", "ResourceQuota", "resourcequotas", Scope::in_namespace, "status", "quota", ""},
    {"", "v1", "Secret", "secrets", Scope::in_namespace, "", "", ""},
    {"", "v1", "ServiceAccount", "serviceaccounts", Scope::in_namespace, "", "sa", ""},
    {"", "v1", "Service", "services", Scope::in_namespace, "status", "svc", "all"},
    {"apps", "v1", "Deployment", "deployments", Scope::in_namespace, "scale status", "deploy", "all"},
    {"apps", "v1", "ReplicaSet", "replicasets", Scope::in_namespace, "scale status", "rs", "all"},
    {"apps", "v1", "StatefulSet", "statefulsets", Scope::in_namespace, "scale status", "sts", "all"},
    {"events.k8s.io", "v1", "Event", "events", Scope::in_namespace, "", "ev", ""},
    {"authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", Scope::question, "", "", ""},
    {"authentication.k8s.io", "v1", "TokenReview", "tokenreviews", Scope::question, "", "", ""},
    {"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", Scope::question, "", "", ""},
    {"authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", Scope::question, "", "", ""},
    {"authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", Scope::question, "", "", ""},
    {"batch", "v1", "CronJob", "cronjobs", Scope::in_namespace, "status", "cj", "all"},
    {"batch", "v1", "Job", "jobs", Scope::in_namespace, "status", "", "all"},
    {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", Scope::in_namespace, "status", "pdb", ""},
    {"batch.volcano.sh", "v1alpha1", "Job", "jobs", Scope::in_namespace, "status", "vcjob vj", ""},
    {volcano_scheduling, "v1beta1", "PodGroup", "podgroups", Scope::in_namespace, "status", "pg podgroup-v1beta1", ""},
    {volcano_scheduling, "v1beta1", "Queue", "queues", Scope::cluster, "status", "q queue-v1beta1", ""},
    {"topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes", Scope::cluster, "status", "hn", ""},
    {"bus.volcano.sh", "v1alpha1", "Command", "commands", Scope::in_namespace, "", "", ""},
    {upstream_scheduling, "v1", "PriorityClass", "priorityclasses", Scope::cluster, "", "pc", ""},
    {upstream_scheduling, "v1beta1", "PodGroup", "podgroups", Scope::in_namespace, "status", "", ""},
    {upstream_scheduling, "v1beta1", "Workload", "workloads", Scope::in_namespace, "", "", ""},
    {upstream_scheduling, "v1alpha3", "CompositePodGroup", "compositepodgroups", Scope::in_namespace, "status", "", ""},
    {"coordination.k8s.io", "v1", "Lease", "leases", Scope::in_namespace, "", "", ""},
    {"resource.k8s.io", "v1", "DeviceClass", "deviceclasses", Scope::cluster, "", "", ""},
    {"resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", Scope::in_namespace, "status", "", ""},
    {"resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", Scope::in_namespace, "", "", ""},
    {"resource.k8s.io", "v1", "ResourceSlice", "resourceslices", Scope::cluster, "", "", ""},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", Scope::cluster, "status", "crd crds", "api-extensions"},
};
// clang-format on

std::vector<std::string> list_of_words(std::string_view text) {
    std::vector<std::string> out;
    for (const std::string_view word : words(text)) { out.emplace_back(word); }
    return out;
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    return out;
}

std::vector<ResourceType> read_rows() {
    std::vector<ResourceType> out;
    for (const ResourceRow& row : rows) {
        out.push_back(ResourceType{.group = std::string(row.group),
                                   .version = std::string(row.version),
                                   .kind = std::string(row.kind),
                                   .plural = std::string(row.plural),
                                   .singular = lower(row.kind),
                                   .short_names = list_of_words(row.short_names),
                                   .categories = list_of_words(row.categories),
                                   .is_namespaced = row.scope == Scope::in_namespace,
                                   .subresources = list_of_words(row.subresources),
                                   .is_custom = false,
                                   .is_create_only = row.scope == Scope::question});
    }
    return out;
}

}  // namespace

bool ResourceType::has(std::string_view subresource) const {
    return std::ranges::find(subresources, subresource) != subresources.end();
}

std::span<const ResourceType> built_in_resources() {
    static const std::vector<ResourceType> all = read_rows();
    return all;
}

}  // namespace muster::lab
