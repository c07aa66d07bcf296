#include "dialect/csv_jobs.h"

#include <fmt/core.h>

#include <utility>

namespace muster::dialect {

Result<JobTrace> read_csv_jobs(CsvReader& csv, Result<Job> (*read)(const CsvReader&)) {
    JobTrace trace{.name = csv.file(), .unit = JobUnit::gpu};
    for (;;) {
        MUSTER_TRY(is_there, csv.next());
        if (!is_there) { return trace; }
        MUSTER_TRY(job, read(csv));
        if (trace.jobs.size() == trace_jobs_max) {
            return fail(Code::limit,
                        fmt::format("{}: expected at most {} jobs", csv.place(), trace_jobs_max));
        }
        trace.jobs.push_back(std::move(job));
    }
}

}  // namespace muster::dialect
