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
