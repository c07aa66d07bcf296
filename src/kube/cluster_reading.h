// The texts of a cluster's objects, read as one listing. What can't be read is left out and told,
// so that one bad object stops nobody else's. Pure.
//
// All of it is read each time: about as long as parsing the texts takes, 10 µs per pod or so.
#pragma once

#include "control/listing.h"
#include "dialect/kubernetes.h"
#include "kube/cluster_objects.h"
#include "kube/task_table.h"

#include <map>
#include <string>
#include <vector>

namespace muster::kube {

/// An object, and what is wrong with it.
struct Problem {
    ObjectKey object;
    std::string text;

    auto operator<=>(const Problem&) const = default;
};

struct ClusterState {
    Listing listing;                              // without runs: see task_table.h
    std::map<std::string, TaskPods> pods;         // by workload, numbered as they were read
    std::map<std::string, std::string> machines;  // uid of each node
    std::vector<Problem> malformed;               // left out, or a part of it is
    std::vector<Problem> refused;                 // asks for what can't be kept
};

ClusterState read_state(const std::map<ObjectKey, std::string>& texts,
                        const dialect::ClusterOptions& options);

}  // namespace muster::kube
