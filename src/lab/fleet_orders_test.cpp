#include "lab/fleet_orders.h"

#include "lab/fake_api_test.h"
#include "lab/fake_kubelet.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

namespace json = boost::json;
using kube::condition_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class FleetOrders : public testing::Test {
protected:
    void SetUp() override {
        kubelet.start();
        for (const char* name : {"n-9", "n-10"}) {
            ASSERT_EQ(api.send("POST", "/api/v1/nodes",
                               R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" +
                                   std::string(name) + R"(","labels":{"lab.muster/pool":"blue",
                                   "kubernetes.io/hostname":"x","rack":"r"},
                                   "annotations":{"lab.muster/fake":"true"}},
                                   "status":{"capacity":{"nvidia.com/gpu":"4"}}})"),
                      201);
        }
        ASSERT_EQ(api.send("POST", "/api/v1/nodes", R"({"metadata":{"name":"real"}})"), 201);
        api.run_for(20);
    }
    const json::object& node(const std::string& name) { return *api.find("/api/v1/nodes/" + name); }
    void add_pod(const std::string& name, const std::string& where) {
        ASSERT_EQ(api.send("POST", "/api/v1/namespaces/team/pods",
                           R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                               R"("},"spec":{"nodeName":")" + where +
                               R"(","containers":[{"name":"c","command":["sleep","900"]}]}})"),
                  201);
        api.run_for(2'000);
    }

    FakeApi api;
    FakeKubelet kubelet{api, api.clock()};
    LabHand hand{api, [this](std::int64_t wait) { api.run_for(wait); }};
};

TEST_F(FleetOrders, ANodeFailsAndIsHealed) {
    const auto failed = fail_node(hand, {.node = "n-9", .why = "power"});
    api.run_for(20);
    ASSERT_TRUE(failed) << failed.error().message;
    EXPECT_THAT(*failed,
                HasSubstr("kubectl annotate --overwrite node n-9 lab.muster/failed='power'"));
    EXPECT_EQ(condition_of(node("n-9"), "Ready"), "Unknown");
    ASSERT_TRUE(fail_gpu(hand, {"n-9", 3}, 79));
    ASSERT_TRUE(fail_node(hand, {.node = "n-9", .slow = 3}));

    const auto healed = heal_node(hand, "n-9");
    api.run_for(20);
    ASSERT_TRUE(healed) << healed.error().message;
    EXPECT_THAT(*healed, HasSubstr("lab.muster/failed-"));
    EXPECT_EQ(condition_of(node("n-9"), "Ready"), "True");
    EXPECT_EQ(kube::object_at(node("n-9"), "metadata.annotations")->size(), 1u);
    EXPECT_THAT(*heal_node(hand, "n-9"), HasSubstr("nothing is wrong"));
}

TEST_F(FleetOrders, AGpuFailsAndIsHealed) {
    ASSERT_TRUE(fail_gpu(hand, *read_gpu_name("n-9:3"), 79));
    api.run_for(20);
    EXPECT_EQ(condition_of(node("n-9"), "GpuUnhealthy"), "True");
    ASSERT_TRUE(heal_gpu(hand, {"n-9", 3}));
    api.run_for(20);
    EXPECT_EQ(condition_of(node("n-9"), "GpuUnhealthy"), "False");
}

TEST_F(FleetOrders, WhatIsNotThereIsRefused) {
    EXPECT_EQ(fail_node(hand, {.node = "n-7"}).error().code, Code::not_found);
    EXPECT_THAT(fail_node(hand, {.node = "real"}).error().message, HasSubstr("fake nodes"));
    EXPECT_THAT(fail_node(hand, {.node = "n-9", .flap = "often"}).error().message,
                HasSubstr("a time such as 10s"));
    EXPECT_THAT(fail_gpu(hand, {"n-9", 4}, 79).error().message, HasSubstr("has 4 GPUs"));
    EXPECT_THAT(read_gpu_name("n-9").error().message, HasSubstr("NODE:GPU"));
    EXPECT_THAT(read_gpu_name(":1").error().message, HasSubstr("NODE:GPU"));
    EXPECT_THAT(reclaim_node(hand, "n-9", "soon").error().message, HasSubstr("--notice soon"));
    EXPECT_THAT(grow_pool(hand, "red", 1).error().message, HasSubstr("there are: blue"));
    EXPECT_THAT(shrink_pool(hand, "blue", 3).error().message, HasSubstr("expected 1 to 2"));
}

TEST_F(FleetOrders, ASpotNodeGoesAfterItsNotice) {
    ASSERT_TRUE(reclaim_node(hand, "n-9", "60s"));
    api.run_for(59'000);
    EXPECT_NE(api.find("/api/v1/nodes/n-9"), nullptr);
    api.run_for(2'000);
    EXPECT_EQ(api.find("/api/v1/nodes/n-9"), nullptr);
}

TEST_F(FleetOrders, APoolGrowsInTheShapeOfItsLastNode) {
    ASSERT_TRUE(fail_node(hand, {.node = "n-10"}));
    const auto grown = grow_pool(hand, "blue", 2);
    api.run_for(20);

    ASSERT_TRUE(grown) << grown.error().message;
    EXPECT_THAT(*grown, ElementsAre("n-11", "n-12"));
    const json::object& made = node("n-12");
    EXPECT_EQ(kube::label_of(made, "rack"), "r");
    EXPECT_EQ(kube::label_of(made, "kubernetes.io/hostname"), "n-12");
    EXPECT_EQ(condition_of(made, "Ready"), "True");
    EXPECT_EQ(kube::object_at(made, "status.allocatable")->at("nvidia.com/gpu").as_string(), "4");
    EXPECT_EQ(kube::annotation_of(made, "lab.muster/failed"), "");
}

TEST_F(FleetOrders, APoolShrinksByItsEmptiestNodesAndDrainsThem) {
    add_pod("p", "n-10");
    const auto first = shrink_pool(hand, "blue", 1);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_THAT(*first, ElementsAre("n-9"));
    EXPECT_THAT(api.texts("/api/v1/nodes", "metadata.name"), UnorderedElementsAre("n-10", "real"));

    const auto second = shrink_pool(hand, "blue", 1);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(api.all("/api/v1/pods").size(), 0u);
    EXPECT_THAT(api.texts("/api/v1/nodes", "metadata.name"), ElementsAre("real"));
}

}  // namespace
}  // namespace muster::lab
