// Fake nodes as objects of the API: what GPU nodes of known fleets look like to Kubernetes, with
// the labels of the GPU operator and of Topograph.
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <string_view>
#include <vector>

namespace muster::lab {

/// "2x4": two nodes of four GPUs each.
Result<std::vector<boost::json::object>> plain_fleet(std::string_view nodes);
/// "h100-superpod:4" (units of 32 nodes of 8), "gb200-nvl72:8" (racks of 18 nodes of 4),
/// "a100-mixed:16" (nodes; every second one cut by MIG).
Result<std::vector<boost::json::object>> known_fleet(std::string_view like);
/// nvidia.com/gpu=present:NoSchedule on nodes with GPUs, as clouds set it: pods tolerate it or stay
/// away.
void taint_gpu_nodes(std::vector<boost::json::object>& nodes);

}  // namespace muster::lab
