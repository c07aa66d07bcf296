#include "kube/gang_windows.h"

#include "model/rest_of_gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class Windows : public testing::Test {
protected:
    /// A gang of four of which `running` run.
    void look(int running, const std::string& cause = "", bool has_controller = true) {
        pods.clear();
        for (std::uint32_t i = 0; i < 4; ++i) {
            const bool runs = static_cast<int>(i) < running;
            pods[i] = {.name = {"team", "w-" + std::to_string(i)},
                       .uid = std::to_string(i),
                       .node = runs ? "n" : "",
                       .group = "w",
                       .has_controller = has_controller,
                       .has_machine = runs,
                       .is_ours = true};
        }
        WorkloadSpec workload;
        workload.name = "team/w";
        workload.groups.push_back({.name = "w", .minimum = 4, .count = 4});
        windows.look(workload, pods, cause);
    }
    std::vector<Fact> due(bool is_under_way = false) {
        return windows.due([=](const TaskPods&) { return is_under_way; },
                           [this](const std::string&) { return &pods; });
    }

    std::int64_t now = 0;
    TaskPods pods;
    GangWindows windows{
        {.length_ms = 60'000, .after_start_ms = 10'000, .now = [this] { return now; }}};
};

TEST_F(Windows, NoneOrAllIsNoneOfItsBusiness) {
    due();
    for (const int running : {0, 4}) {
        look(running);
        EXPECT_EQ(windows.open(), 0U);
    }
}

TEST_F(Windows, ThatABindTakesAMomentIsNotSaid) {
    due();
    look(1);
    EXPECT_TRUE(windows.is_open("team/w"));
    now += 4'000;
    EXPECT_THAT(due(), SizeIs(0));
    look(4);

    EXPECT_THAT(windows.take_news(), SizeIs(0));
    EXPECT_EQ(windows.open(), 0U);
}

TEST_F(Windows, TheEndIsTheSameHoweverOftenItIsLookedAt) {
    due();
    look(3, "w-3 is gone");
    for (int i = 0; i < 5; ++i) {
        now += 10'000;
        look(3);
        EXPECT_THAT(due(), SizeIs(0));
    }
    now += 10'000;

    ASSERT_THAT(due(), SizeIs(1));
    EXPECT_THAT(due(), SizeIs(0)) << "it is told once";
    EXPECT_EQ(windows.cause_of("team/w"), "w-3 is gone: 3 of 4 tasks run for 60 s");
    const std::vector<GangNews> news = windows.take_news();
    ASSERT_THAT(news, SizeIs(2));
    EXPECT_THAT(news[0].text, HasSubstr("w-3 is gone: 3 of 4 tasks run; the room of the others"));
    EXPECT_EQ(news[1].kind, GangNews::Kind::overdue);
}

TEST_F(Windows, TheFactIsThatTheRestDoesNotCome) {
    due();
    look(3);
    now += 60'000;

    const std::vector<Fact> facts = due();

    ASSERT_THAT(facts, SizeIs(1));
    EXPECT_EQ(facts[0], Fact(TaskGone{"team/w", rest_of_gang, false}));
}

TEST_F(Windows, WhatWasSoAtTheStartHasLessTime) {
    look(3);
    now += 9'000;
    EXPECT_THAT(due(), SizeIs(0));
    now += 1'000;
    EXPECT_THAT(due(), SizeIs(1));
}

TEST_F(Windows, WhatIsUnderWayIsWaitedFor) {
    due();
    look(3);
    now += 60'000;
    EXPECT_THAT(due(true), SizeIs(0));
    EXPECT_THAT(due(), SizeIs(0)) << "and a moment more, until it is heard of";
    now += 2'000;
    EXPECT_THAT(due(), SizeIs(1));
}

TEST_F(Windows, PodsThatNobodyWouldMakeAgainAreNotGivenUpByTime) {
    due();
    look(3, "w-3 is gone", false);
    for (int i = 0; i < 10; ++i) {
        now += 60'000;
        EXPECT_THAT(due(), SizeIs(0));
    }

    const std::vector<GangNews> news = windows.take_news();
    ASSERT_THAT(news, SizeIs(2)) << "it is said once";
    EXPECT_EQ(news[1].kind, GangNews::Kind::kept);
}

TEST_F(Windows, OneThatStopsWaitsForNobody) {
    due();
    look(4);
    windows.note_leaving("team/w");
    look(2, "w-2 is gone");
    now += 60'000;
    EXPECT_THAT(due(), SizeIs(0));
    EXPECT_THAT(windows.take_news(), SizeIs(0));

    look(0);  // all have gone, and it starts anew
    look(2);
    EXPECT_TRUE(windows.is_open("team/w"));
}

TEST_F(Windows, MembersThatHaveFinishedCountAndThoseThatHaveFailedDoNot) {
    due();
    look(3);
    pods[3].is_finished = true;
    WorkloadSpec workload;
    workload.name = "team/w";
    workload.groups.push_back({.name = "w", .minimum = 4, .count = 4});
    windows.look(workload, pods, "");
    EXPECT_EQ(windows.open(), 0U);

    pods[3].has_failed = true;
    windows.look(workload, pods, "w-3 has failed");
    EXPECT_EQ(windows.open(), 1U);
}

}  // namespace
}  // namespace muster::kube
