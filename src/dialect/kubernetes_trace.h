// What Kubernetes remembers of jobs that have run: `kubectl get jobs,pods -A -o json`.
#pragma once

#include "dialect/job_trace.h"

namespace muster::dialect {

/// Jobs, and pods that no Job of the text owns, in the order of the text; other kinds are left
/// alone. Submitted when created; the run is from the start to the completion (of a pod: until its
/// last container ended), unknown where that is missing. The user is the namespace, the queue is
/// Kueue's label, and the size is the GPUs of all pods together (0 without any).
Result<JobTrace> read_kubernetes_trace(std::string_view file, std::string_view text);

}  // namespace muster::dialect
