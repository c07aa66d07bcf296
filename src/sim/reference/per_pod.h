// How schedulers that know no gangs run jobs of many pods: each pod is bound as soon as one GPU is
// free, and a job starts only when all of its pods are there. Two half-bound jobs then hold what
// the other needs. Virtual time, in seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::sim {

/// `pods` × 1 GPU that run for `seconds` once all are there.
struct PodJob {
    std::string name;
    std::int64_t pods = 0;
    std::int64_t seconds = 0;

    bool operator==(const PodJob&) const = default;
};

struct PodJobEnd {
    std::string name;
    std::int64_t bound = 0;     // pods that hold a GPU at the end
    std::int64_t started = -1;  // −1: never
    std::int64_t ended = -1;

    bool operator==(const PodJobEnd&) const = default;
};

struct PodJobsRun {
    std::vector<PodJobEnd> jobs;
    std::int64_t useful_gpu_seconds = 0;  // of jobs that ran
    std::int64_t wasted_gpu_seconds = 0;  // held by pods of jobs that had not started

    bool operator==(const PodJobsRun&) const = default;
};

/// The pods of all jobs arrive at 0, one of each job in turn.
PodJobsRun run_per_pod(std::int64_t gpus, const std::vector<PodJob>& jobs, std::int64_t until);

/// The same jobs as gangs of the engine, on one node with so many GPUs.
PodJobsRun run_as_gangs(std::int64_t gpus, const std::vector<PodJob>& jobs, std::int64_t until);

}  // namespace muster::sim
