#include "kube/scheduler_fixture_test.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace muster::kube {
namespace {

using testing::StartsWith;

class GroupPhasesOfVolcano : public SchedulerOfKubernetes {
protected:
    const json::object& train() { return api.at(groups, {"team", "train"}); }
    std::string phase() { return std::string(text_at(train(), "status.phase")); }
    std::int64_t count(const std::string& what) { return int_at(train(), "status." + what, -1); }
    void set_phase(int pod, std::string_view phase) {
        json::object object = api.at(pods, {"team", fmt::format("train-{}", pod)});
        object["status"].as_object()["phase"] = phase;
        api.put(pods, object);
    }
    void remove(int pod) { api.erase(pods, {"team", fmt::format("train-{}", pod)}); }
    /// Writes of the phase and the counts.
    std::vector<std::string> written() {
        std::vector<std::string> out;
        for (const Call& call : api.changes) {
            if (!call.target.ends_with("podgroups/train/status")) { continue; }
            const json::value patch = json::parse(call.body);
            const std::string_view phase = text_at(patch.as_object(), "status.phase");
            if (!phase.empty()) { out.emplace_back(phase); }
        }
        return out;
    }
    long writes() {
        return std::count_if(api.changes.begin(), api.changes.end(), [](const Call& call) {
            return call.target.ends_with("podgroups/train/status") &&
                   (call.body.find("phase") != std::string::npos ||
                    call.body.find("running") != std::string::npos);
        });
    }
};

TEST_F(GroupPhasesOfVolcano, FollowTheMembersToTheEnd) {
    put_gang("train", 4);
    start();
    turn();
    EXPECT_EQ(phase(), "Running");  // all hold their nodes
    EXPECT_EQ(count("running"), -1);

    for (int i = 0; i < 4; ++i) { set_phase(i, "Running"); }
    pass(0);
    pass(1'000);
    EXPECT_EQ(count("running"), 4);

    set_phase(0, "Succeeded");
    pass(0);
    pass(1'000);
    EXPECT_EQ(phase(), "Running");
    EXPECT_EQ(count("running"), 3);
    EXPECT_EQ(count("succeeded"), 1);

    for (int i = 1; i < 4; ++i) { set_phase(i, "Succeeded"); }
    turn();
    EXPECT_EQ(phase(), "Completed");
    EXPECT_EQ(count("running"), -1);  // zero is nothing
    EXPECT_EQ(count("succeeded"), 4);
}

TEST_F(GroupPhasesOfVolcano, AreInqueueWhileTheGangWaits) {
    put_gang("train", 10);
    start();
    turn();
    EXPECT_EQ(phase(), "Inqueue");
}

/// What is left is evicted, for there is no room for the one that is made in its stead.
TEST_F(GroupPhasesOfVolcano, AreUnknownWhileAGangThatIsNotWholeLeaves) {
    retry = {.first_ms = 0, .most_ms = 0};
    put_gang("train", 8);
    start();
    turn();
    ASSERT_EQ(phase(), "Running");

    remove(0);
    put_pod({.name = "other", .group = "", .uid = "", .node = "n1"});  // takes the place
    put_pod({.name = "train-8", .group = "train", .uid = "", .node = ""});
    api.refuses = [](const Call& call) {
        return call.target.ends_with("/eviction") ? std::optional(Answer{.status = 500, .body = ""})
                                                  : std::nullopt;
    };
    for (int second = 0; second < 3; ++second, clock_ms += 1'000) { turn(); }
    EXPECT_EQ(phase(), "Unknown");

    api.refuses = {};
    for (int second = 0; second < 3; ++second, clock_ms += 1'000) { turn(); }
    EXPECT_EQ(written(), (std::vector<std::string>{"Inqueue", "Running", "Unknown", "Inqueue"}));
}

TEST_F(GroupPhasesOfVolcano, CostOneWriteHoweverManyPodsMoveInASecond) {
    put_gang("train", 8);
    start();
    turn();
    const long before = writes();
    for (int i = 0; i < 8; ++i) {
        set_phase(i, "Running");
        turn();
    }
    EXPECT_EQ(writes(), before);
    pass(1'000);
    EXPECT_EQ(writes(), before + 1);
    EXPECT_EQ(count("running"), 8);
}

TEST_F(GroupPhasesOfVolcano, AreWrittenAgainWhenTheServerWasBusy) {
    bool is_busy = true;
    api.refuses = [&](const Call& call) -> std::optional<Answer> {
        if (!is_busy || !call.target.ends_with("podgroups/train/status")) { return std::nullopt; }
        return Answer{.status = 429, .body = "{}"};
    };
    put_gang("train", 4);
    start();
    turn();
    ASSERT_EQ(phase(), "Pending");
    is_busy = false;
    turn();
    EXPECT_EQ(phase(), "Pending");  // not at once
    pass(1'000);
    EXPECT_EQ(phase(), "Running");
}

TEST_F(GroupPhasesOfVolcano, OfOthersAreLeftAlone) {
    const char* const jobs = "/apis/batch.volcano.sh/v1alpha1/jobs";
    api.served.insert(jobs);
    api.put(jobs, {{"apiVersion", "batch.volcano.sh/v1alpha1"},
                   {"kind", "Job"},
                   {"metadata", {{"namespace", "team"}, {"name", "job"}, {"uid", "job"}}},
                   {"spec", {{"schedulerName", "other"}}}});
    put_gang("train", 4);
    for (int i = 0; i < 4; ++i) {
        json::object object = api.at(pods, {"team", fmt::format("train-{}", i)});
        object["spec"].as_object()["schedulerName"] = "other";
        object["spec"].as_object()["nodeName"] = "n1";
        api.put(pods, object);
    }
    json::object group = train();
    group["metadata"].as_object()["ownerReferences"] =
        json::array{json::object{{"apiVersion", "batch.volcano.sh/v1alpha1"},
                                 {"kind", "Job"},
                                 {"name", "job"},
                                 {"uid", "job"},
                                 {"controller", true}}};
    api.put(groups, group);
    start();
    pass(1'000);
    EXPECT_EQ(writes(), 0);
}

}  // namespace
}  // namespace muster::kube
