// What the verbs tell of a cluster, whoever holds it: one loaded from files, or the trial of a
// scheduler that runs. Each writes to `terminal.out` as the verb does and returns its exit code.
#pragma once

#include "base/result.h"
#include "cli/cluster.h"
#include "cli/options.h"
#include "cli/run.h"
#include "engine/world.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace muster::cli {

/// What a cluster says of a workload besides.
using Notes = std::function<std::vector<std::string>(const std::string& workload)>;

/// `job`: its full name, or the only one that ends with "/job". The cluster's engine is asked
/// questions that change it. `notes` may be null.
Result<int> tell_why(Cluster& cluster, const std::string& job, Format format, Terminal& terminal,
                     const Notes& notes = {});
/// The jobs are submitted to the cluster's engine.
Result<int> tell_plan(Cluster& cluster, std::span<const SourceText> sources,
                      std::int32_t sensitivity_percent, Format format, Terminal& terminal);
std::string version_json();
Result<int> tell_shapes(const World& world, Format format, Terminal& terminal);
Result<int> tell_queues(const World& world, Format format, Terminal& terminal);

}  // namespace muster::cli
