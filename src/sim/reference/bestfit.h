// Best fit as the FGD study has it: the node on which the least CPU and GPU would remain, each
// against the largest node of the trace, 128 cores and 8 GPUs.
#pragma once

#include "sim/reference/cluster.h"

namespace muster::sim {

/// floor(100 (1 - 0.5 cpu / 128000 - 0.5 gpu / 8000)) of what would remain.
[[nodiscard]] Scored best_fit(const ReferenceNode& node, const Request& request);

}  // namespace muster::sim
