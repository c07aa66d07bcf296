// What the verbs tell of a cluster, whoever holds it: one loaded from files, or the trial of a
// scheduler that runs. Each writes to `terminal.out` as the verb does and returns its exit code.
#pragma once

#include "base/result.h"
#include "cli/cluster.h"
#include "cli/options.h"
#include "cli/run.h"
#include "engine/world.h"

#include <cstdint>
#include <span>
#include <string>

namespace muster::cli {

/// `job`: its full name, or the only one that ends with "/job". The cluster's engine is asked
/// questions that change it.
Result<int> tell_why(Cluster& cluster, const std::string& job, Format format, Terminal& terminal);
/// The jobs are submitted to the cluster's engine.
Result<int> tell_plan(Cluster& cluster, std::span<const SourceText> sources,
                      std::int32_t sensitivity_percent, Format format, Terminal& terminal);
std::string version_json();
Result<int> tell_shapes(const World& world, Format format, Terminal& terminal);
Result<int> tell_queues(const World& world, Format format, Terminal& terminal);

}  // namespace muster::cli
