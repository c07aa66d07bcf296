#include "kube/scheduler.h"

#include "kube/fake_api_test.h"
#include "ledger/store_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* nodes = "/api/v1/nodes";
constexpr const char* pods = "/api/v1/pods";
constexpr const char* events = "/api/v1/events";
constexpr const char* groups = "/apis/scheduling.volcano.sh/v1beta1/podgroups";
constexpr const char* new_groups = "/apis/scheduling.k8s.io/v1beta1/podgroups";

/// A cluster of two nodes of four GPUs, and schedulers that come and go on one ledger.
class SchedulerOfKubernetes : public testing::Test {
protected:
    void SetUp() override {
        api.served = {groups, new_groups};
        put_node("n1", 4);
        put_node("n2", 4);
    }

    void start() {
        scheduler.reset();
        Link link;
        link.transport = std::make_unique<FakeTransport>(api);
        link.pump = [this](std::int64_t) { api.pump(); };
        SchedulerOptions options;
        options.loop.patience_ms = 0;
        options.leader = leader;
        options.loop.retry = {.first_ms = 600'000, .most_ms = 600'000};  // no order comes twice
        auto made = Scheduler::start(std::move(link), open_memory_store(log), options);
        ASSERT_TRUE(made) << made.error().message;
        scheduler = std::move(*made);
    }
    /// Enough turns for what one change leads to.
    void turn() {
        for (int i = 0; i < 6; ++i) {
            const auto turned = scheduler->turn();
            ASSERT_TRUE(turned) << turned.error().message;
        }
    }

    void put_node(const std::string& name, int gpus, const std::string& uid = "") {
        const json::object amounts{{"nvidia.com/gpu", std::to_string(gpus)},
                                   {"cpu", "64"},
                                   {"memory", "256Gi"},
                                   {"pods", "110"}};
        api.put(nodes, {{"apiVersion", "v1"},
                        {"kind", "Node"},
                        {"metadata", {{"name", name}, {"uid", uid.empty() ? name : uid}}},
                        {"spec", json::object{}},
                        {"status",
                         {{"capacity", amounts},
                          {"allocatable", amounts},
                          {"conditions", json::array{{{"type", "Ready"}, {"status", "True"}}}}}}});
    }
    struct NewPod {
        std::string name;
        std::string group;
        std::string uid;
        std::string node;
        int gpus = 1;
        std::string scheduler = "muster";
    };
    void put_pod(const NewPod& pod) {
        json::object metadata{{"namespace", "team"},
                              {"name", pod.name},
                              {"uid", pod.uid.empty() ? pod.name : pod.uid}};
        if (!pod.group.empty()) {
            metadata["annotations"] = {{"scheduling.k8s.io/group-name", pod.group}};
        }
        json::object spec{
            {"schedulerName", pod.scheduler},
            {"containers",
             json::array{
                 {{"name", "c"},
                  {"resources", {{"limits", {{"nvidia.com/gpu", std::to_string(pod.gpus)}}}}}}}}};
        if (!pod.node.empty()) { spec["nodeName"] = pod.node; }
        api.put(pods, {{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)},
                       {"status", {{"phase", pod.node.empty() ? "Pending" : "Running"}}}});
    }
    void put_gang(const std::string& name, int count) {
        api.put(groups, {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                         {"kind", "PodGroup"},
                         {"metadata", {{"namespace", "team"}, {"name", name}, {"uid", name}}},
                         {"spec", {{"minMember", count}}},
                         {"status", {{"phase", "Pending"}}}});
        for (int i = 0; i < count; ++i) {
            put_pod({.name = fmt::format("{}-{}", name, i), .group = name, .uid = "", .node = ""});
        }
    }

    std::map<std::string, std::string> bound() {
        std::map<std::string, std::string> out;
        for (const auto& [name, pod] : api.collections[pods]) {
            const std::string_view node = text_at(pod, "spec.nodeName");
            if (!node.empty()) { out.emplace(name.second, node); }
        }
        return out;
    }
    std::size_t bindings() const {
        return static_cast<std::size_t>(
            std::count_if(api.changes.begin(), api.changes.end(),
                          [](const Call& call) { return call.target.ends_with("/binding"); }));
    }
    /// "reason of object: message"
    std::vector<std::string> told() {
        std::vector<std::string> out;
        for (const auto& [name, event] : api.collections[events]) {
            out.push_back(
                fmt::format("{} {} of {}: {}", text_at(event, "type"), text_at(event, "reason"),
                            text_at(event, "involvedObject.name"), text_at(event, "message")));
        }
        return out;
    }
    static std::string condition(const json::object& object, std::string_view type) {
        const json::array* list = array_at(object, "status.conditions");
        for (const json::value& one : list != nullptr ? *list : json::array{}) {
            const json::object& condition = one.as_object();
            if (text_at(condition, "type") != type) { continue; }
            return fmt::format("{} {}: {}", text_at(condition, "status"),
                               text_at(condition, "reason"), text_at(condition, "message"));
        }
        return "none";
    }

    FakeApi api;
    MemoryLog log;
    Leader* leader = nullptr;
    std::unique_ptr<Scheduler> scheduler;
};

TEST_F(SchedulerOfKubernetes, BindsEveryPodOfAGangThatFits) {
    put_gang("train", 6);

    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(6));
    EXPECT_EQ(bindings(), 6U);
    EXPECT_EQ(scheduler->counts().bound, 6U);
    EXPECT_EQ(scheduler->loop().orders().size(), 0U);
    const json::object& group = api.at(groups, {"team", "train"});
    EXPECT_EQ(text_at(group, "status.phase"), "Inqueue");
    EXPECT_THAT(condition(group, "Scheduled"),
                HasSubstr("True Scheduled: Successfully assigned 6"));
    EXPECT_EQ(condition(group, "Unschedulable"), "none");
    EXPECT_THAT(told(), Contains(HasSubstr("Normal Scheduled of train: Successfully assigned 6")));
    EXPECT_THAT(told(), Contains(HasSubstr("Scheduled of train-0: Successfully assigned "
                                           "team/train-0 to n")));
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

TEST_F(SchedulerOfKubernetes, SaysOfASinglePodWhatKubernetesWouldSay) {
    put_pod({.name = "big", .group = "", .uid = "", .node = "", .gpus = 5});

    start();
    turn();

    EXPECT_EQ(condition(api.at(pods, {"team", "big"}), "PodScheduled"),
              "False Unschedulable: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
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

    put_pod({.name = "train-5", .group = "train", .uid = "", .node = ""});
    turn();

    EXPECT_THAT(bound(), SizeIs(6));
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
    api.put(new_groups, {{"apiVersion", "scheduling.k8s.io/v1beta1"},
                         {"kind", "PodGroup"},
                         {"metadata", {{"namespace", "team"}, {"name", "up"}, {"uid", "up"}}},
                         {"spec", {{"schedulingPolicy", {{"gang", {{"minCount", 2}}}}}}}});
    for (const char* name : {"up-a", "up-b"}) {
        put_pod({.name = name, .group = "", .uid = "", .node = "", .gpus = 4});
        json::object pod = api.at(pods, {"team", name});
        pod["spec"].as_object()["schedulingGroup"] = {{"podGroupName", "up"}};
        api.put(pods, pod);
    }

    start();
    turn();

    EXPECT_THAT(bound(), SizeIs(2));
    EXPECT_THAT(condition(api.at(new_groups, {"team", "up"}), "PodGroupInitiallyScheduled"),
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
    api.refuses = [](const Call& call) -> std::optional<Answer> {
        if (!call.target.ends_with("/binding")) { return std::nullopt; }
        return Answer{.status = 429, .body = "{}", .retry_after_ms = 5'000};
    };
    turn();
    api.refuses = {};

    put_gang("next", 2);
    turn();
    EXPECT_EQ(bindings(), 0U);  // not even asked

    for (const auto& work : std::exchange(api.later, {})) { work(); }
    turn();
    EXPECT_EQ(bindings(), 2U);
    EXPECT_TRUE(bound().contains("next-0"));
    EXPECT_TRUE(bound().contains("next-1"));
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

}  // namespace
}  // namespace muster::kube
