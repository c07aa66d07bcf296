// Jobs made from a seed, in integers, so that every build makes the same: as many arrivals as asked
// for, each at a moment drawn evenly (a Poisson process of which the count is known), sizes of a
// declared mix, run times with a heavy tail. The span follows from the load.
#pragma once

#include "sim/job_trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::sim {

struct SizeShare {
    std::int64_t size = 1;
    std::int64_t weight = 1;
};

struct JobGenerator {
    std::int64_t seed = 1;
    std::int64_t jobs = 1'000;
    std::int64_t load_percent = 90;  // of the capacity, over the span
    std::vector<SizeShare> mix = {{1, 70}, {2, 10}, {4, 10}, {8, 10}};
    /// Run times come in octaves: the first from `shortest_s` to twice that; each next one with the
    /// chance `tail_percent`, which is Pareto's law with index −log₂ of it (70 %: 0.51).
    std::int64_t shortest_s = 60;
    std::int64_t tail_percent = 70;
    std::int64_t longest_s = 200'000;
    std::int64_t request_percent_max = 100;  // requested is from 100 to so many % of the run time
    std::int64_t users = 10;
    std::int64_t queues = 3;
    std::int64_t high_percent = 20;  // of priority class high; the others are normal
};

/// "jobs=2000,load=90,mix=1:70/8:30,seed=7", any of: jobs load mix seed shortest longest tail
/// request users queues high.
Result<JobGenerator> parse_generator(std::string_view text);

/// In order of submission, from second 0.
JobTrace generate_jobs(const JobGenerator& generator, std::int64_t capacity);

}  // namespace muster::sim
