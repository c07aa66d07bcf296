// The Standard Workload Format of the Parallel Workloads Archive: 18 fields a line, separated by
// blanks, −1 for what is not known; lines that begin with ';' are the header.
#pragma once

#include "dialect/job_trace.h"

namespace muster::dialect {

/// Size is the processors requested, else those allocated. Further fields, as some logs have them,
/// are left alone; a negative run time is an unknown one. `processors` is MaxProcs of the header.
Result<JobTrace> read_swf(std::string_view file, std::string_view text);

}  // namespace muster::dialect
