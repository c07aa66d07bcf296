// What is told of a run of jobs, for people and for programs.
#pragma once

#include "cli/table.h"
#include "sim/job_measures.h"

#include <string>

namespace muster::cli {

std::string job_json(const sim::JobTrace& trace, const sim::JobRun& run,
                     const sim::JobMeasures& measures);
std::string job_table(const sim::JobTrace& trace, const sim::JobRun& run,
                      const sim::JobMeasures& measures, const Paint& paint);

}  // namespace muster::cli
