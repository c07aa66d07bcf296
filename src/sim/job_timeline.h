// A run as steps in time: what is busy, what waits, what is free only in pieces.
#pragma once

#include "sim/job_run.h"

#include <cstdint>
#include <vector>

namespace muster::sim {

struct TimelineStep {
    std::int64_t at_s = 0;  // until the next step
    std::int64_t busy = 0;
    std::int64_t fragmented = 0;  // free on nodes that are partly in use
    std::int64_t waiting = 0;     // jobs
};

struct JobTimeline {
    std::int64_t begin_s = 0;  // the first submission
    std::int64_t end_s = 0;    // the last end
    std::vector<TimelineStep> steps;
    double busy_seconds = 0;
    double fragmented_seconds = 0;
};

JobTimeline timeline_of(const JobTrace& trace, const JobRun& run);

}  // namespace muster::sim
