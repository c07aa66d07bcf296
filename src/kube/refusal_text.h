// What users read of a decision: the sentences that `kubectl describe` shows. Pure.
#pragma once

#include "model/plan.h"
#include "model/workload.h"

#include <cstdint>
#include <string>

namespace muster::kube {

/// Of one pod that fits on no node, as Kubernetes begins it, with the reason's own sentence: "0/2
/// nodes are available: 2 Insufficient nvidia.com/gpu. no node has 8 gpu; largest 4"; of all else
/// that sentence alone. `task` is the pod's.
std::string pod_refusal_text(const Reason& reason, const TaskSpec& task, bool is_alone);

struct GangCounts {
    std::int64_t all = 0;
    std::int64_t pending = 0;
    std::int64_t finished = 0;
    std::int64_t minimum = 0;
};
/// Of a Volcano PodGroup, as Volcano begins it, with the reason's own sentence: "2/10 tasks in gang
/// unschedulable: pod group is not ready, 10 Pending, 10 minAvailable; Pending: 2 Unschedulable, 8
/// Schedulable. 10 tasks of 1 gpu; room for 8".
std::string gang_refusal_text(const Reason& reason, const GangCounts& gang);

}  // namespace muster::kube
