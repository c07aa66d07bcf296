// A running cluster, read once.
#pragma once

#include "base/result.h"
#include "cli/options.h"
#include "dialect/kubernetes.h"

#include <string>
#include <vector>

namespace muster::cli {

/// As of one moment. Objects that can't be read are left out and told as warnings; they are
/// somebody else's to mend.
Result<dialect::ClusterInput> read_live(const LiveOptions& options);

/// The namespace of the context; "default" where none is found.
std::string namespace_of_context(const LiveOptions& options);

/// What the group of that workload says of its state now; see kube/group_notes.h.
std::vector<std::string> read_notes(const LiveOptions& options, const std::string& workload);

}  // namespace muster::cli
