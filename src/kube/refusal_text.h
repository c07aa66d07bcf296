// What users read of a decision: the sentences that `kubectl describe` shows. Pure.
#pragma once

#include "model/plan.h"
#include "model/workload.h"

#include <string>

namespace muster::kube {

/// Of one pod that fits on no node, as Kubernetes says it: "0/2 nodes are available: 2 Insufficient
/// nvidia.com/gpu."; of all else the reason's own sentence. `task` is the pod's.
std::string pod_refusal_text(const Reason& reason, const TaskSpec& task, bool is_alone);

}  // namespace muster::kube
