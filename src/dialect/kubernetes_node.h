// Nodes, levels of the topology, priority classes and Volcano's queues.
#pragma once

#include "dialect/hypernode.h"
#include "dialect/kubernetes_scope.h"
#include "model/node.h"
#include "model/queue.h"

namespace muster::dialect {

NodeSpec read_node(const Field& node, const Scope& scope);
/// What a node tells about the cluster, needed before any pod is read.
void learn_from_node(const NodeSpec& node, KubernetesContext& context);

PriorityClass read_priority_class(const Field& object);

/// Kueue's and KAI's Topology: label keys, outermost first. A level is called what follows the '/'.
std::vector<Level> read_levels(const Field& topology);

HyperNode read_hypernode(const Field& object);

QueueSpec read_volcano_queue(const Field& queue, const Scope& scope);
/// A resource list in the units of a Quota: GPUs of all vendors as "gpu" in milli-GPU.
Quota read_quota(const Field& list);

}  // namespace muster::dialect
