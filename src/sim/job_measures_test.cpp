#include "sim/job_measures.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

/// Two nodes of 4: a takes 3 of the first from 0 to 10, b (urgent) 4 of the second from 4 to 10
/// after it waited 2; c never starts, d is too large.
struct ByHand {
    JobTrace trace{.jobs = {{.priority_class = "x", .submit_s = 0, .run_s = 10, .size = 3},
                            {.priority_class = "urgent", .submit_s = 2, .run_s = 6, .size = 4},
                            {.priority_class = "x", .submit_s = 3, .run_s = 5, .size = 1},
                            {.priority_class = "x", .submit_s = 4, .run_s = 5, .size = 9}}};
    JobRun run{.machine = {.nodes = 2, .per_node = 4},
               .outcomes = {{.start_s = 0, .end_s = 10, .first_part = 0, .part_count = 1},
                            {.start_s = 4, .end_s = 10, .first_part = 1, .part_count = 1},
                            {},
                            {.is_skipped = true}},
               .parts = {{.node = 0, .count = 3}, {.node = 1, .count = 4}}};
};

TEST(JobMeasures, CountsWaitsAndShares) {
    const ByHand made;

    const JobMeasures measures =
        measure(made.trace, made.run, {{.priority_class = "urgent", .seconds = 1}, {.seconds = 5}});

    EXPECT_EQ(measures.jobs, 3);
    EXPECT_EQ(measures.skipped, 1);
    EXPECT_EQ(measures.unfinished, 1);
    EXPECT_DOUBLE_EQ(measures.wait_s.mean, 1.0);
    EXPECT_EQ(measures.wait_s.max, 2);
    EXPECT_DOUBLE_EQ(measures.jct_s.mean, 9.0);
    EXPECT_EQ(measures.span_s, 10);
    EXPECT_DOUBLE_EQ(measures.utilization, (30.0 + 24.0) / 80.0);
    EXPECT_DOUBLE_EQ(measures.idle_share, 1 - 54.0 / 80.0);
    EXPECT_DOUBLE_EQ(measures.fragmented_share, 10.0 / 80.0);
    EXPECT_DOUBLE_EQ(measures.max_stretch, 2.0 / (6 + 86'400));
    ASSERT_EQ(measures.classes.size(), 2U);
    EXPECT_EQ(measures.classes[0].name, "urgent");
    EXPECT_DOUBLE_EQ(measures.classes[0].in_target_share, 0);
    EXPECT_EQ(measures.classes[1].target_s, 5);
    EXPECT_DOUBLE_EQ(measures.classes[1].in_target_share, 0.5);
}

TEST(JobMeasures, BoundsTheSlowdown) {
    EXPECT_DOUBLE_EQ(bounded_slowdown(0, 5), 1);
    EXPECT_DOUBLE_EQ(bounded_slowdown(95, 5), 10);
    EXPECT_DOUBLE_EQ(bounded_slowdown(100, 50), 3);
}

TEST(JobMeasures, TakesTheNearestRank) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 200; i > 0; --i) { values.push_back(i); }

    const Spread spread = spread_of(values);

    EXPECT_EQ(spread.p50, 100);
    EXPECT_EQ(spread.p95, 190);
    EXPECT_EQ(spread.p99, 198);
    EXPECT_EQ(spread.max, 200);
    EXPECT_DOUBLE_EQ(spread.mean, 100.5);
    EXPECT_EQ(spread_of({7}).p50, 7);
}

}  // namespace
}  // namespace muster::sim
