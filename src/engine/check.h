// Is a fact's content sound? Checked before anything changes; the message names the thing, what is
// wrong, and what was expected.
#pragma once

#include "base/result.h"
#include "model/lease.h"
#include "model/node.h"
#include "model/workload.h"

#include <vector>

namespace muster {

Result<> check_name(std::string_view what, std::string_view name);
Result<> check_levels(const std::vector<Level>& levels);
Result<> check_node(const NodeSpec& node);
Result<> check_workload(const WorkloadSpec& workload);
Result<> check_lease(const LeaseSpec& lease);

}  // namespace muster
