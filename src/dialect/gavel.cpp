#include "dialect/gavel.h"

#include "base/text.h"
#include "dialect/csv.h"
#include "dialect/trace_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace muster::dialect {

namespace {

/// Where the fields of one of the two widths stand.
struct Layout {
    std::size_t width;
    std::size_t steps;
    std::size_t gpus;
    std::size_t priority;  // 0: none
    std::size_t arrival;
};
constexpr Layout layouts[] = {{.width = 7, .steps = 4, .gpus = 6, .priority = 0, .arrival = 5},
                              {.width = 10, .steps = 5, .gpus = 6, .priority = 7, .arrival = 9}};

struct Line {
    std::string_view file;
    std::size_t number = 0;
    std::vector<std::string_view> fields;

    template <class T>
    [[nodiscard]] Result<T> at(std::size_t field, Result<T> value) const {
        if (value) { return value; }
        return tl::unexpected(std::move(value).error().wrap(
            fmt::format("{} line {}, field {}", file, number, field + 1)));
    }
};

/// Null when the table knows the type for no such number of GPUs, nor for fewer.
const double* speed_of(const GavelSpeeds& speeds, std::string_view type, std::int64_t gpus) {
    auto next = speeds.upper_bound({std::string(type), gpus});
    if (next == speeds.begin()) { return nullptr; }
    --next;
    return next->first.first == type ? &next->second : nullptr;
}

Result<Job> read_job(const Line& line, const Layout& layout, const GavelSpeeds& speeds) {
    const std::string_view type = line.fields[0];
    MUSTER_TRY(steps, line.at(layout.steps,
                              parse_int("steps", line.fields[layout.steps], 0, trace_seconds_max)));
    MUSTER_TRY(gpus,
               line.at(layout.gpus, parse_int("GPUs", line.fields[layout.gpus], 1, job_size_max)));
    MUSTER_TRY(submit, line.at(layout.arrival, parse_decimal_seconds(line.fields[layout.arrival])));
    const double* speed = speed_of(speeds, type, gpus);
    if (speed == nullptr || *speed <= 0) {
        return line.at(
            0, Result<Job>(fail(Code::not_found, fmt::format("found job type '{:.60}' on {} GPUs; "
                                                             "expected one that the speeds know",
                                                             type, gpus))));
    }
    const double run = std::ceil(static_cast<double>(steps) / *speed);
    if (run > static_cast<double>(trace_seconds_max)) {
        return line.at(layout.steps,
                       Result<Job>(fail(Code::limit, fmt::format("{} steps take over {} s", steps,
                                                                 trace_seconds_max))));
    }
    return Job{.name = fmt::format("{}", line.number),
               .user = std::string(type),
               .priority_class =
                   layout.priority == 0 ? std::string() : std::string(line.fields[layout.priority]),
               .submit_s = submit,
               .run_s = static_cast<std::int64_t>(run),
               .size = gpus};
}

}  // namespace

Result<JobTrace> read_gavel(std::string_view file, std::string_view text,
                            const TraceExtras& extras) {
    if (extras.speeds.empty()) {
        return fail(Code::invalid,
                    fmt::format("{}: counts steps; expected a table of speeds beside it "
                                "(simulation_throughputs.json)",
                                file));
    }
    MUSTER_TRY(speeds, read_gavel_speeds(extras.speeds_file, extras.speeds, extras.gpu));
    JobTrace trace{.name = std::string(file), .unit = JobUnit::gpu};
    Line line{.file = file};
    while (!text.empty()) {
        ++line.number;
        const std::string_view bytes = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), bytes.size() + 1));
        const std::string_view content = trim(bytes);
        if (content.empty()) { continue; }
        line.fields = bytes.size() > csv_line_bytes_max ? std::vector<std::string_view>()
                                                        : split(content, '\t');
        const auto* layout = std::ranges::find(layouts, line.fields.size(), &Layout::width);
        if (layout == std::end(layouts)) {
            return fail(Code::invalid,
                        fmt::format("{} line {}: found {} fields; expected 7 or 10 between tabs",
                                    file, line.number, line.fields.size()));
        }
        MUSTER_TRY(job, read_job(line, *layout, speeds));
        if (trace.jobs.size() == trace_jobs_max) {
            return fail(Code::limit, fmt::format("{} line {}: expected at most {} jobs", file,
                                                 line.number, trace_jobs_max));
        }
        trace.jobs.push_back(std::move(job));
    }
    return trace;
}

}  // namespace muster::dialect
