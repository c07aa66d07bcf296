// A running cluster, read once.
#pragma once

#include "base/result.h"
#include "cli/options.h"
#include "dialect/kubernetes.h"

namespace muster::cli {

/// As of one moment. Objects that can't be read are left out and told as warnings; they are
/// somebody else's to mend.
Result<dialect::ClusterInput> read_live(const LiveOptions& options);

}  // namespace muster::cli
