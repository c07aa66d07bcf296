// A trace of jobs ready to be replayed: read from a file in one of the formats of dialect, cut to a
// span of time or a window, in order of submission.
#pragma once

#include "dialect/job_trace.h"

#include <cstddef>
#include <optional>
#include <string>

namespace muster::sim {

using dialect::Job;
using dialect::JobTrace;
using dialect::JobUnit;

struct TraceSpan {
    std::optional<std::int64_t> from_s;  // both ends belong to it
    std::optional<std::int64_t> to_s;
};

/// Consecutive jobs, counted in the order of the trace from 0.
struct TraceWindow {
    std::size_t start = 0;
    std::size_t count = 0;
};

struct TraceSource {
    std::string file;         // packed with gzip when it ends in .gz
    std::string format;       // empty: told by name and first line
    std::string speeds_file;  // Gavel's only
    std::string gpu = "v100";
    TraceSpan span;
    std::optional<TraceWindow> window;
};

Result<JobTrace> load_job_trace(const TraceSource& source);

/// Stable by time, then what lies outside of the span is left out, then all but the window.
Result<> prepare(JobTrace& trace, const TraceSpan& span, const std::optional<TraceWindow>& window);

}  // namespace muster::sim
