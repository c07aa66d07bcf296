#include "dialect/swf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::HasSubstr;

TEST(Swf, ReadsJobsAndTheMachine) {
    const auto trace = read_swf("t.swf",
                                "; Version: 2.2\n; MaxProcs: 128\n\n"
                                "  7  50 3  90 16 4.25 -1 32 120 -1 1 5 6 -1 2 -1 -1 -1\r\n"
                                "8 60 -1 -1 16 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1 {1,2} q_1d");

    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->processors, 128);
    EXPECT_EQ(trace->unit, JobUnit::processor);
    ASSERT_EQ(trace->jobs.size(), 2U);
    const Job& job = trace->jobs[0];
    EXPECT_EQ(job.name, "7");
    EXPECT_EQ(job.user, "5");
    EXPECT_EQ(job.queue, "2");
    EXPECT_EQ(job.submit_s, 50);
    EXPECT_EQ(job.run_s, 90);
    EXPECT_EQ(job.requested_s, 120);
    EXPECT_EQ(job.size, 32);
    EXPECT_EQ(trace->jobs[1].size, 16);
    EXPECT_EQ(trace->jobs[1].run_s, -1);
    EXPECT_EQ(trace->jobs[1].user, "");
}

TEST(Swf, NamesLineAndField) {
    const auto few = read_swf("t.swf", ";\n1 2 3\n");
    const auto wrong = read_swf("t.swf", "1 5 -1 x 1 -1 -1 1 1 -1 1 1 1 -1 -1 -1 -1 -1\n");
    const auto early = read_swf("t.swf", "1 -5 -1 1 1 -1 -1 1 1 -1 1 1 1 -1 -1 -1 -1 -1\n");

    ASSERT_FALSE(few);
    EXPECT_EQ(few.error().message, "t.swf line 2: found 3 fields; expected 18");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr("t.swf line 1, field 4: run time: "));
    ASSERT_FALSE(early);
    EXPECT_THAT(early.error().message, HasSubstr("field 2: submit time: -5"));
}

}  // namespace
}  // namespace muster::dialect
