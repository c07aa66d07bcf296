// Any bytes as a trace in each format: no crash, and what was accepted keeps the promises of the
// header. The bytes stand for Gavel's table of speeds too.
#include "dialect/job_trace.h"

#include "base/assert.h"
#include "dialect/gavel.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace muster::dialect;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    constexpr const char* speeds = R"_({"v100": {"('Net', 1)": {"null": 2.5}}})_";
    const TraceExtras extras{.speeds_file = "fuzz", .speeds = speeds};

    (void)guess_trace_format("fuzz", text);
    (void)read_gavel_speeds("fuzz", text, "v100");
    for (const TraceFormat format :
         {TraceFormat::swf, TraceFormat::philly, TraceFormat::openb, TraceFormat::gavel,
          TraceFormat::tiresias, TraceFormat::kubernetes}) {
        const auto trace = read_job_trace(format, "fuzz", text, extras);
        if (!trace) {
            MUSTER_ASSERT(trace.error().message.starts_with("fuzz"));
            continue;
        }
        for (const Job& job : trace->jobs) {
            MUSTER_ASSERT(job.size <= job_size_max);
            MUSTER_ASSERT(job.run_s >= -1);
            MUSTER_ASSERT(job.run_s <= trace_seconds_max);
            MUSTER_ASSERT(job.limit_s() >= job.run_s);
        }
    }
    return 0;
}
