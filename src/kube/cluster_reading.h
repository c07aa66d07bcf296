// Texts of a cluster's objects, read together as one listing. What can't be read is left out and
// told, so that one bad object stops nobody else's. Pure. ClusterParts reads a cluster by parts
// that come to the same as all of it at once.
#pragma once

#include "control/listing.h"
#include "dialect/kubernetes.h"
#include "kube/cluster_objects.h"
#include "kube/task_table.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {

/// An object, and what is wrong with it.
struct Problem {
    ObjectKey object;
    std::string text;
    Why why = Why::unknown_constraint;  // or pods_missing, which may pass by itself

    auto operator<=>(const Problem&) const = default;
};

struct ClusterState {
    Listing listing;                              // without runs: see task_table.h
    std::vector<ObjectKey> origins;               // of each workload
    std::map<std::string, TaskPods> pods;         // by workload, numbered as they were read
    std::map<std::string, std::string> machines;  // uid of each node
    std::vector<Problem> malformed;               // left out, or a part of it is
    std::vector<Problem> refused;                 // asks for what can't be kept
    dialect::KubernetesContext context;
};

using Texts = std::map<ObjectKey, std::string>;

/// As the dialect has it. The texts are all that there is in the cluster.
struct ClusterRead {
    dialect::ClusterInput input;
    std::vector<Problem> malformed;  // left out
};
/// Gangs of which too few pods are there are set aside, as the scheduler leaves them waiting.
ClusterRead read_objects(const Texts& texts, dialect::ClusterOptions options);

/// `context` is that of the frame when this is a part without it.
ClusterState read_state(const Texts& texts, const dialect::ClusterOptions& options,
                        const dialect::KubernetesContext& context = {});

}  // namespace muster::kube
