#include "dialect/tiresias.h"

#include "dialect/csv_jobs.h"

namespace muster::dialect {

namespace {

enum TiresiasColumn : std::size_t {
    tiresias_id,
    tiresias_gpus,
    tiresias_submit,
    tiresias_duration = 5
};

Result<Job> read_job(const CsvReader& csv) {
    MUSTER_TRY(gpus, csv.number(tiresias_gpus, 1, job_size_max));
    MUSTER_TRY(submit, csv.number(tiresias_submit, 0, trace_seconds_max));
    MUSTER_TRY(run, csv.number(tiresias_duration, 0, trace_seconds_max));
    return Job{.name = std::string(csv.field(tiresias_id)),
               .submit_s = submit,
               .run_s = run,
               .size = gpus};
}

}  // namespace

Result<JobTrace> read_tiresias(std::string_view file, std::string_view text) {
    CsvReader csv(file, text);
    MUSTER_CHECK(csv.read_header());
    MUSTER_CHECK(csv.expect_header(
        {"job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration", "interval"}));
    return read_csv_jobs(csv, read_job);
}

}  // namespace muster::dialect
