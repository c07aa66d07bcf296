#include "dialect/philly.h"

#include "dialect/csv_jobs.h"
#include "dialect/trace_time.h"

#include <fmt/core.h>

namespace muster::dialect {

namespace {

enum PhillyColumn : std::size_t { philly_time, philly_duration, philly_gpus, philly_cluster = 4 };

Result<Job> read_job(const CsvReader& csv) {
    MUSTER_TRY(submit, csv.at(philly_time, parse_civil_time(csv.field(philly_time))));
    MUSTER_TRY(run, csv.at(philly_duration, parse_decimal_seconds(csv.field(philly_duration))));
    MUSTER_TRY(gpus, csv.number(philly_gpus, 1, job_size_max));
    return Job{.name = fmt::format("{}", csv.line()),
               .queue = std::string(csv.field(philly_cluster)),
               .submit_s = submit,
               .run_s = run,
               .size = gpus};
}

}  // namespace

Result<JobTrace> read_philly(std::string_view file, std::string_view text) {
    while (text.ends_with("\n\n")) { text.remove_suffix(1); }  // the published file ends so
    CsvReader csv(file, text);
    MUSTER_CHECK(csv.read_header());
    MUSTER_CHECK(csv.expect_header({"timestamp", "duration", "num_gpus", "gpu_time", "cluster"}));
    return read_csv_jobs(csv, read_job);
}

}  // namespace muster::dialect
