// The cleaned Philly list of the Sia artifact: timestamp, duration, num_gpus, gpu_time, cluster.
// Not sorted; a job's virtual cluster is its queue.
#pragma once

#include "dialect/job_trace.h"

namespace muster::dialect {

/// Times in seconds since 1970. A job is named after its line.
Result<JobTrace> read_philly(std::string_view file, std::string_view text);

}  // namespace muster::dialect
