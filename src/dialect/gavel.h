// Gavel's traces: tab-separated, 7 fields (simulated) or 10 (physical cluster), no header. They
// count steps; a table of speeds by GPU type tells how many a job makes in a second.
#pragma once

#include "dialect/job_trace.h"

#include <map>
#include <utility>

namespace muster::dialect {

/// Steps per second of a job that is alone on its GPUs, by job type and number of GPUs.
using GavelSpeeds = std::map<std::pair<std::string, std::int64_t>, double>;

/// The part of simulation_throughputs.json about one GPU type.
Result<GavelSpeeds> read_gavel_speeds(std::string_view file, std::string_view text,
                                      std::string_view gpu);

/// A job of more GPUs than the table has for its type runs at the speed of the most that it has.
/// The job type is the user; of physical-cluster traces the priority weight is the class.
Result<JobTrace> read_gavel(std::string_view file, std::string_view text,
                            const TraceExtras& extras);

}  // namespace muster::dialect
