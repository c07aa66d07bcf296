// Where a pod may and would like to run: selectors, affinity, tolerations. What can't be kept is
// named in the scope's unsupported list.
#pragma once

#include "dialect/kubernetes_scope.h"
#include "model/task.h"

namespace muster::dialect {

void read_node_affinity(const Field& spec, TaskSpec& task, const Scope& scope);
/// After the task's labels and namespace are known.
void read_pod_affinity(const Field& spec, TaskSpec& task, const Scope& scope);
void read_tolerations(const Field& spec, TaskSpec& task, const Scope& scope);
/// Anti-affinity to all pods with the label, of whatever namespace.
PodTerm away_from(std::string key, std::string_view topology_key);
/// As anti-affinity to pods with the same ports.
void read_host_ports(const Field& spec, TaskSpec& task);
/// After the task's labels are known.
void read_spread(const Field& spec, TaskSpec& task, const Scope& scope);
/// The constraints that Muster does not keep: resource claims, and fields that it does not know.
void refuse_other_constraints(const Field& spec, const Scope& scope);

/// A list of nodeSelectorTerms; those without demands are left out, for they match no node.
std::vector<NodeTerm> read_node_terms(const Field& list);

/// Label selector: matchLabels and matchExpressions.
std::vector<LabelMatch> read_selector(const Field& selector);
bool matches(const std::vector<LabelMatch>& selector, const std::vector<Label>& labels);

}  // namespace muster::dialect
