#include "dialect/swf.h"

#include "base/text.h"
#include "dialect/csv.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::dialect {

namespace {

constexpr std::size_t swf_fields = 18;
enum SwfField : std::size_t {
    swf_name = 0,
    swf_submit = 1,
    swf_run = 3,
    swf_allocated = 4,
    swf_requested = 7,
    swf_requested_s = 8,
    swf_user = 11,
    swf_queue = 14,
};

/// One line of jobs, and where it stands.
struct Line {
    std::string_view file;
    std::size_t number = 0;
    std::vector<std::string_view> fields;

    [[nodiscard]] Result<std::int64_t> read(SwfField field, std::string_view what, std::int64_t low,
                                            std::int64_t high) const {
        auto value = parse_int(what, fields[field], low, high);
        if (!value) {
            return tl::unexpected(std::move(value).error().wrap(
                fmt::format("{} line {}, field {}", file, number, field + 1)));
        }
        return value;
    }
    [[nodiscard]] std::string text(SwfField field) const {
        return fields[field] == "-1" ? std::string() : std::string(fields[field]);
    }
};

Result<Job> read_job(const Line& line) {
    MUSTER_TRY(submit, line.read(swf_submit, "submit time", 0, trace_seconds_max));
    MUSTER_TRY(run, line.read(swf_run, "run time", -trace_seconds_max, trace_seconds_max));
    MUSTER_TRY(allocated, line.read(swf_allocated, "allocated processors", -1, job_size_max));
    MUSTER_TRY(requested, line.read(swf_requested, "requested processors", -1, job_size_max));
    MUSTER_TRY(limit, line.read(swf_requested_s, "requested time", -1, trace_seconds_max));
    return Job{.name = line.text(swf_name),
               .user = line.text(swf_user),
               .queue = line.text(swf_queue),
               .submit_s = submit,
               .run_s = std::max<std::int64_t>(-1, run),
               .requested_s = limit,
               .size = requested > 0 ? requested : allocated};
}

/// "; MaxProcs: 100" → 100; 0 when the line is about something else.
std::int64_t processors_of(std::string_view comment) {
    constexpr std::string_view key = "; MaxProcs:";
    if (!comment.starts_with(key)) { return 0; }
    const auto count = parse_int(trim(comment.substr(key.size())));
    return count && *count > 0 && *count <= job_size_max ? *count : 0;
}

}  // namespace

Result<JobTrace> read_swf(std::string_view file, std::string_view text) {
    JobTrace trace{.name = std::string(file), .unit = JobUnit::processor};
    Line line{.file = file};
    while (!text.empty()) {
        ++line.number;
        const std::string_view bytes = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), bytes.size() + 1));
        if (bytes.size() > csv_line_bytes_max) {
            return fail(Code::limit, fmt::format("{} line {}: {} bytes; expected at most {}", file,
                                                 line.number, bytes.size(), csv_line_bytes_max));
        }
        const std::string_view content = trim(bytes);
        if (content.starts_with(';')) {
            trace.processors = std::max(trace.processors, processors_of(content));
            continue;
        }
        if (content.empty()) { continue; }
        line.fields = words(content);
        if (line.fields.size() < swf_fields) {
            return fail(Code::invalid, fmt::format("{} line {}: found {} fields; expected {}", file,
                                                   line.number, line.fields.size(), swf_fields));
        }
        MUSTER_TRY(job, read_job(line));
        if (trace.jobs.size() == trace_jobs_max) {
            return fail(Code::limit, fmt::format("{} line {}: expected at most {} jobs", file,
                                                 line.number, trace_jobs_max));
        }
        trace.jobs.push_back(std::move(job));
    }
    return trace;
}

}  // namespace muster::dialect
