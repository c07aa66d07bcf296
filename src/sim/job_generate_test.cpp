#include "sim/job_generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::sim {
namespace {

using testing::HasSubstr;

TEST(JobGenerate, ReadsItsKeys) {
    const auto generator = parse_generator("jobs=50,load=80,mix=1:3/16:1,seed=7,high=0");

    ASSERT_TRUE(generator) << generator.error().message;
    EXPECT_EQ(generator->jobs, 50);
    EXPECT_EQ(generator->load_percent, 80);
    ASSERT_EQ(generator->mix.size(), 2U);
    EXPECT_EQ(generator->mix[1].size, 16);
    EXPECT_EQ(generator->seed, 7);
    EXPECT_TRUE(parse_generator(""));
    EXPECT_THAT(parse_generator("size=3").error().message, HasSubstr("'size'; expected one of"));
    EXPECT_THAT(parse_generator("jobs=0").error().message, HasSubstr("jobs: 0 is out of range"));
    EXPECT_THAT(parse_generator("mix=1").error().message, HasSubstr("such as 1:70/8:30"));
}

TEST(JobGenerate, KeepsLoadMixAndTail) {
    const JobGenerator generator{.seed = 3, .jobs = 20'000, .load_percent = 50};
    constexpr std::int64_t capacity = 512;

    const JobTrace trace = generate_jobs(generator, capacity);

    std::int64_t work = 0;
    std::int64_t ones = 0;
    std::int64_t beyond_eight_octaves = 0;
    for (const Job& job : trace.jobs) {
        work += job.run_s * job.size;
        ones += job.size == 1 ? 1 : 0;
        beyond_eight_octaves += job.run_s >= generator.shortest_s << 8 ? 1 : 0;
    }
    const std::int64_t span = trace.jobs.back().submit_s;
    EXPECT_NEAR(static_cast<double>(work) / static_cast<double>(span * capacity), 0.5, 0.01);
    EXPECT_NEAR(static_cast<double>(ones) / 20'000, 0.70, 0.01);
    EXPECT_NEAR(static_cast<double>(beyond_eight_octaves) / 20'000, 0.0576, 0.005);  // 0.7⁸
}

TEST(JobGenerate, TheSameSeedMakesTheSame) {
    const JobTrace one = generate_jobs({.seed = 5}, 64);
    const JobTrace same = generate_jobs({.seed = 5}, 64);
    const JobTrace other = generate_jobs({.seed = 6}, 64);

    EXPECT_EQ(one.jobs[9].submit_s, same.jobs[9].submit_s);
    EXPECT_EQ(one.jobs[9].run_s, same.jobs[9].run_s);
    EXPECT_NE(one.jobs[9].submit_s, other.jobs[9].submit_s);
}

}  // namespace
}  // namespace muster::sim
