#include "lab/cron_schedule.h"

#include "kube/objects.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::lab {
namespace {

struct NextCase {
    std::string schedule;
    std::string after;
    std::string next;
};

class CronNext : public testing::TestWithParam<NextCase> {};

TEST_P(CronNext, IsTheFirstTimeAfter) {
    const auto schedule = parse_cron(GetParam().schedule);
    ASSERT_TRUE(schedule) << schedule.error().message;

    const std::int64_t next = next_time(*schedule, kube::read_time(GetParam().after));

    EXPECT_EQ(kube::time_text(next), GetParam().next) << GetParam().schedule;
}

INSTANTIATE_TEST_SUITE_P(  // 2026-11-29 is a Sunday
    Of, CronNext,
    testing::Values(NextCase{"* * * * *", "2026-11-29T10:00:00Z", "2026-11-29T10:01:00Z"},
                    NextCase{"* * * * *", "2026-11-29T10:00:59.999Z", "2026-11-29T10:01:00Z"},
                    NextCase{"*/15 * * * *", "2026-11-29T10:00:00Z", "2026-11-29T10:15:00Z"},
                    NextCase{"5/20 * * * *", "2026-11-29T10:26:00Z", "2026-11-29T10:45:00Z"},
                    NextCase{"0 8-18/5 * * mon-fri", "2026-11-29T10:00:00Z",
                             "2026-11-30T08:00:00Z"},
                    NextCase{"30 23 31 12 *", "2026-11-29T10:00:00Z", "2026-12-31T23:30:00Z"},
                    NextCase{"0 0 13 * FRI", "2026-11-29T10:00:00Z", "2026-12-04T00:00:00Z"},
                    NextCase{"0 0 29 2 *", "2026-11-29T10:00:00Z", "2028-02-29T00:00:00Z"},
                    NextCase{"0,30 1 * JAN,MAR *", "2026-11-29T10:00:00Z", "2027-01-01T01:00:00Z"},
                    NextCase{"@hourly", "2026-11-29T10:00:00Z", "2026-11-29T11:00:00Z"},
                    NextCase{" @weekly ", "2026-11-29T10:00:00Z", "2026-12-06T00:00:00Z"}));

TEST(Cron, RefusesWhatIsNoSchedule) {
    for (const char* bad : {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *",
                            "* * * 13 *", "* * * * 8", "*/0 * * * *", "5-1 * * * *", "a * * * *",
                            "1,,2 * * * *", "@every 5m", "-1 * * * *", "*-5 * * * *"}) {
        EXPECT_FALSE(parse_cron(bad)) << bad;
    }
}

TEST(Cron, ADayThatNeverComesHasNoTime) { EXPECT_EQ(next_time(*parse_cron("0 0 30 2 *"), 0), -1); }

}  // namespace
}  // namespace muster::lab
