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
        const bool has_tolerations = more.find("tolerations") != std::string::npos;
        const std::string pod = fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":{{"nodeName":"{}",
                "restartPolicy":"{}",{}{}"containers":[{{"name":"main","image":"cuda","command":{},
                "resources":{{"limits":{}}}}}]}}}})",
            name, node, policy, more, has_tolerations ? "" : admitted, command, limits);
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

    /// "a-0 a-1!": the devices of a pod, those that are not healthy with a mark.
    std::string devices(const std::string& name) {
        std::string out;
        const json::array* all = kube::array_at(container(name), "allocatedResourcesStatus");
        for (const json::value& one : all ? *all : json::array()) {
            for (const json::value& device : *kube::array_at(one.as_object(), "resources")) {
                out += out.empty() ? "" : " ";
                out += text_at(device.as_object(), "resourceID");
                out += text_at(device.as_object(), "health") == "Healthy" ? "" : "!";
            }
        }
        return out;
    }
    std::string allocatable(const std::string& name, std::string_view resource) {
        return std::string(
            kube::object_at(node(name), "status.allocatable")->at(resource).as_string());
    }
    std::vector<std::string> taints(const std::string& name) {
        std::vector<std::string> out;
        const json::array* all = kube::array_at(node(name), "spec.taints");
        for (const json::value& one : all ? *all : json::array()) {
            out.push_back(fmt::format("{}:{}", text_at(one.as_object(), "key"),
                                      text_at(one.as_object(), "effect")));
        }
        return out;
    }

    /// What admission gives to every pod.
    static constexpr const char* admitted =
        R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists",
                           "effect":"NoExecute","tolerationSeconds":300},
                          {"key":"node.kubernetes.io/unreachable","operator":"Exists",
                           "effect":"NoExecute","tolerationSeconds":300}],)";
    std::string limits = "{}";  // of the pods that are added
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
            R"("tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists"}],)");
    api.run_for(2'000);
    annotate_node("a", "lab.muster/failed", "\"power\"");
    api.run_for(299'000);
    EXPECT_EQ(api.all("/api/v1/pods").size(), 2u);
    api.run_for(10'000);

    EXPECT_THAT(api.texts("/api/v1/pods", "metadata.name"), ElementsAre("loyal"));
}

TEST_F(FakeKubeletTest, ANodeThatFlapsIsAwayAndThereInTurn) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","900"])");
    api.run_for(2'000);
    annotate_node("a", "lab.muster/flap", "\"10s\"");
    EXPECT_EQ(condition_of(node("a"), "Ready"), "Unknown");
    EXPECT_EQ(condition_of(pod("p"), "Ready"), "False");
    api.run_for(10'000);
    EXPECT_EQ(condition_of(node("a"), "Ready"), "True");
    EXPECT_EQ(condition_of(pod("p"), "Ready"), "True");
    EXPECT_THAT(taints("a"), ElementsAre());
    api.run_for(10'000);
    EXPECT_EQ(condition_of(node("a"), "Ready"), "Unknown");

    annotate_node("a", "lab.muster/flap", "null");
    EXPECT_EQ(condition_of(node("a"), "Ready"), "True");
    api.run_for(30'000);
    EXPECT_EQ(condition_of(node("a"), "Ready"), "True");
    EXPECT_EQ(phase("p"), "Running");
}

TEST_F(FakeKubeletTest, AGpuThatFellOffTheBusIsGivenToNobodyAndEndsWhoHasIt) {
    add_node("a");
    start();
    limits = R"({"nvidia.com/gpu":"2"})";
    add_pod("first", R"(["sleep","900"])");
    add_pod("second", R"(["sleep","900"])");
    api.run_for(2'000);
    ASSERT_EQ(devices("first"), "a-0 a-1");
    ASSERT_EQ(devices("second"), "a-2 a-3");

    annotate_node("a", "lab.muster/gpu-3", "\"79\"");

    EXPECT_EQ(allocatable("a", "nvidia.com/gpu"), "3");
    EXPECT_EQ(condition_of(node("a"), "GpuUnhealthy"), "True");
    EXPECT_EQ(condition_of(node("a"), "Ready"), "True");
    EXPECT_THAT(api.texts("/api/v1/events", "message"),
                Contains("GPU 3: XID 79, the GPU fell off the bus"));
    EXPECT_EQ(phase("first"), "Running");
    EXPECT_EQ(phase("second"), "Failed");
    EXPECT_EQ(devices("second"), "a-2 a-3!");

    limits = R"({"nvidia.com/gpu":"1"})";
    add_pod("third", R"(["sleep","900"])");
    api.run_for(2'000);
    EXPECT_EQ(devices("third"), "a-2");

    annotate_node("a", "lab.muster/gpu-3", "null");
    EXPECT_EQ(allocatable("a", "nvidia.com/gpu"), "4");
    EXPECT_EQ(condition_of(node("a"), "GpuUnhealthy"), "False");
}

TEST_F(FakeKubeletTest, OtherXidsWarnAndLeaveThePodsAlone) {
    add_node("a");
    start();
    limits = R"({"nvidia.com/gpu":"4"})";
    add_pod("p", R"(["sleep","900"])");
    api.run_for(2'000);

    annotate_node("a", "lab.muster/gpu-0", "\"31\"");
    EXPECT_EQ(allocatable("a", "nvidia.com/gpu"), "4");
    EXPECT_EQ(condition_of(node("a"), "GpuUnhealthy"), "");
    EXPECT_THAT(api.texts("/api/v1/events", "reason"), Contains("Xid31"));

    annotate_node("a", "lab.muster/gpu-1", "\"63\"");
    EXPECT_EQ(allocatable("a", "nvidia.com/gpu"), "3");
    EXPECT_EQ(devices("p"), "a-0 a-1! a-2 a-3");
    EXPECT_EQ(phase("p"), "Running");
}

TEST_F(FakeKubeletTest, AContainerThatRestartsOnADeadGpuEndsAgain) {
    add_node("a");
    start();
    limits = R"({"nvidia.com/gpu":"1"})";
    add_pod("p", R"(["sleep","900"])", "Always");
    api.run_for(2'000);
    annotate_node("a", "lab.muster/gpu-0", "\"79\"");
    api.run_for(5'000);

    EXPECT_EQ(text_at(container("p"), "state.waiting.reason"), "CrashLoopBackOff");
}

TEST_F(FakeKubeletTest, ABadCardTakesItsMigSlicesWithIt) {
    ASSERT_EQ(api.send("POST", "/api/v1/nodes",
                       R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a",
                           "labels":{"nvidia.com/gpu.count":"2"},
                           "annotations":{"lab.muster/fake":"true"}},
                           "status":{"capacity":{"nvidia.com/mig-1g.10gb":"14"}}})"),
              201);
    start();
    limits = R"({"nvidia.com/mig-1g.10gb":"7"})";
    add_pod("first", R"(["sleep","900"])");
    add_pod("second", R"(["sleep","900"])");
    api.run_for(2'000);
    annotate_node("a", "lab.muster/gpu-1", "\"48\"");

    EXPECT_EQ(allocatable("a", "nvidia.com/mig-1g.10gb"), "7");
    EXPECT_EQ(phase("first"), "Running");
    EXPECT_EQ(phase("second"), "Failed");
}

TEST_F(FakeKubeletTest, DevicesAreTheSameAfterARestart) {
    add_node("a");
    start();
    limits = R"({"nvidia.com/gpu":"1"})";
    add_pod("gone", R"(["sleep","1"])");
    add_pod("p", R"(["sleep","900"])");
    api.run_for(3'000);
    ASSERT_EQ(devices("p"), "a-1");
    kubelet.reset();
    start();
    add_pod("new", R"(["sleep","900"])");
    add_pod("next", R"(["sleep","900"])");
    api.run_for(2'000);

    EXPECT_EQ(devices("p"), "a-1");
    EXPECT_EQ(devices("new"), "a-0");
    EXPECT_EQ(devices("next"), "a-2");
}

TEST_F(FakeKubeletTest, AReclaimedNodeEndsItsPodsAndGoesAfterTheNotice) {
    add_node("a");
    start();
    add_pod("p", R"(["sleep","900"])");
    api.run_for(2'000);
    annotate_node("a", "lab.muster/spot", "\"120s\"");
    EXPECT_EQ(condition_of(node("a"), "ReclaimNotice"), "True");
    EXPECT_THAT(taints("a"), ElementsAre("lab.muster/reclaim:NoExecute"));
    EXPECT_THAT(api.texts("/api/v1/events", "reason"), Contains("SpotReclaim"));
    EXPECT_NE(text_at(pod("p"), "metadata.deletionTimestamp"), "");  // it has its grace
    api.run_for(10'000);
    EXPECT_EQ(api.all("/api/v1/pods").size(), 0u);
    EXPECT_EQ(api.all("/api/v1/nodes").size(), 1u);
    kubelet.reset();  // the time goes on over a restart
    start();
    api.run_for(100'000);
    EXPECT_EQ(api.all("/api/v1/nodes").size(), 1u);
    api.run_for(11'000);

    EXPECT_EQ(api.all("/api/v1/nodes").size(), 0u);
}

TEST_F(FakeKubeletTest, ANoticeThatIsTakenBackIsForgotten) {
    add_node("a");
    start();
    annotate_node("a", "lab.muster/spot", "\"120s\"");
    annotate_node("a", "lab.muster/spot", "null");
    api.run_for(200'000);

    EXPECT_EQ(api.all("/api/v1/nodes").size(), 1u);
    EXPECT_EQ(condition_of(node("a"), "ReclaimNotice"), "False");
    EXPECT_THAT(taints("a"), ElementsAre());
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

TEST_F(FakeKubeletTest, NodesRenewTheirLeasesUntilTheyFail) {
    add_node("a");
    start();
    const auto renewed = [&] {
        const json::object* lease =
            api.find("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a");
        return lease ? std::string(text_at(*lease, "spec.renewTime")) : "no lease";
    };
    const auto heartbeat = [&] {
        const json::value& ready = kube::array_at(node("a"), "status.conditions")->back();
        return std::string(text_at(ready.as_object(), "lastHeartbeatTime"));
    };
    api.run_for(10'000);
    EXPECT_EQ(renewed(), "2026-11-29T10:00:01.000000Z");
    const std::string told = heartbeat();
    api.run_for(20'000);
    EXPECT_EQ(renewed(), "2026-11-29T10:00:21.000000Z");
    EXPECT_EQ(heartbeat(), told);
    kubelet.reset();  // another one finds the lease
    start();
    api.run_for(20'000);
    EXPECT_THAT(renewed(), HasSubstr("2026-11-29T10:00:41"));
    annotate_node("a", "lab.muster/failed", "\"power\"");
    const std::string last = renewed();
    api.run_for(60'000);
    EXPECT_EQ(renewed(), last);

    annotate_node("a", "lab.muster/failed", "null");
    api.run_for(310'000);
    EXPECT_NE(renewed(), last);
    EXPECT_NE(heartbeat(), told);
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
    // Lists, registrations, statuses; of each heartbeat the lease, and at first the conditions.
    EXPECT_LE(api.calls(), nodes + pods + 2 + 2 * 111);
}

}  // namespace
}  // namespace muster::lab
