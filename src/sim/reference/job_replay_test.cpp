// Method: the published protocols on the published traces must give the published figures; and each
// policy on a few jobs made by hand.
#include "sim/reference/job_replay.h"

#include "sim/job_measures.h"
#include "sim/reference/study_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct TestJob {
    std::int64_t submit_s = 0;
    std::int64_t size = 1;
    std::int64_t run_s = 1;
    std::int64_t requested_s = -1;
};

JobTrace trace_of(const std::vector<TestJob>& jobs) {
    JobTrace trace{.name = "by hand"};
    for (const TestJob& job : jobs) {
        trace.jobs.push_back({.submit_s = job.submit_s,
                              .run_s = job.run_s,
                              .requested_s = job.requested_s,
                              .size = job.size});
    }
    return trace;
}

std::vector<std::int64_t> starts(const JobTrace& trace, const JobReplayOptions& options) {
    const auto run = replay_jobs(trace, options);
    EXPECT_TRUE(run) << run.error().message;
    std::vector<std::int64_t> out;
    for (const JobOutcome& outcome : run->outcomes) { out.push_back(outcome.start_s); }
    return out;
}

/// Ten processors: 6 for 100 s; then 8 that must wait; then one that ends before, one that does
/// not, one that uses what is spare.
const JobTrace backfill = trace_of({{0, 6, 100}, {1, 8, 50}, {2, 4, 98}, {3, 4, 98}, {4, 2, 500}});
constexpr Machine ten{.nodes = 1, .per_node = 10};

TEST(JobReplay, FcfsBlocksOnTheHead) {
    EXPECT_THAT(starts(backfill, {.machine = ten, .policy = "fcfs"}),
                ElementsAre(0, 100, 150, 150, 150));
}

TEST(JobReplay, EasyFillsWithoutDelayOfTheHead) {
    EXPECT_THAT(starts(backfill, {.machine = ten, .policy = "easy"}),
                ElementsAre(0, 100, 2, 150, 100));
}

TEST(JobReplay, ConservativeDelaysNobody) {
    EXPECT_THAT(starts(backfill, {.machine = ten, .policy = "conservative"}),
                ElementsAre(0, 100, 2, 150, 100));
    // The long one may not push the third's reservation, which EASY lets it.
    const JobTrace trace =
        trace_of({{0, 6, 100}, {1, 8, 50}, {2, 10, 10}, {3, 2, 500}, {4, 4, 96}});
    EXPECT_THAT(starts(trace, {.machine = ten, .policy = "conservative"}),
                ElementsAre(0, 100, 150, 160, 4));
    EXPECT_THAT(starts(trace, {.machine = ten, .policy = "easy"}),
                ElementsAre(0, 100, 503, 3, 150));
}

TEST(JobReplay, ConservativeMovesUpWhenOneEndsEarly) {
    const JobTrace trace = trace_of({{0, 6, 30, 100}, {1, 8, 50}, {2, 10, 10}});

    EXPECT_THAT(starts(trace, {.machine = ten, .policy = "conservative"}), ElementsAre(0, 30, 80));
}

TEST(JobReplay, ConservativeMovesUpBehindOneThatMovedUp) {
    // The third is reserved before the second and goes with the early end at 30; then so may that.
    const JobTrace trace = trace_of({{0, 5, 30, 100}, {0, 3, 50}, {1, 10, 10}, {2, 5, 40}});

    EXPECT_THAT(starts(trace, {.machine = ten, .policy = "conservative"}),
                ElementsAre(0, 0, 70, 30));
}

TEST(JobReplay, SjfTakesTheShortestAndBlocksOnIt) {
    const JobTrace trace = trace_of({{0, 8, 10}, {1, 2, 50}, {1, 4, 20}, {1, 3, 30}});

    EXPECT_THAT(starts(trace, {.machine = ten, .policy = "sjf"}), ElementsAre(0, 10, 10, 10));
    EXPECT_THAT(starts(trace, {.machine = ten, .policy = "sjf-skip"}), ElementsAre(0, 1, 10, 10));
}

TEST(JobReplay, SjfStaysWithItsPickInAQueueAndNotOnAPool) {
    const JobTrace trace = trace_of({{0, 10, 10}, {1, 10, 30}, {2, 5, 20}, {3, 5, 40}});
    constexpr Machine pool{.nodes = 2, .per_node = 5};

    EXPECT_THAT(starts(trace, {.machine = ten, .policy = "sjf"}), ElementsAre(0, 10, 40, 40));
    EXPECT_THAT(starts(trace, {.machine = pool, .policy = "sjf"}), ElementsAre(0, 30, 10, 60));
}

TEST(JobReplay, WindowsFixTheBlockedJobsEarliestStart) {
    // Blocked until 100 as requested, though the first ends at 40; the third would end at 100.
    const JobTrace trace = trace_of({{0, 6, 40, 100}, {1, 8, 50}, {2, 4, 98}, {3, 4, 10, 96}});

    EXPECT_THAT(starts(trace, {.machine = ten, .policy = "fcfs", .has_window_backfill = true}),
                ElementsAre(0, 40, 90, 3));
}

TEST(JobReplay, APoolTakesTheTightestNodeAndWholeOnesForMore) {
    const JobTrace trace = trace_of({{0, 5, 100}, {1, 7, 100}, {2, 1, 100}, {3, 12, 100}});

    const auto run = replay_jobs(trace, {.machine = {.nodes = 4, .per_node = 8}});

    ASSERT_TRUE(run);
    EXPECT_EQ(run->parts_of(run->outcomes[0])[0].node, 0);
    EXPECT_EQ(run->parts_of(run->outcomes[1])[0].node, 1);
    EXPECT_EQ(run->parts_of(run->outcomes[2])[0].node, 1);
    ASSERT_EQ(run->outcomes[3].part_count, 2U);
    EXPECT_EQ(run->parts_of(run->outcomes[3])[0].node, 2);
    EXPECT_EQ(run->parts_of(run->outcomes[3])[1].count, 4);
}

TEST(JobReplay, SkipsWhatCannotRun) {
    const JobTrace trace = trace_of({{0, 11, 5}, {0, 1, -1}, {0, 0, 5}, {0, 10, 0}, {0, 10, 5}});

    const auto run = replay_jobs(trace, {.machine = ten, .policy = "easy"});

    ASSERT_TRUE(run);
    const JobMeasures measures = measure(trace, *run);
    EXPECT_EQ(measures.skipped, 3);
    EXPECT_EQ(measures.jobs, 2);
    EXPECT_EQ(run->outcomes[4].start_s, 0);
}

TEST(JobReplay, RefusesAPolicyByName) {
    const auto run = replay_jobs(backfill, {.machine = ten, .policy = "lifo"});

    ASSERT_FALSE(run);
    EXPECT_THAT(run.error().message, HasSubstr("'lifo'; expected fcfs"));
}

struct Published {
    const char* policy;
    double mean_wait_s;
    double mean_bounded_slowdown;
};

TEST(JobReplay, KthGivesThePublishedWaits) {
    MUSTER_NEEDS_DATA(folder);
    const auto trace = load_job_trace({.file = *folder / "swf/KTH-SP2-1996-2.1-cln.swf.gz"});
    ASSERT_TRUE(trace) << trace.error().message;
    for (const auto& [policy, wait, slowdown] :
         {Published{"fcfs", 389'852, 7'518.7}, Published{"easy", 6'805, 90.94}}) {
        const auto run =
            replay_jobs(*trace, {.machine = {.nodes = 1, .per_node = 100}, .policy = policy});

        ASSERT_TRUE(run) << run.error().message;
        const JobMeasures measures = measure(*trace, *run);
        EXPECT_NEAR(measures.wait_s.mean, wait, 0.002 * wait) << policy;
        EXPECT_NEAR(measures.mean_bounded_slowdown, slowdown, 0.002 * slowdown) << policy;
        RecordProperty(policy, static_cast<int>(run->cpu_ns / 1'000'000));
    }
}

struct Windowed {
    const char* policy;
    bool has_window_backfill;
    double mean_bounded_slowdown;
};

TEST(JobReplay, LublinWindowsGiveThePublishedSlowdowns) {
    MUSTER_NEEDS_DATA(folder);
    constexpr std::size_t starts_of[] = {1981, 2756, 4299, 8850, 3316,
                                         2714, 5228, 7762, 4022, 7085};
    for (const auto& [policy, has_window_backfill, slowdown] :
         {Windowed{"fcfs", false, 7'273.77}, Windowed{"fcfs", true, 235.8},
          Windowed{"sjf", false, 277.35}, Windowed{"sjf", true, 73.3}}) {
        double sum = 0;
        for (const std::size_t start : starts_of) {
            const auto trace = load_job_trace(
                {.file = *folder / "swf/lublin_256.swf", .window = TraceWindow{start, 1024}});
            ASSERT_TRUE(trace) << trace.error().message;
            const auto run = replay_jobs(*trace, {.machine = {.nodes = 1, .per_node = 256},
                                                  .policy = policy,
                                                  .has_window_backfill = has_window_backfill});
            ASSERT_TRUE(run) << run.error().message;
            sum += measure(*trace, *run).mean_bounded_slowdown;
        }

        EXPECT_NEAR(sum / 10, slowdown, 0.002 * slowdown) << policy;
    }
}

TEST(JobReplay, PhillyGivesThePublishedCompletionTimes) {
    MUSTER_NEEDS_DATA(folder);
    const auto trace = load_job_trace({.file = *folder / "sia-sosp23/philly.csv",
                                       .span = {.from_s = 1'506'816'000, .to_s = 1'512'086'340}});
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->jobs.size(), 68'510U);
    for (const auto& [policy, jct] :
         {std::pair{"fifo", 316'239.0}, std::pair{"sjf-skip", 17'034.0}}) {
        const auto run =
            replay_jobs(*trace, {.machine = {.nodes = 64, .per_node = 8}, .policy = policy});

        ASSERT_TRUE(run) << run.error().message;
        const JobMeasures measures = measure(*trace, *run);
        EXPECT_NEAR(measures.jct_s.mean, jct, 0.01 * jct) << policy;
        if (policy == std::string("fifo")) {
            EXPECT_NEAR(measures.wait_s.mean, 304'759, 0.01 * 304'759);
        }
    }
}

}  // namespace
}  // namespace muster::sim
