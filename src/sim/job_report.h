// A run of jobs as one page: HTML with everything inside, plots as SVG, no script, light or dark as
// the reader has it. However long the trace, the page stays below report_bytes_max.
#pragma once

#include "sim/job_measures.h"

#include <cstddef>
#include <string>

namespace muster::sim {

inline constexpr std::size_t report_bytes_max = std::size_t{1} << 20;

std::string job_report(const JobTrace& trace, const JobRun& run, const JobMeasures& measures);

}  // namespace muster::sim
