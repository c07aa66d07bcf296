#include "dialect/openb.h"

#include <fmt/core.h>

#include <utility>

namespace muster::dialect {

Result<JobTrace> read_openb_trace(std::string_view file, std::string_view text) {
    MUSTER_TRY(pods, read_openb_pods(file, text));
    JobTrace trace{.name = std::string(file), .unit = JobUnit::gpu};
    trace.jobs.reserve(pods.size());
    for (OpenbPod& pod : pods) {
        if (!pod.times) {
            return fail(Code::invalid,
                        fmt::format("{}: has no times; expected the columns creation_time, "
                                    "deletion_time and scheduled_time",
                                    file));
        }
        Job job{.name = std::move(pod.name),
                .priority_class = std::move(pod.qos),
                .submit_s = pod.times->created,
                .run_s = pod.times->run_seconds().value_or(-1),
                .size = pod.gpu_count};
        if (pod.gpu_count == 1) { job.gpu_milli = pod.gpu_milli; }
        trace.jobs.push_back(std::move(job));
    }
    return trace;
}

}  // namespace muster::dialect
