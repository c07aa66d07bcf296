// Jobs as traces tell them, whatever the format: who submitted what when, how large, how long. The
// readers of this folder make it and the simulator replays it. Text to values; no reader opens a
// file.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::dialect {

inline constexpr std::int64_t trace_seconds_max = std::int64_t{1} << 40;
inline constexpr std::int64_t job_size_max = 10'000'000;
inline constexpr std::size_t trace_jobs_max = 10'000'000;

struct Job {
    std::string name;
    std::string user;            // as are the next two, empty where the trace does not tell
    std::string queue;           //
    std::string priority_class;  //
    std::int64_t submit_s = 0;
    std::int64_t run_s = -1;         // −1: unknown, or it never ran
    std::int64_t requested_s = -1;   // −1: none, which stands for the run time
    std::int64_t size = 0;           // processors or GPUs
    std::int32_t gpu_milli = 1'000;  // of each GPU; below 1,000 only when size is 1
    std::int32_t sensitivity_percent =
        -1;  // of its run time to distance; −1: as the simulation says

    /// What a scheduler is told: no job runs past it.
    [[nodiscard]] std::int64_t limit_s() const { return requested_s > run_s ? requested_s : run_s; }
};

enum class JobUnit : std::uint8_t { processor, gpu };

struct JobTrace {
    std::string name;  // of the file, or how it was made
    JobUnit unit = JobUnit::gpu;
    std::int64_t processors = 0;  // what the machine had, 0 when the trace does not tell
    std::vector<Job> jobs;        // in the order of the text
};

enum class TraceFormat : std::uint8_t { swf, philly, openb, gavel, tiresias, kubernetes };

/// "swf", "philly" …
Result<TraceFormat> parse_trace_format(std::string_view name);
/// By the first line or the name: .swf, .trace, .yaml, .json, or one of the known CSV headers.
Result<TraceFormat> guess_trace_format(std::string_view file, std::string_view text);

/// What Gavel's traces need besides: they count steps, and this tells the steps per second.
struct TraceExtras {
    std::string speeds_file;
    std::string speeds;  // the text of simulation_throughputs.json
    std::string gpu = "v100";
};

/// All jobs of the text, or the first error with file, line and field.
Result<JobTrace> read_job_trace(TraceFormat format, std::string_view file, std::string_view text,
                                const TraceExtras& extras = {});

}  // namespace muster::dialect
