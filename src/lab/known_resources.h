// The resources that the lab's kubelets and controllers call by.
#pragma once

#include "kube/client.h"

namespace muster::lab::known {

inline const kube::Resource pods{.group = "", .version = "v1", .plural = "pods"};
inline const kube::Resource nodes{.group = "", .version = "v1", .plural = "nodes"};
inline const kube::Resource jobs{.group = "batch", .version = "v1", .plural = "jobs"};
inline const kube::Resource cron_jobs{.group = "batch", .version = "v1", .plural = "cronjobs"};
inline const kube::Resource replica_sets{.group = "apps", .version = "v1", .plural = "replicasets"};
inline const kube::Resource deployments{.group = "apps", .version = "v1", .plural = "deployments"};
inline const kube::Resource stateful_sets{
    .group = "apps", .version = "v1", .plural = "statefulsets"};
inline const kube::Resource leases{
    .group = "coordination.k8s.io", .version = "v1", .plural = "leases"};
inline const kube::Resource config_maps{.group = "", .version = "v1", .plural = "configmaps"};
inline const kube::Resource services{.group = "", .version = "v1", .plural = "services"};
inline const kube::Resource namespaces{.group = "", .version = "v1", .plural = "namespaces"};
inline const kube::Resource service_accounts{
    .group = "", .version = "v1", .plural = "serviceaccounts"};
inline const kube::Resource secrets{.group = "", .version = "v1", .plural = "secrets"};
inline const kube::Resource disruption_budgets{
    .group = "policy", .version = "v1", .plural = "poddisruptionbudgets"};
inline const kube::Resource resource_claims{
    .group = "resource.k8s.io", .version = "v1", .plural = "resourceclaims"};
inline const kube::Resource resource_claim_templates{
    .group = "resource.k8s.io", .version = "v1", .plural = "resourceclaimtemplates"};
inline const kube::Resource definitions{
    .group = "apiextensions.k8s.io", .version = "v1", .plural = "customresourcedefinitions"};
// Of scheduler-plugins, when its definition is there:
inline const kube::Resource plugin_groups{
    .group = "scheduling.x-k8s.io", .version = "v1alpha1", .plural = "podgroups"};
// Volcano's:
inline const kube::Resource volcano_jobs{
    .group = "batch.volcano.sh", .version = "v1alpha1", .plural = "jobs"};
inline const kube::Resource pod_groups{
    .group = "scheduling.volcano.sh", .version = "v1beta1", .plural = "podgroups"};
inline const kube::Resource queues{
    .group = "scheduling.volcano.sh", .version = "v1beta1", .plural = "queues"};
inline const kube::Resource commands{
    .group = "bus.volcano.sh", .version = "v1alpha1", .plural = "commands"};

}  // namespace muster::lab::known
