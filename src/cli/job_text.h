// What is told of a run of jobs, for people and for programs.
#pragma once

#include "cli/table.h"
#include "sim/job_measures.h"

#include <string>
#include <string_view>

namespace muster {
class JsonWriter;
}

namespace muster::cli {

/// The members of the object that is open: measures, and who decided.
void write_measures(JsonWriter& out, const sim::JobRun& run, const sim::JobMeasures& measures);
/// "mean_wait_s" … "max_wait_s"
void write_spread(JsonWriter& out, std::string_view what, const sim::Spread& spread);
void write_decimal(JsonWriter& out, std::string_view name, double number);

std::string job_json(const sim::JobTrace& trace, const sim::JobRun& run,
                     const sim::JobMeasures& measures);
std::string job_table(const sim::JobTrace& trace, const sim::JobRun& run,
                      const sim::JobMeasures& measures, const Paint& paint);

}  // namespace muster::cli
