// The claims of a pod on storage: which nodes they leave it, and why it must wait for them. As
// kube-scheduler's volume binding has it.
#pragma once

#include "dialect/kubernetes_around.h"
#include "dialect/kubernetes_scope.h"
#include "model/task.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::dialect {

/// What a claim means for the pods that name it.
struct ClaimView {
    std::string refusal;          // empty: it can be kept
    bool is_anywhere = true;      // else one of `terms` must hold
    std::vector<NodeTerm> terms;  // of nodes
    bool is_exclusive = false;    // ReadWriteOncePod: one pod at a time
    std::string driver;           // of which nodes attach so many volumes; empty: no matter

    bool operator==(const ClaimView&) const = default;
};
ClaimView view_of(const Surroundings& around, std::string_view claim);

/// `pod` is empty of a template. To `amounts` come those volumes that nodes count. The claims are
/// looked at: also those that are made for a pod's generic ephemeral volumes.
void read_volumes(const Field& spec, std::string_view pod, TaskSpec& task,
                  std::vector<Amount>& amounts, const Scope& scope);

/// What is to be written before a pod with unbound claims is bound to a node.
struct VolumeStep {
    std::string claim;   // "namespace/name"
    std::string uid;     // of the claim
    std::string volume;  // to be kept for it; empty: the claim is told the node
    std::string volume_uid;
    std::string volume_version;
};
struct VolumeSteps {
    bool is_ready = true;  // all claims are bound
    std::vector<VolumeStep> steps;
};
/// `labels` are the node's.
VolumeSteps steps_before_bind(const Surroundings& around, const std::vector<std::string>& claims,
                              const std::string& node, const std::vector<Label>& labels);

}  // namespace muster::dialect
