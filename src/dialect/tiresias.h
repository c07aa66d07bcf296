// Tiresias' traces: job_id, num_gpu, submit_time, iterations, model_name, duration, interval.
#pragma once

#include "dialect/job_trace.h"

namespace muster::dialect {

Result<JobTrace> read_tiresias(std::string_view file, std::string_view text);

}  // namespace muster::dialect
