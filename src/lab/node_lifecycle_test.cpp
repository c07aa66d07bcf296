#include "lab/node_lifecycle.h"

#include "kube/objects.h"
#include "lab/fake_api_test.h"
#include "lab/known_resources.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;
using kube::text_at;
using testing::ElementsAre;

/// A node and pods in an API, and nothing but the controller.
class NodeLifecycleTest : public testing::Test {
protected:
    void SetUp() override {
        nodes.start();
        pods.start();
    }
    void set_node(const std::string& spec, const std::string& conditions) {
        const std::string text =
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"spec":)" + spec +
            R"(,"status":{"conditions":)" + conditions + "}}";
        if (api.find("/api/v1/nodes/a") == nullptr) {
            ASSERT_EQ(api.send("POST", "/api/v1/nodes", text), 201);
        } else {
            for (const char* path : {"/api/v1/nodes/a", "/api/v1/nodes/a/status"}) {
                ASSERT_EQ(api.send("PATCH", path, text, "application/merge-patch+json"), 200);
            }
        }
        api.run_for(20);
    }
    void add_pod(const std::string& name, const std::string& tolerations) {
        ASSERT_EQ(api.send("POST", "/api/v1/namespaces/team/pods",
                           R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                               R"("},"spec":{"nodeName":"a","terminationGracePeriodSeconds":0,
                                  "tolerations":)" +
                               tolerations + "}}"),
                  201);
        api.run_for(20);
    }
    std::vector<std::string> taints() {
        std::vector<std::string> out;
        const json::array* all = kube::array_at(*api.find("/api/v1/nodes/a"), "spec.taints");
        for (const json::value& one : all ? *all : json::array()) {
            out.push_back(std::string(text_at(one.as_object(), "key")) + ":" +
                          std::string(text_at(one.as_object(), "effect")));
        }
        return out;
    }
    /// Those that nobody has told to go.
    std::vector<std::string> staying() {
        std::vector<std::string> out;
        for (const json::object* pod : api.all("/api/v1/pods")) {
            if (!kube::is_leaving(*pod)) { out.push_back(kube::name_of(*pod).second); }
        }
        return out;
    }

    FakeApi api;
    LabTimers timers{api, api.clock()};
    kube::Informer pods{api, known::pods,
                        [this](kube::Informer::Change change, const kube::ObjectName& name,
                               const json::object& pod, const json::object*) {
                            if (change == kube::Informer::Change::set) { life.on_pod(name, pod); }
                        }};
    NodeLifecycle life{api, timers, api.clock().now, pods};
    kube::Informer nodes{api, known::nodes,
                         [this](kube::Informer::Change change, const kube::ObjectName& name,
                                const json::object& node, const json::object*) {
                             if (change == kube::Informer::Change::gone) {
                                 life.on_node_gone(name.second);
                             } else {
                                 life.on_node(name.second, node);
                             }
                         }};
};

TEST_F(NodeLifecycleTest, TaintsFollowConditionsAndLeaveThoseOfOthersAlone) {
    set_node(R"({"taints":[{"key":"mine","effect":"NoSchedule"}]})",
             R"([{"type":"Ready","status":"False"},{"type":"DiskPressure","status":"True"}])");
    EXPECT_THAT(taints(), ElementsAre("mine:NoSchedule", "node.kubernetes.io/not-ready:NoSchedule",
                                      "node.kubernetes.io/not-ready:NoExecute",
                                      "node.kubernetes.io/disk-pressure:NoSchedule"));

    set_node("{}", R"([{"type":"Ready","status":"Unknown"}])");
    EXPECT_THAT(taints(),
                ElementsAre("mine:NoSchedule", "node.kubernetes.io/unreachable:NoSchedule",
                            "node.kubernetes.io/unreachable:NoExecute"));

    set_node(R"({"unschedulable":true})", R"([{"type":"Ready","status":"True"}])");
    EXPECT_THAT(taints(),
                ElementsAre("mine:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule"));

    set_node(R"({"unschedulable":null})", R"([{"type":"Ready","status":"True"}])");
    EXPECT_THAT(taints(), ElementsAre("mine:NoSchedule"));
}

TEST_F(NodeLifecycleTest, PodsStayAsLongAsTheyTolerate) {
    set_node("{}", R"([{"type":"Ready","status":"Unknown"}])");
    add_pod("none", "[]");
    add_pod("some", R"([{"key":"node.kubernetes.io/unreachable","operator":"Exists",
                         "effect":"NoExecute","tolerationSeconds":300}])");
    add_pod("short", R"([{"operator":"Exists","tolerationSeconds":10}])");
    add_pod("always", R"([{"key":"node.kubernetes.io/unreachable","operator":"Exists"}])");
    add_pod("other", R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists"}])");

    EXPECT_THAT(staying(), ElementsAre("always", "short", "some"));
    api.run_for(10'000);
    EXPECT_THAT(staying(), ElementsAre("always", "some"));
    api.run_for(289'000);
    EXPECT_THAT(staying(), ElementsAre("always", "some"));
    api.run_for(2'000);
    EXPECT_THAT(staying(), ElementsAre("always"));
}

TEST_F(NodeLifecycleTest, ANodeThatComesBackInTimeKeepsItsPods) {
    set_node("{}", R"([{"type":"Ready","status":"Unknown"}])");
    add_pod("p", R"([{"operator":"Exists","tolerationSeconds":300}])");
    api.run_for(200'000);
    set_node("{}", R"([{"type":"Ready","status":"True"}])");
    api.run_for(200'000);
    EXPECT_THAT(staying(), ElementsAre("p"));

    set_node("{}", R"([{"type":"Ready","status":"Unknown"}])");  // counts anew
    api.run_for(200'000);
    EXPECT_THAT(staying(), ElementsAre("p"));
    api.run_for(101'000);
    EXPECT_THAT(staying(), ElementsAre());
}

TEST(NodeTaints, RepelPodsThatDoNotTolerateThem) {
    const json::object node =
        json::parse(R"({"spec":{"taints":[{"key":"nvidia.com/gpu","effect":"NoSchedule"},
            {"key":"soft","effect":"PreferNoSchedule"}]}})")
            .as_object();
    const auto repelled = [&](const char* tolerations) {
        return repels(node,
                      json::parse(std::string(R"({"spec":{"tolerations":)") + tolerations + "}}")
                          .as_object());
    };

    EXPECT_TRUE(repelled("[]"));
    EXPECT_TRUE(repelled(R"([{"key":"nvidia.com/gpu","value":"x"}])"));
    EXPECT_TRUE(repelled(R"([{"key":"nvidia.com/gpu","operator":"Exists","effect":"NoExecute"}])"));
    EXPECT_FALSE(repelled(R"([{"key":"nvidia.com/gpu","operator":"Exists"}])"));
    EXPECT_FALSE(repelled(R"([{"operator":"Exists"}])"));
}

}  // namespace
}  // namespace muster::lab
