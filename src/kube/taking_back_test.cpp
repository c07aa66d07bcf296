// Gangs that lost a member, or were bound only in part: completed, or taken back as a whole.
#include "kube/scheduler_fixture_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class TakingBack : public SchedulerOfKubernetes {
protected:
    void put_budget(const std::string& name, int allowed) {
        api.put(budgets,
                {{"apiVersion", "policy/v1"},
                 {"kind", "PodDisruptionBudget"},
                 {"metadata",
                  {{"namespace", "team"}, {"name", name}, {"uid", name}, {"generation", 1}}},
                 {"spec", {{"selector", json::object{}}}},
                 {"status",
                  {{"observedGeneration", 1},
                   {"disruptionsAllowed", allowed},
                   {"currentHealthy", 6},
                   {"desiredHealthy", 6 - allowed}}}});
    }
    void run_pods() {
        for (auto& [name, pod] : api.collections[pods]) {
            if (text_at(pod, "spec.nodeName").empty()) { continue; }
            json::object running = pod;
            running["status"].as_object()["phase"] = "Running";
            api.put(pods, std::move(running));
        }
        turn();
    }
    std::string group_says(std::string_view type) {
        return condition(api.at(groups, {"team", "train"}), type);
    }
};

TEST_F(TakingBack, ALostMembersRoomIsKeptAndGivenToTheOneInItsStead) {
    put_gang("train", 6, true);
    start();
    turn();
    const std::string place = bound().at("train-2");

    api.erase(pods, {"team", "train-2"});
    turn();
    EXPECT_THAT(group_says("muster.dev/Incomplete"),
                AllOf(HasSubstr("True MembersMissing"), HasSubstr("train-2 is gone"),
                      HasSubstr("5 of 6 tasks run"), HasSubstr("60 s")));
    EXPECT_THAT(told(), Contains(HasSubstr("Warning Incomplete of train:")));
    put_gang("other", 3);
    turn();
    pass(30'000);
    EXPECT_FALSE(bound().contains("other-0"));
    put_pod({.name = "train-x", .group = "train", .has_controller = true});
    turn();

    EXPECT_EQ(bound().at("train-x"), place);
    EXPECT_THAT(group_says("muster.dev/Incomplete"), HasSubstr("False Complete"));
    pass(120'000);
    EXPECT_EQ(evictions(), 0U);
}

TEST_F(TakingBack, AGangWhoseMemberDoesNotComeBackStopsAsAWhole) {
    put_gang("train", 6, true);
    start();
    turn();
    run_pods();
    api.erase(pods, {"team", "train-2"});
    turn();
    pass(59'000);
    EXPECT_EQ(evictions(), 0U);

    std::vector<std::string> conditions;
    api.refuses = [&](const Call& call) -> std::optional<Answer> {
        if (call.target.ends_with("/status") && call.target.find("/pods/") != std::string::npos) {
            conditions.push_back(call.body);
        }
        return std::nullopt;
    };
    pass(2'000);

    EXPECT_EQ(evictions(), 5U);
    EXPECT_THAT(bound(), SizeIs(0));
    ASSERT_THAT(conditions, SizeIs(5));
    EXPECT_THAT(conditions[0], AllOf(HasSubstr("DisruptionTarget"), HasSubstr("GangStopped"),
                                     HasSubstr("team/train stops as a whole: train-2 is gone")));
    EXPECT_THAT(told(), Contains(AllOf(HasSubstr("Warning GangStopped of train:"),
                                       HasSubstr("train-2 is gone"))));
    EXPECT_EQ(scheduler->loop().orders().size(), 0U);
}

/// Its room goes to others, and it is not placed before all of its pods are there again.
TEST_F(TakingBack, AStoppedGangWaitsUntilItsPodsAreThere) {
    put_gang("train", 6, true);
    start();
    turn();
    api.erase(pods, {"team", "train-2"});
    turn();
    pass(61'000);
    ASSERT_THAT(bound(), SizeIs(0));

    for (const int i : {0, 1, 3, 4, 5}) {
        put_pod({.name = fmt::format("again-{}", i), .group = "train", .has_controller = true});
    }
    put_gang("other", 8);
    turn();
    EXPECT_TRUE(bound().contains("other-0"));
    EXPECT_FALSE(bound().contains("again-0"));
}

TEST_F(TakingBack, AGangWithoutControllersIsToldOfAndStays) {
    put_gang("train", 6);
    start();
    turn();
    api.erase(pods, {"team", "train-2"});
    turn();

    pass(61'000);

    EXPECT_EQ(evictions(), 0U);
    EXPECT_THAT(group_says("muster.dev/Incomplete"),
                AllOf(HasSubstr("True NoController"), HasSubstr("train-0 has no controller")));
    put_pod({.name = "train-x", .group = "train"});
    turn();
    EXPECT_THAT(bound(), SizeIs(6));
}

TEST_F(TakingBack, ABudgetThatForbidsPartKeepsAllAndIsToldOnce) {
    put_gang("train", 6, true);
    put_budget("three", 3);
    start();
    turn();
    run_pods();

    api.erase(pods, {"team", "train-2"});
    turn();
    pass(61'000);

    EXPECT_EQ(evictions(), 0U);
    EXPECT_THAT(bound(), SizeIs(5));
    EXPECT_THAT(group_says("DisruptionTarget"), AllOf(HasSubstr("True EvictionWaits"),
                                                      HasSubstr("budget three allows 3 of the 5")));
    EXPECT_GE(scheduler->counts().budget_waits, 1U);
    EXPECT_EQ(scheduler->counts().failed, 0U);
    put_budget("three", 5);
    pass(601'000);  // the order's pause
    // The clock of the loop is the wall's: a restart gives the order again as well.
    start();
    turn();
    EXPECT_EQ(evictions(), 5U);
}

TEST_F(TakingBack, ARefusalByTheBudgetIsAWaitAndNoFailure) {
    put_gang("train", 2, true);
    start();
    turn();
    int refused = 0;
    api.refuses = [&](const Call& call) -> std::optional<Answer> {
        if (!call.target.ends_with("/eviction") || ++refused > 1) { return std::nullopt; }
        return Answer{.status = 429,
                      .body = R"({"message":"Cannot evict pod","details":{"causes":[{"reason":)"
                              R"("DisruptionBudget","message":"budget p needs 2 pods"}]}})",
                      .retry_after_ms = 10'000};
    };

    api.erase(pods, {"team", "train-0"});
    turn();
    pass(61'000);

    EXPECT_EQ(scheduler->counts().budget_waits, 1U);
    EXPECT_EQ(scheduler->counts().failed, 0U);
    EXPECT_THAT(bound(), SizeIs(1));
    EXPECT_THAT(told(), Contains(AllOf(HasSubstr("Warning EvictionWaits of train:"),
                                       HasSubstr("budget p needs 2 pods"))));
    // Other calls were not held up by it.
    put_pod({.name = "free", .gpus = 2});
    turn();
    EXPECT_TRUE(bound().contains("free"));
}

TEST_F(TakingBack, CapacityStaysFencedUntilThePodsAreGone) {
    put_gang("train", 8, true);
    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(8));
    api.refuses = [&](const Call& call) -> std::optional<Answer> {  // it takes its grace
        if (!call.target.ends_with("/eviction")) { return std::nullopt; }
        return Answer{.status = 201, .body = "{}"};
    };
    api.erase(pods, {"team", "train-0"});
    turn();
    pass(61'000);
    put_gang("next", 8);
    turn();
    EXPECT_FALSE(bound().contains("next-0"));

    for (int i = 1; i < 8; ++i) { api.erase(pods, {"team", fmt::format("train-{}", i)}); }
    turn();
    EXPECT_TRUE(bound().contains("next-7"));
}

TEST_F(TakingBack, AHalfBoundGangWhoseRestIsRefusedForGoodIsTakenBack) {
    put_gang("train", 6, true);
    api.refuses = [](const Call& call) -> std::optional<Answer> {
        if (call.target.find("/train-5/binding") == std::string::npos) { return std::nullopt; }
        return Answer{.status = 403, .body = R"({"message":"admission webhook says no"})"};
    };
    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(5));
    EXPECT_THAT(told(), Contains(AllOf(HasSubstr("Warning FailedScheduling of train-5:"),
                                       HasSubstr("webhook says no"))));

    pass(61'000);

    EXPECT_THAT(bound(), SizeIs(0));
    EXPECT_THAT(told(),
                Contains(AllOf(HasSubstr("GangStopped of train:"), HasSubstr("webhook says no"))));
}

/// After a crash between two binds the missing pod is gone: seconds are enough.
TEST_F(TakingBack, AHalfBoundGangIsTakenBackSoonAfterARestart) {
    put_gang("train", 6, true);
    int asked = 0;
    api.is_lost = [&](const Call& call) {
        return call.target.ends_with("/binding") && ++asked > 3;
    };
    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(3));
    api.is_lost = {};
    for (int i = 0; i < 6; ++i) {
        const std::string name = fmt::format("train-{}", i);
        if (!bound().contains(name)) {
            api.erase(pods, {"team", name});
            break;
        }
    }

    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(5));
    EXPECT_EQ(evictions(), 0U);
    pass(11'000);

    EXPECT_THAT(bound(), SizeIs(0));
}

TEST_F(TakingBack, NoGangIsGivenUpWhileABindIsUnderWay) {
    put_gang("train", 6, true);
    api.is_lost = [](const Call& call) {  // it is never answered
        return call.target.find("/train-5/binding") != std::string::npos;
    };
    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(5));

    pass(600'000);

    EXPECT_EQ(evictions(), 0U);
}

TEST_F(TakingBack, ATaskPlacedBeforeItsPodIsThereIsBoundWhenItComes) {
    put_gang("train", 6, true);
    start();
    turn();
    api.erase(pods, {"team", "train-2"});
    turn();

    put_pod({.name = "train-2", .group = "train", .uid = "second", .has_controller = true});
    turn();  // no order is given twice here but for this

    EXPECT_THAT(bound(), SizeIs(6));
}

TEST_F(TakingBack, AGroupSaysOnWhichLostNodeItSits) {
    put_gang("train", 6);
    start();
    turn();
    const json::object ready = api.at(nodes, {"", "n1"});
    json::object lost = ready;
    lost["status"].as_object()["conditions"] =
        json::array{json::object{{"type", "Ready"}, {"status", "Unknown"}}};

    api.put(nodes, lost);
    turn();
    EXPECT_THAT(group_says("muster.dev/OnLostNode"),
                AllOf(HasSubstr("True NodeNotReady"), HasSubstr("node n1 is not ready, ")));
    EXPECT_THAT(told(), Contains(HasSubstr("Warning NodeNotReady of train: node n1")));

    api.put(nodes, ready);
    turn();
    EXPECT_THAT(group_says("muster.dev/OnLostNode"), HasSubstr("False NodeReady"));
    EXPECT_THAT(group_says("Scheduled"), HasSubstr("True"));
}

TEST_F(TakingBack, NoEvictionIsForAPodOfAnotherUid) {
    put_gang("train", 2, true);
    start();
    turn();
    api.refuses = [&](const Call& call) -> std::optional<Answer> {
        if (call.target.ends_with("train-1/eviction") &&
            uid_of(api.at(pods, {"team", "train-1"})) == "train-1") {
            json::object another = api.at(pods, {"team", "train-1"});
            another["metadata"].as_object()["uid"] = "second";
            api.erase(pods, {"team", "train-1"});
            api.put(pods, another);
        }
        return std::nullopt;
    };
    api.erase(pods, {"team", "train-0"});
    turn();

    pass(61'000);

    EXPECT_EQ(evictions(), 1U);
    EXPECT_TRUE(bound().contains("train-1"));
}

}  // namespace
}  // namespace muster::kube
