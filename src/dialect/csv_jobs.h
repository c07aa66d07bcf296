// Every line of a CSV text as a job.
#pragma once

#include "dialect/csv.h"
#include "dialect/job_trace.h"

namespace muster::dialect {

/// The header has been read.
Result<JobTrace> read_csv_jobs(CsvReader& csv, Result<Job> (*read)(const CsvReader&));

}  // namespace muster::dialect
