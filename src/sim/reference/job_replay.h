// A trace of jobs under a reference policy.
#pragma once

#include "base/result.h"
#include "sim/job_run.h"
#include "sim/stretch.h"

#include <span>
#include <string>
#include <string_view>

namespace muster::sim {

struct JobReplayOptions {
    Machine machine;
    std::string policy = "easy";
    bool has_window_backfill = false;  // of fcfs and sjf: see PickOptions
    Stretch stretch;
    Progress progress;
};

/// fcfs (also called fifo), easy, conservative, sjf, sjf-skip. The trace is in order of submission.
/// Of sjf there are two, each as it was published: in a queue of processors the picked job stays
/// picked, on a pool of nodes a shorter one that comes goes first.
Result<JobRun> replay_jobs(const JobTrace& trace, const JobReplayOptions& options);

}  // namespace muster::sim
