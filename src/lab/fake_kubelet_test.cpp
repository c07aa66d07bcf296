#include "lab/fake_kubelet.h"

#include "kube/objects.h"
#include "lab/fake_api_test.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace muster::lab {
namespace {

namespace json = boost::json;
using kube::condition_of;
using kube::int_at;
using kube::text_at;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class FakeKubeletTest : public testing::Test {
protected:
    void start(KubeletOptions options = {}) {
        kubelet = std::make_unique<FakeKubelet>(api, api.clock(), options);
        kubelet->start();
        api.run_for(10);
    }

    void add_node(const std::string& name, const std::string& annotations = "") {
        const std::string node = fmt::format(
            R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","annotations":
                {{"lab.muster/fake":"true"{}}}}},"status":{{"capacity":{{"nvidia.com/gpu":"4"}}}}}})",
            name, annotations);
        ASSERT_EQ(api.send("POST", "/api/v1/nodes", node), 201);
    }

    void add_pod(const std::string& name, const std::string& command,
                 const std::string& policy = "Never", const std::string& more = "",
                 const std::string& node = "a") {
        const std::string pod = fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":{{"nodeName":"{}",
                "restartPolicy":"{}",{}"containers":[{{"name":"main","image":"cuda","command":{}}}]}}}})",
            name, node, policy, more, command);
        ASSERT_EQ(api.send("POST", "/api/v1/namespaces/team/pods", pod), 201);
    }

    const json::object& pod(const std::string& name) {
        const json::object* found = api.find("/api/v1/namespaces/team/pods/" + name);
        static const json::object none;
        return found ? *found : none;
    }
    const json::object& node(const std::string& name) { return *api.find("/api/v1/nodes/" + name); }
    std::string phase(const std::string& name) {
        return std::string(text_at(pod(name), "status.phase"));
    }
    const json::object& container(const std::string& name) {
        return kube::array_at(pod(name), "status.containerStatuses")->at(0).as_object();
    }
    void annotate_node(const std::string& name, const std::string& key, const std::string& value) {
        api.send("PATCH", "/api/v1/nodes/" + name,
                 fmt::format(R"({{"metadata":{{"annotations":{{"{}":{}}}}}}})", key, value),
                 "application/merge-patch+json");
        api.run_for(20);
    }

    FakeApi api;
    std::unique_ptr<FakeKubelet> kubelet;
};

TEST_F(FakeKubeletTest, ANodeBecomesReadyAndItsCapacityIsAllocatable) {
    add_node("a");
    start();
    api.run_for(20);

    EXPECT_EQ(condition_of(node("a"), "Ready"), "True");
    EXPECT_EQ(condition_of(node("a"), "DiskPressure"), "False");
    const json::object* allocatable = kube::object_at(node("a"), "status.allocatable");
    ASSERT_NE(allocatable, nullptr);
    EXPECT_EQ(allocatable->at("nvidia.com/gpu").as_string(), "4");
}

TEST_F(FakeKubeletTest, AChangedCapacityIsCopiedAndABrokenDeviceStaysBroken) {
    add_node("a");
    start();
    api.run_for(20);
    const auto patch = [&](const std::string& status) {
        api.send("PATCH", "/api/v1/nodes/a/status", R"({"status":)" + status + "}",
                 "application/merge-patch+json");
        api.run_for(20);
        return json::serialize(*kube::object_at(node("a"), "status.allocatable"));
    };

    EXPECT_EQ(patch(R"({"allocatable":{"nvidia.com/gpu":"3"}})"), R"({"nvidia.com/gpu":"3"})");
    EXPECT_EQ(patch(R"({"capacity":{"example.com/dongle":"2"}})"),
              R"({"nvidia.com/gpu":"3","example.com/dongle":"2"})");
    EXPECT_EQ(patch(R"({"capacity":{"nvidia.com/gpu":"8","example.com/dongle":null}})"),
              R"({"nvidia.com/gpu":"8"})");
}

TEST_F(FakeKubeletTest, APodRunsAsLongAsItsCommandSays) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","30"])");
    api.run_for(500);
    EXPECT_EQ(phase("p"), "Pending");
    api.run_for(1'000);

    EXPECT_EQ(phase("p"), "Running");
    for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
        EXPECT_EQ(condition_of(pod("p"), type), "True") << type;
    }
    EXPECT_TRUE(kube::flag_at(container("p"), "ready"));
    EXPECT_TRUE(kube::flag_at(container("p"), "started"));
    EXPECT_THAT(text_at(container("p"), "containerID"), HasSubstr("containerd://"));
    EXPECT_NE(text_at(container("p"), "imageID"), "");
    EXPECT_NE(text_at(pod("p"), "status.podIP"), "");
    EXPECT_NE(text_at(pod("p"), "status.hostIP"), "");
    EXPECT_EQ(text_at(pod("p"), "status.startTime"), "2026-11-29T10:00:00Z");
    EXPECT_THAT(api.texts("/api/v1/events", "reason"), Contains("Started"));

    api.run_for(29'000);
    EXPECT_EQ(phase("p"), "Running");
    api.run_for(1'000);
    EXPECT_EQ(phase("p"), "Succeeded");
    EXPECT_EQ(condition_of(pod("p"), "Ready"), "False");
    EXPECT_EQ(int_at(container("p"), "state.terminated.exitCode", -1), 0);
    EXPECT_EQ(kubelet->pods(), 0u);
}

TEST_F(FakeKubeletTest, AnExitCodeThatIsNotZeroFailsThePod) {
    add_node("a");
    start();
    add_pod("p", R"(["sh","-c","sleep 1; exit 3"])");
    api.run_for(3'000);

    EXPECT_EQ(phase("p"), "Failed");
    EXPECT_EQ(int_at(container("p"), "state.terminated.exitCode"), 3);
}

TEST_F(FakeKubeletTest, ContainersRestartWithACountAndALongerWait) {
    add_node("a");
    start();
    add_pod("p", R"(["sh","-c","sleep 1; exit 3"])", "OnFailure");
    api.run_for(2'500);  // started at 1 s, ended at 2 s
    EXPECT_EQ(phase("p"), "Running");
    api.run_for(1'000);  // again at 3 s, ended at 4 s
    EXPECT_EQ(int_at(container("p"), "restartCount"), 1);
    api.run_for(2'000);

    EXPECT_EQ(text_at(container("p"), "state.waiting.reason"), "CrashLoopBackOff");
    EXPECT_EQ(int_at(container("p"), "lastState.terminated.exitCode"), 3);
    EXPECT_EQ(condition_of(pod("p"), "Ready"), "False");
    EXPECT_THAT(api.texts("/api/v1/events", "reason"), Contains("BackOff"));
    api.run_for(9'000);
    EXPECT_EQ(int_at(container("p"), "restartCount"), 2);
}

TEST_F(FakeKubeletTest, APodOfPolicyAlwaysStartsAgainAfterAGoodEnd) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","1"])", "Always");
    api.run_for(3'500);

    EXPECT_EQ(phase("p"), "Running");
    EXPECT_EQ(int_at(container("p"), "restartCount"), 1);
}

TEST_F(FakeKubeletTest, InitContainersRunInTurnBeforeTheOthers) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","10"])", "Never",
            R"("initContainers":[{"name":"one","command":["sleep","2"]},
                                 {"name":"two","command":["sleep","3"]}],)");
    api.run_for(2'000);
    EXPECT_EQ(phase("p"), "Pending");
    EXPECT_EQ(condition_of(pod("p"), "Initialized"), "False");
    api.run_for(3'000);
    EXPECT_EQ(phase("p"), "Pending");
    api.run_for(1'500);

    EXPECT_EQ(phase("p"), "Running");
    EXPECT_EQ(condition_of(pod("p"), "Initialized"), "True");
    const json::array& inits = *kube::array_at(pod("p"), "status.initContainerStatuses");
    EXPECT_EQ(text_at(inits.at(1).as_object(), "state.terminated.reason"), "Completed");
}

TEST_F(FakeKubeletTest, AnInitContainerThatFailsFailsThePod) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","10"])", "Never",
            R"("initContainers":[{"name":"one","command":["false"]}],)");
    api.run_for(2'000);

    EXPECT_EQ(phase("p"), "Failed");
}

TEST_F(FakeKubeletTest, ADeletedPodIsGoneAfterItsGraceAtMost) {
    add_node("a");
    start();
    add_pod("long", R"(["sleep","900"])");
    add_pod("short", R"(["sleep","900"])", "Never", R"("terminationGracePeriodSeconds":2,)");
    api.run_for(2'000);
    api.send("DELETE", "/api/v1/namespaces/team/pods/long", "");
    api.send("DELETE", "/api/v1/namespaces/team/pods/short", "");
    api.run_for(1'500);
    EXPECT_EQ(api.all("/api/v1/pods").size(), 2u);
    api.run_for(1'000);
    EXPECT_THAT(api.texts("/api/v1/pods", "metadata.name"), ElementsAre("long"));
    api.run_for(3'000);

    EXPECT_EQ(api.all("/api/v1/pods").size(), 0u);
    EXPECT_EQ(kubelet->pods(), 0u);
}

TEST_F(FakeKubeletTest, ANodeThatFailsLosesItsPodsAndComesBack) {
    add_node("a");
    add_node("b");
    start();
    add_pod("p", R"(["sleep","900"])");
    add_pod("other", R"(["sleep","900"])", "Never", "", "b");
    api.run_for(2'000);

    annotate_node("a", "lab.muster/failed", "\"power\"");
    EXPECT_EQ(condition_of(node("a"), "Ready"), "Unknown");
    EXPECT_EQ(kube::array_at(node("a"), "spec.taints")->size(), 2u);
    EXPECT_EQ(phase("p"), "Running");
    EXPECT_EQ(condition_of(pod("p"), "Ready"), "False");
    EXPECT_EQ(text_at(pod("p"), "status.reason"), "NodeLost");
    EXPECT_EQ(condition_of(pod("other"), "Ready"), "True");

    annotate_node("a", "lab.muster/failed", "null");
    EXPECT_EQ(condition_of(node("a"), "Ready"), "True");
    EXPECT_EQ(kube::array_at(node("a"), "spec.taints"), nullptr);
    EXPECT_EQ(condition_of(pod("p"), "Ready"), "True");
    EXPECT_EQ(text_at(pod("p"), "status.reason"), "");
}

TEST_F(FakeKubeletTest, PodsOfANodeThatStaysAwayAreEvicted) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","900"])");
    add_pod("loyal", R"(["sleep","900"])", "Never",
            R"("tolerations":[{"key":"node.kubernetes.io/unreachable"}],)");
    api.run_for(2'000);
    annotate_node("a", "lab.muster/failed", "\"power\"");
    api.run_for(299'000);
    EXPECT_EQ(api.all("/api/v1/pods").size(), 2u);
    api.run_for(10'000);

    EXPECT_THAT(api.texts("/api/v1/pods", "metadata.name"), ElementsAre("loyal"));
}

TEST_F(FakeKubeletTest, PodsOfADeletedNodeGo) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","900"])");
    api.run_for(2'000);
    api.send("DELETE", "/api/v1/nodes/a", "");
    api.run_for(20);

    EXPECT_EQ(api.all("/api/v1/pods").size(), 0u);
}

TEST_F(FakeKubeletTest, ARestartGoesOnWhereItWas) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","30"])");
    api.run_for(10'000);
    EXPECT_EQ(phase("p"), "Running");
    const std::string address(text_at(pod("p"), "status.podIP"));
    kubelet.reset();
    start();
    api.run_for(10'000);
    EXPECT_EQ(phase("p"), "Running");
    api.run_for(12'000);

    EXPECT_EQ(phase("p"), "Succeeded");
    EXPECT_EQ(text_at(pod("p"), "status.podIP"), address);
    EXPECT_EQ(int_at(container("p"), "restartCount"), 0);
}

TEST_F(FakeKubeletTest, LeavesOtherNodesAlone) {
    ASSERT_EQ(api.send("POST", "/api/v1/nodes", R"({"metadata":{"name":"real"}})"), 201);
    start();
    add_pod("p", R"(["sleep","1"])", "Never", "", "real");
    api.run_for(60'000);

    EXPECT_EQ(phase("p"), "Pending");
    EXPECT_EQ(condition_of(node("real"), "Ready"), "");
}

TEST(FakeKubelet, RunsAsMuchFasterAsTheClockDoes) {
    FakeApi api(60);
    FakeKubelet kubelet(api, api.clock());
    kubelet.start();
    api.send("POST", "/api/v1/nodes",
             R"({"metadata":{"name":"a","annotations":{"lab.muster/fake":"true"}}})");
    api.send("POST", "/api/v1/namespaces/team/pods",
             R"({"metadata":{"name":"p"},"spec":{"nodeName":"a","restartPolicy":"Never",
                 "containers":[{"name":"c","command":["sleep","60"]}]}})");
    api.run_for(900);
    EXPECT_THAT(api.texts("/api/v1/pods", "status.phase"), ElementsAre("Running"));
    api.run_for(200);

    EXPECT_THAT(api.texts("/api/v1/pods", "status.phase"), ElementsAre("Succeeded"));
}

TEST(FakeKubelet, ManyNodesAndPodsCostFewCalls) {
    constexpr int nodes = 600;
    constexpr int pods = 500;
    FakeApi api;
    FakeKubelet kubelet(api, api.clock());
    for (int i = 0; i < nodes; ++i) {
        api.send("POST", "/api/v1/nodes",
                 fmt::format(R"({{"metadata":{{"name":"n{}","annotations":
                     {{"lab.muster/fake":"true"}}}}}})",
                             i));
    }
    kubelet.start();
    api.run_for(1'000);
    for (int i = 0; i < pods; ++i) {
        api.send("POST", "/api/v1/namespaces/team/pods",
                 fmt::format(R"({{"metadata":{{"name":"p{}"}},"spec":{{"nodeName":"n{}",
                     "containers":[{{"name":"c","command":["sleep","900"]}}]}}}})",
                             i, i));
    }
    api.run_for(10'000);

    const auto phases = api.texts("/api/v1/pods", "status.phase");
    EXPECT_EQ(std::set<std::string>(phases.begin(), phases.end()),
              std::set<std::string>{"Running"});
    EXPECT_EQ(kubelet.nodes(), static_cast<std::size_t>(nodes));
    EXPECT_LE(api.calls(), nodes + pods + 2 + 111);  // lists, registrations, statuses, heartbeats
}

}  // namespace
}  // namespace muster::lab
