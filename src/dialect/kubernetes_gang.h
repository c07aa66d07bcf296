// Puts pods and the objects that bind them together: which workload each pod belongs to, the
// workload's group tree, and where its tasks already run. The last step of a reading.
#pragma once

#include "dialect/kubernetes.h"
#include "dialect/kubernetes_group.h"
#include "dialect/kubernetes_job.h"
#include "dialect/kubernetes_pod.h"

#include <variant>
#include <vector>

namespace muster::dialect {

/// Everything that was read, in the order of the documents.
using DemandItem = std::variant<DeclaredJob, GroupObject, PodItem>;

struct Demand {
    std::vector<WorkloadSpec> workloads;
    std::vector<Place> places;         // of each workload
    std::vector<std::size_t> origins;  // of each workload: the item at which it was made
    std::vector<Fact> bindings;        // TaskBound and TaskGone, after all workloads
    std::vector<PodTask> pods;
    std::vector<RefusedWorkload> refused;
};

/// Waiting pods count only when one of our schedulers has them; without options everything is ours
/// and new.
Demand assemble(std::vector<DemandItem> items, const ClusterOptions* options, Notes& notes);

}  // namespace muster::dialect
