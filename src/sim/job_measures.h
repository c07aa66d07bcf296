// What a run of jobs is worth to its users and to the owner of the machine.
#pragma once

#include "sim/job_run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::sim {

/// Mean, and the values that so many percent of the jobs do not exceed (nearest rank).
struct Spread {
    double mean = 0;
    std::int64_t p50 = 0;
    std::int64_t p95 = 0;
    std::int64_t p99 = 0;
    std::int64_t max = 0;
};
Spread spread_of(std::vector<std::int64_t> values);

struct ClassMeasure {
    std::string name;  // empty: jobs of no class
    std::int64_t jobs = 0;
    std::int64_t target_s = 0;
    double in_target_share = 0;  // started in its target time
};

struct QueueMeasure {
    std::string name;  // empty: jobs of no queue
    std::int64_t jobs = 0;
    Spread wait_s;
    Spread jct_s;
    double mean_bounded_slowdown = 0;
    double in_target_share = 0;
};

struct JobMeasures {
    std::int64_t jobs = 0;  // that could run
    std::int64_t skipped = 0;
    std::int64_t unfinished = 0;  // never started
    std::int64_t span_s = 0;      // from the first submission to the last end
    Spread wait_s;
    Spread jct_s;  // from submission to end
    double mean_bounded_slowdown = 0;
    double max_bounded_slowdown = 0;
    double max_stretch = 0;             // wait over run time plus a day
    double utilization = 0;             // share of the capacity over the span
    double idle_share = 0;              // the rest of it
    double fragmented_share = 0;        // of the capacity: free on nodes that are partly in use
    std::vector<ClassMeasure> classes;  // by name
};

struct StartTarget {
    std::string priority_class;  // empty: all that are not named
    std::int64_t seconds = 3'600;
};

JobMeasures measure(const JobTrace& trace, const JobRun& run,
                    const std::vector<StartTarget>& targets = {});

/// By name.
std::vector<QueueMeasure> measure_queues(const JobTrace& trace, const JobRun& run,
                                         const std::vector<StartTarget>& targets = {});

/// max(1, (wait + run) ÷ max(run, 10 s))
double bounded_slowdown(std::int64_t wait_s, std::int64_t run_s);

}  // namespace muster::sim
