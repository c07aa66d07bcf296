#include "sim/job_trace.h"

#include "dialect/gzip.h"
#include "sim/file.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace muster::sim {

namespace {

constexpr std::string_view packed_ending = ".gz";

/// By submission, equals as they were: a stable sort, which libstdc++ builds of deprecated parts.
void sort_jobs(std::vector<Job>& jobs) {
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    order.reserve(jobs.size());
    for (const Job& job : jobs) { order.emplace_back(job.submit_s, order.size()); }
    if (std::ranges::is_sorted(order)) { return; }
    std::ranges::sort(order);
    std::vector<Job> sorted;
    sorted.reserve(jobs.size());
    for (const auto& [submit_s, index] : order) { sorted.push_back(std::move(jobs[index])); }
    jobs = std::move(sorted);
}

}  // namespace

Result<> prepare(JobTrace& trace, const TraceSpan& span, const std::optional<TraceWindow>& window) {
    std::erase_if(trace.jobs, [&](const Job& job) {
        return job.submit_s < span.from_s.value_or(job.submit_s) ||
               job.submit_s > span.to_s.value_or(job.submit_s);
    });
    sort_jobs(trace.jobs);
    if (trace.jobs.empty()) {
        return fail(Code::invalid, fmt::format("{}: no jobs in it; expected one at least in the "
                                               "span that was asked for",
                                               trace.name));
    }
    if (!window) { return {}; }
    if (window->start >= trace.jobs.size() || window->count > trace.jobs.size() - window->start) {
        return fail(Code::invalid,
                    fmt::format("{}: {} jobs; expected a window of {} from {} to lie in it",
                                trace.name, trace.jobs.size(), window->count, window->start));
    }
    const auto begin = trace.jobs.begin() + static_cast<std::ptrdiff_t>(window->start);
    trace.jobs = std::vector<Job>(begin, begin + static_cast<std::ptrdiff_t>(window->count));
    return {};
}

Result<JobTrace> load_job_trace(const TraceSource& source) {
    MUSTER_TRY(text, read_file(source.file));
    std::string name = source.file;
    if (name.ends_with(packed_ending)) {
        auto unpacked = dialect::gunzip(text);
        if (!unpacked) { return tl::unexpected(std::move(unpacked).error().wrap(name)); }
        text = std::move(*unpacked);
        name.resize(name.size() - packed_ending.size());
    }
    MUSTER_TRY(format, source.format.empty() ? dialect::guess_trace_format(name, text)
                                             : dialect::parse_trace_format(source.format));
    dialect::TraceExtras extras{.speeds_file = source.speeds_file, .speeds = {}, .gpu = source.gpu};
    if (!source.speeds_file.empty()) {
        MUSTER_TRY(speeds, read_file(source.speeds_file));
        extras.speeds = std::move(speeds);
    }
    MUSTER_TRY(trace, dialect::read_job_trace(format, source.file, text, extras));
    trace.name = std::filesystem::path(source.file).filename().string();
    MUSTER_CHECK(prepare(trace, source.span, source.window));
    return std::move(trace);
}

}  // namespace muster::sim
