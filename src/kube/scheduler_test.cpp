#include "kube/scheduler.h"

#include "kube/scheduler_fixture_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace muster::kube {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

TEST_F(SchedulerOfKubernetes, BindsEveryPodOfAGangThatFits) {
    put_gang("train", 6);

    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(6));
    EXPECT_EQ(bindings(), 6U);
    EXPECT_EQ(scheduler->counts().bound, 6U);
    EXPECT_EQ(scheduler->loop().orders().size(), 0U);
    const json::object& group = api.at(groups, {"team", "train"});
    EXPECT_EQ(text_at(group, "status.phase"), "Running");
    EXPECT_THAT(condition(group, "Scheduled"),
                HasSubstr("True Scheduled: Successfully assigned 6"));
    EXPECT_EQ(condition(group, "Unschedulable"), "none");
    EXPECT_THAT(told(), Contains(HasSubstr("Normal Scheduled of train: Successfully assigned 6")));
    EXPECT_THAT(told(), Not(Contains(HasSubstr("of train-0"))));  // the group says it for its pods
}

TEST_F(SchedulerOfKubernetes, AsksOnceForABindOfWhichTheWatchHasNotTold) {
    retry = {.first_ms = 0, .most_ms = 0};  // an order is due in each turn
    put_gang("train", 6);
    start();
    api.is_watch_deaf = true;

    turn();
    EXPECT_EQ(bindings(), 6U);

    for (auto& work : std::exchange(api.later, {})) { work(); }  // time passes
    turn();
    EXPECT_GT(bindings(), 6U);
}

TEST_F(SchedulerOfKubernetes, BindsNoPodOfAGangThatDoesNotFitAndSaysWhy) {
    put_gang("train", 10);

    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(0));
    EXPECT_EQ(bindings(), 0U);
    const json::object& group = api.at(groups, {"team", "train"});
    EXPECT_EQ(text_at(group, "status.phase"), "Inqueue");
    EXPECT_THAT(
        condition(group, "Unschedulable"),
        "True NotEnoughResources: 2/10 tasks in gang unschedulable: pod group is not ready, "
        "10 Pending, 10 minAvailable; Pending: 2 Unschedulable, 8 Schedulable. 10 tasks of "
        "1 gpu; room for 8");
    EXPECT_THAT(condition(api.at(pods, {"team", "train-9"}), "PodScheduled"),
                AllOf(HasSubstr("False Unschedulable"), HasSubstr("10"), HasSubstr("8")));
    EXPECT_THAT(told(), Contains(HasSubstr("Warning Unschedulable of train:")));
    EXPECT_THAT(told(), Contains(HasSubstr("Warning FailedScheduling of train-3:")));
    EXPECT_THAT(told(), SizeIs(11));
}

TEST_F(SchedulerOfKubernetes, SaysOfASinglePodWhatKubernetesWouldSayAndWhatItKnowsItself) {
    put_pod({.name = "big", .group = "", .uid = "", .node = "", .gpus = 5});

    start();
    turn();

    EXPECT_EQ(condition(api.at(pods, {"team", "big"}), "PodScheduled"),
              "False Unschedulable: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu. "
              "no node has 5 gpu; largest 4");
}

TEST_F(SchedulerOfKubernetes, HoldsWhatRunsHoweverPodsOfAGangComeEndAndGo) {
    const auto held = [&] {
        std::map<std::string, int> out;
        const Snapshot known = scheduler->loop().engine().snapshot();
        for (const WorkloadStatus& workload : known.workloads) {
            for (const TaskStatus& task : workload.tasks) {
                if (!task.node.empty()) { ++out[task.node]; }
            }
        }
        return out;
    };
    const auto runs = [&] {
        std::map<std::string, int> out;
        for (const auto& [name, pod] : api.collections[pods]) {
            const std::string_view phase = text_at(pod, "status.phase");
            const std::string node(text_at(pod, "spec.nodeName"));
            if (!node.empty() && phase != "Failed" && phase != "Succeeded") { ++out[node]; }
        }
        return out;
    };
    start();
    for (unsigned seed = 1; seed <= 12; ++seed) {
        std::minstd_rand random(seed);
        const std::string gang = fmt::format("gang{}", seed);
        put_gang(gang, 2);
        turn();
        for (int step = 0; step < 12; ++step) {
            std::vector<ObjectName> there;
            for (const auto& [name, pod] : api.collections[pods]) { there.push_back(name); }
            const auto luck = random() % 3;
            if (luck == 0 || there.size() < 3) {
                put_pod({.name = fmt::format("{}-more-{}", gang, step), .group = gang, .uid = ""});
            } else {
                const ObjectName name = there[random() % there.size()];
                json::object pod = api.at(pods, name);
                if (luck == 1 && !text_at(pod, "spec.nodeName").empty()) {
                    pod["status"] = {{"phase", random() % 2 == 0 ? "Failed" : "Succeeded"}};
                    api.put(pods, pod);
                } else {
                    api.erase(pods, name);
                }
            }
            turn();
            const auto left = std::count_if(
                api.collections[pods].begin(), api.collections[pods].end(), [](const auto& pod) {
                    return text_at(pod.second, "status.phase") != "Failed" &&
                           text_at(pod.second, "status.phase") != "Succeeded";
                });
            if (left < 2) { break; }  // below its minimum it is another matter
            EXPECT_EQ(held(), runs()) << "seed " << seed << ", step " << step;
        }
        for (const auto& [name, pod] : std::map(api.collections[pods])) { api.erase(pods, name); }
        api.erase(groups, {"team", gang});
        turn();
    }
}

TEST_F(SchedulerOfKubernetes, WritesAReasonAgainThatTheServerDidNotTake) {
    put_gang("train", 10);
    int refused = 0;
    api.refuses = [&](const Call& call) -> std::optional<Answer> {
        if (call.method != "PATCH" || !call.target.ends_with("/status") || ++refused % 2 == 0) {
            return std::nullopt;
        }
        return Answer{.status = 429, .body = "", .retry_after_ms = 1'000};
    };
    start();
    turn();

    for (int i = 0; i < 12; ++i) {  // time passes
        for (auto& work : std::exchange(api.later, {})) { work(); }
        pass(1'000);
    }

    EXPECT_GT(refused, 11);
    for (int i = 0; i < 10; ++i) {
        const ObjectName name{"team", fmt::format("train-{}", i)};
        EXPECT_THAT(condition(api.at(pods, name), "PodScheduled"), HasSubstr("room for 8"));
    }
    const json::object& group = api.at(groups, {"team", "train"});
    EXPECT_EQ(text_at(group, "status.phase"), "Inqueue");
    EXPECT_THAT(condition(group, "Unschedulable"), HasSubstr("room for 8"));
}

TEST_F(SchedulerOfKubernetes, DoesNotSayThatAPodWaitsWhichHasBeenBoundMeanwhile) {
    put_pod({.name = "big", .group = "", .uid = "", .node = "", .gpus = 5});
    api.refuses = [](const Call& call) -> std::optional<Answer> {
        if (call.method != "PATCH" || !call.target.ends_with("/status")) { return std::nullopt; }
        return Answer{.status = 503, .body = ""};
    };
    start();
    turn();
    put_node("n3", 8);
    turn();
    api.refuses = {};

    for (auto& work : std::exchange(api.later, {})) { work(); }
    turn();

    EXPECT_THAT(bound(), SizeIs(1));
    EXPECT_EQ(condition(api.at(pods, {"team", "big"}), "PodScheduled"), "none");
}

/// What is said waits behind a bind that is not answered; by then the gang runs.
TEST_F(SchedulerOfKubernetes, SaysWhatIsTrueWhenItsTurnComes) {
    put_pod({.name = "small", .group = "", .uid = "", .node = ""});
    api.is_lost = [](const Call& call) { return call.target.ends_with("small/binding"); };
    start();
    turn();
    put_gang("train", 10);
    turn();
    ASSERT_TRUE(std::none_of(api.changes.begin(), api.changes.end(),
                             [](const Call& call) { return call.method == "PATCH"; }));
    put_node("n3", 8);
    turn();
    ASSERT_THAT(bound(), SizeIs(10));

    clock_ms += 3'000;
    for (auto& work : std::exchange(api.later, {})) { work(); }
    turn();

    EXPECT_EQ(condition(api.at(pods, {"team", "train-0"}), "PodScheduled"), "none");
    const json::object& group = api.at(groups, {"team", "train"});
    EXPECT_EQ(condition_of(group, "Scheduled"), "True");
    EXPECT_NE(condition_of(group, "Unschedulable"), "True");
    EXPECT_EQ(text_at(group, "status.phase"), "Running");
}

TEST_F(SchedulerOfKubernetes, APodThatIsMadeAnewOfAGangThatWaitsSaysWhyAsWell) {
    put_gang("train", 10);
    start();
    turn();

    api.erase(pods, {"team", "train-3"});
    put_pod({.name = "train-3", .group = "train", .uid = "another"});
    turn();

    EXPECT_THAT(condition(api.at(pods, {"team", "train-3"}), "PodScheduled"),
                HasSubstr("room for 8"));
}

TEST_F(SchedulerOfKubernetes, WritesReasonsThatItsPredecessorHadOnRecordOnly) {
    put_gang("train", 10);
    api.is_lost = [](const Call& call) { return call.method == "PATCH"; };
    start();
    turn();
    api.is_lost = {};

    start();
    turn();

    EXPECT_THAT(condition(api.at(pods, {"team", "train-9"}), "PodScheduled"),
                HasSubstr("room for 8"));
    EXPECT_THAT(condition(api.at(groups, {"team", "train"}), "Unschedulable"),
                HasSubstr("room for 8"));
}

TEST_F(SchedulerOfKubernetes, APodWithoutAGroupHasAnEventOfItsOwn) {
    put_pod({.name = "one", .group = "", .uid = "", .node = ""});

    start();
    turn();

    EXPECT_THAT(told(), Contains(HasSubstr("Normal Scheduled of one: Successfully assigned "
                                           "team/one to n")));
}

TEST_F(SchedulerOfKubernetes, APodThatBeginsToRunIsNoNews) {
    put_pod({.name = "one", .group = "", .uid = "", .node = ""});
    start();
    turn();

    json::object pod = api.at(pods, {"team", "one"});
    pod["status"] = json::object{{"phase", "Running"}};
    api.put(pods, std::move(pod));
    const auto turned = scheduler->turn();

    ASSERT_TRUE(turned);
    EXPECT_FALSE(turned->has_value());
}

TEST_F(SchedulerOfKubernetes, TakesABindByOthersAsAFact) {
    put_pod({.name = "foreign",
             .group = "",
             .uid = "",
             .node = "n1",
             .gpus = 4,
             .scheduler = "default-scheduler"});
    put_gang("train", 6);
    start();
    turn();
    EXPECT_EQ(bindings(), 0U);

    api.erase(pods, {"team", "foreign"});
    turn();

    EXPECT_THAT(bound(), SizeIs(6));
}

TEST_F(SchedulerOfKubernetes, LeavesPodsOfOtherSchedulersAlone) {
    put_pod({.name = "theirs",
             .group = "",
             .uid = "",
             .node = "",
             .gpus = 1,
             .scheduler = "default-scheduler"});
    start();
    turn();
    EXPECT_EQ(bindings(), 0U);
}

TEST_F(SchedulerOfKubernetes, ADeletedPodFreesItsDevices) {
    put_pod({.name = "a", .group = "", .uid = "", .node = "", .gpus = 4});
    put_pod({.name = "b", .group = "", .uid = "", .node = "", .gpus = 4});
    start();
    turn();
    put_pod({.name = "c", .group = "", .uid = "", .node = "", .gpus = 4});
    turn();
    EXPECT_THAT(bound(), SizeIs(2));
    const std::string freed = bound().at("a");

    api.erase(pods, {"team", "a"});
    turn();

    EXPECT_EQ(bound().at("c"), freed);
}

TEST_F(SchedulerOfKubernetes, WaitsUntilTheGangsPodsAreThere) {
    put_gang("train", 6);
    api.erase(pods, {"team", "train-5"});
    start();
    turn();
    EXPECT_EQ(bindings(), 0U);
    EXPECT_THAT(scheduler->source().held_back(),
                ElementsAre(Pair("team/train", "5 of 6 pods are there")));

    put_pod({.name = "train-5", .group = "train", .uid = "", .node = ""});
    turn();

    EXPECT_THAT(bound(), SizeIs(6));
    EXPECT_THAT(scheduler->source().held_back(), IsEmpty());
}

TEST_F(SchedulerOfKubernetes, CompletesAHalfBoundGangAfterARestart) {
    put_gang("train", 6);
    int asked = 0;
    api.is_lost = [&](const Call& call) {
        return call.target.ends_with("/binding") && ++asked > 3;
    };
    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(3));
    const auto before = bound();

    api.is_lost = {};
    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(6));
    for (const auto& [pod, node] : before) { EXPECT_EQ(bound().at(pod), node); }
    EXPECT_EQ(bindings(), 6U);
    EXPECT_EQ(scheduler->loop().orders().size(), 0U);
}

TEST_F(SchedulerOfKubernetes, AnOrderIsNotForAnotherPodOfTheSameName) {
    put_pod({.name = "a", .group = "", .uid = "first", .node = "", .gpus = 4});
    api.is_lost = [](const Call& call) { return call.target.ends_with("/binding"); };
    start();
    turn();
    // The one that comes under its name asks for more than any node has.
    api.is_lost = {};

    api.erase(pods, {"team", "a"});
    put_pod({.name = "a", .group = "", .uid = "second", .node = "", .gpus = 5});
    turn();
    clock_ms += 3'000;  // the bind is never answered
    for (auto& work : std::exchange(api.later, {})) { work(); }
    turn();

    EXPECT_THAT(bound(), SizeIs(0));
    EXPECT_EQ(bindings(), 0U);
    EXPECT_THAT(condition(api.at(pods, {"team", "a"}), "PodScheduled"), HasSubstr("Insufficient"));
}

TEST_F(SchedulerOfKubernetes, AMemberThatIsMadeAnewIsBoundAnew) {
    put_gang("train", 6);
    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(6));

    api.erase(pods, {"team", "train-2"});
    put_pod({.name = "train-2", .group = "train", .uid = "second", .node = ""});
    turn();

    EXPECT_THAT(bound(), SizeIs(6));
    EXPECT_EQ(bindings(), 7U);
}

TEST_F(SchedulerOfKubernetes, AGangThatCanNotGoOnStopsAsAWhole) {
    put_gang("train", 6);
    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(6));

    api.erase(nodes, {"", "n2"});
    turn();

    EXPECT_THAT(api.changes, Contains(testing::Field(&Call::target, HasSubstr("/eviction"))));
    const auto first = std::find_if(api.changes.begin(), api.changes.end(), [](const Call& call) {
        return call.body.find("DisruptionTarget") != std::string::npos;
    });
    EXPECT_NE(first, api.changes.end());
    for (const auto& [pod, node] : bound()) { EXPECT_EQ(node, "n2"); }
}

TEST_F(SchedulerOfKubernetes, OneMalformedPodStopsNobodyElse) {
    put_pod({.name = "bad", .group = "", .uid = "", .node = ""});
    api.at(pods, {"team", "bad"})["metadata"].as_object()["annotations"] = {
        {"scheduling.volcano.sh/group-min-member", "many"}};
    put_pod({.name = "good", .group = "", .uid = "", .node = ""});

    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(1));
    ASSERT_THAT(scheduler->source().malformed(), SizeIs(1));
    EXPECT_EQ(scheduler->source().malformed()[0].object.text(), "Pod team/bad");
    EXPECT_THAT(told(), Contains(HasSubstr("Warning Malformed of bad:")));
}

TEST_F(SchedulerOfKubernetes, ANodeWithTheMatrixOfOtherGpusIsUsedAndTheProblemIsTold) {
    api.at(nodes, {"", "n1"})["metadata"].as_object()["annotations"] = {
        {"muster.dev/topo-matrix", "\tGPU0\tCPU Affinity\nGPU0\t X \t0-31\n"}};
    put_gang("train", 8);

    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(8));
    EXPECT_THAT(told(), Contains(AllOf(HasSubstr("Warning Malformed of n1:"),
                                       HasSubstr("matrix of 1 GPUs, expected 4"))));
}

TEST_F(SchedulerOfKubernetes, AMalformedPodThatRunsHoldsItsRoom) {
    put_pod({.name = "bad", .group = "", .uid = "", .node = "n1", .gpus = 4});
    api.at(pods, {"team", "bad"})["metadata"].as_object()["annotations"] = {
        {"scheduling.volcano.sh/group-min-member", "many"}};
    put_gang("train", 6);

    start();
    turn();

    EXPECT_EQ(bindings(), 0U);
}

TEST_F(SchedulerOfKubernetes, SaysOfAGroupOfKubernetesThatItWasScheduled) {
    put_new_gang(new_groups);

    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(2));
    EXPECT_THAT(condition(api.at(new_groups, {"team", "up"}), "PodGroupInitiallyScheduled"),
                HasSubstr("True Scheduled"));
}

TEST_F(SchedulerOfKubernetes, SaysItAsTheVersionOfTheServerCallsIt) {
    const std::string older = "/apis/scheduling.k8s.io/v1alpha2/podgroups";
    api.served = {older};
    put_new_gang(older);

    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(2));
    EXPECT_THAT(condition(api.at(older, {"team", "up"}), "PodGroupScheduled"),
                HasSubstr("True Scheduled"));
}

TEST_F(SchedulerOfKubernetes, AnotherMachineOfTheSameNameIsNotTheOldOne) {
    put_pod({.name = "a", .group = "", .uid = "", .node = "", .gpus = 4});
    put_pod({.name = "b", .group = "", .uid = "", .node = "", .gpus = 4});
    start();
    turn();
    ASSERT_THAT(bound(), SizeIs(2));

    const std::string name = bound().at("a");
    put_node(name, 4, "another");
    api.erase(pods, {"team", "a"});
    put_pod({.name = "c", .group = "", .uid = "", .node = "", .gpus = 4});
    turn();

    EXPECT_EQ(bound().at("c"), name);
}

TEST_F(SchedulerOfKubernetes, LeavesABusyServerAloneForAsLongAsItSays) {
    put_gang("train", 2);
    start();
    answer_binds_with({.status = 429, .body = "{}", .retry_after_ms = 5'000});
    turn();
    api.refuses = {};

    put_gang("next", 2);
    turn();
    EXPECT_EQ(bindings(), 0U);  // not even asked

    for (const auto& work : std::exchange(api.later, {})) { work(); }
    turn();
    // Also those that were put off, long before their orders would come again.
    EXPECT_EQ(bindings(), 4U);
    EXPECT_THAT(bound(), SizeIs(4));
    EXPECT_EQ(scheduler->counts().busy_waits, 2U);
    EXPECT_EQ(scheduler->counts().failed, 0U);
}

/// Of a gang that is no gang any more, or another one, binds may be done that the server answered
/// with a failure.
class BindsThatAreUncertain : public SchedulerOfKubernetes,
                              public testing::WithParamInterface<bool> {};

TEST_P(BindsThatAreUncertain, HoldTheirRoomUntilItIsKnown) {
    put_gang("train", 8);
    start();
    answer_binds_with({.status = 504, .body = "{}"});
    turn();
    api.refuses = {};

    api.erase(groups, {"team", "train"});
    if (GetParam()) { put_group("train", 8, "another"); }
    put_gang("next", 8);
    turn();
    EXPECT_THAT(bound(), IsEmpty());

    for (const auto& work : std::exchange(api.later, {})) { work(); }
    turn();
    EXPECT_THAT(bound(), SizeIs(8));
}

INSTANTIATE_TEST_SUITE_P(Groups, BindsThatAreUncertain, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "MadeAnew" : "Deleted"; });

/// The server answered with a failure, and may have done it all the same.
TEST_F(SchedulerOfKubernetes, ANodeThatComesBackIsNotUsedWhileABindToItIsUncertain) {
    put_pod({.name = "other", .node = "n2", .gpus = 4});
    put_pod({.name = "a", .gpus = 4});
    start();
    answer_binds_with({.status = 504, .body = "{}"});
    turn();
    api.refuses = {};

    api.erase(nodes, {"", "n1"});
    put_pod({.name = "b", .gpus = 4});
    put_node("n1", 4, "another");
    turn();
    EXPECT_FALSE(scheduler->source().has_node("n1"));
    EXPECT_THAT(bound(), SizeIs(1));

    for (const auto& work : std::exchange(api.later, {})) { work(); }
    turn();
    EXPECT_TRUE(scheduler->source().has_node("n1"));
    EXPECT_THAT(bound(), SizeIs(2));
}

/// The seam of an election: what it says is looked at in each turn.
TEST_F(SchedulerOfKubernetes, DecidesOnlyWhileItLeads) {
    struct Turns final : Leader {
        bool is_leader() override { return leads; }
        bool leads = true;
    } election;
    put_gang("train", 2);
    leader = &election;
    start();
    election.leads = false;

    const auto turned = scheduler->turn();

    ASSERT_FALSE(turned);
    EXPECT_EQ(turned.error().code, Code::conflict);
    EXPECT_EQ(bindings(), 0U);
}

TEST_F(SchedulerOfKubernetes, AShareThatNothingEnforcesIsSaidSo) {
    for (const char* name : {"plain", "kept"}) {
        put_pod({.name = name, .group = "", .uid = "", .node = "", .gpus = 0});
        json::object pod = api.at(pods, {"team", name});
        pod["metadata"].as_object()["annotations"] = {{"gpu-fraction", "0.5"}};
        const char* node = std::string(name) == "kept" ? "n2" : "n1";
        pod["spec"].as_object()["nodeSelector"] = {{"kubernetes.io/hostname", node}};
        api.put(pods, std::move(pod));
    }
    json::object node = api.at(nodes, {"", "n2"});
    node["metadata"].as_object()["annotations"] = {
        {"hami.io/node-nvidia-register", "GPU-1,10,81920,100,NVIDIA-H100,0,true:"}};
    api.put(nodes, std::move(node));
    start();
    turn();

    ASSERT_THAT(bound(), SizeIs(2));
    EXPECT_THAT(told(), Contains(AllOf(HasSubstr("Warning ShareNotEnforced of plain"),
                                       HasSubstr("accounted for on n1 and not enforced"))));
    EXPECT_THAT(told(), Not(Contains(HasSubstr("ShareNotEnforced of kept"))));
}

TEST_F(SchedulerOfKubernetes, TheRoomThatAnotherSchedulerNominatedIsKept) {
    put_pod(
        {.name = "theirs", .group = "", .uid = "", .node = "", .gpus = 4, .scheduler = "other"});
    json::object pod = api.at(pods, {"team", "theirs"});
    pod["status"].as_object()["nominatedNodeName"] = "n1";
    api.put(pods, std::move(pod));
    put_pod({.name = "a", .group = "", .uid = "", .node = "", .gpus = 4});
    put_pod({.name = "b", .group = "", .uid = "", .node = "", .gpus = 4});
    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(1));
    EXPECT_THAT(bound(), Each(testing::Pair(testing::_, "n2")));
}

}  // namespace
}  // namespace muster::kube
