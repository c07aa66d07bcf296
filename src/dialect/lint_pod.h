// Slips inside one object that has pods: scheduler, limits, restart policy, minima. Looks at the
// text as it stands, so that what a reader would refuse or fill in is still seen.
#pragma once

#include "codec/field.h"
#include "dialect/lint.h"

#include <vector>

namespace muster::dialect {

void lint_object(const Document& document, std::vector<Finding>& findings);

/// PodGroups against the jobs and pods that stand in the same files.
void lint_groups(const Documents& documents, std::vector<Finding>& findings);

}  // namespace muster::dialect
