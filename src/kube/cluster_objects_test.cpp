#include "kube/cluster_objects.h"

#include "kube/fake_api_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* pods = "/api/v1/pods";

class PodsThatAreBound : public testing::Test {
protected:
    void SetUp() override {
        put("p", "");
        ASSERT_TRUE(objects.start());
        objects.take_changed();
    }
    void put(const std::string& name, const std::string& node, const std::string& label = "a",
             const std::string& volume = "") {
        json::object spec{{"containers", json::array{json::object{{"name", "c"}}}}};
        if (!node.empty()) { spec["nodeName"] = node; }
        spec["schedulerName"] = "muster";
        if (!volume.empty()) { spec["volumes"] = json::array{json::object{{"name", volume}}}; }
        api.put(pods, {{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata",
                        {{"namespace", "team"}, {"name", name}, {"labels", {{"app", label}}}}},
                       {"spec", std::move(spec)}});
    }
    std::vector<std::string> changed() {
        std::vector<std::string> out;
        while (!api.work.empty()) { api.pump(); }
        for (const auto& [key, links] : objects.take_changed()) { out.push_back(key.text()); }
        return out;
    }

    FakeApi api;
    FakeTransport transport{api};
    ClusterObjects objects{transport, [this](std::int64_t) { api.pump(); }};
};

TEST_F(PodsThatAreBound, AreToldApartFromThoseThatAreOtherOnes) {
    put("p", "n1");

    EXPECT_THAT(changed(), IsEmpty());
    EXPECT_THAT(objects.take_bound(), ElementsAre(Pair(Pair("team", "p"), "n1")));
    EXPECT_THAT(objects.take_bound(), IsEmpty());
}

TEST_F(PodsThatAreBound, MayHaveVolumes) {
    put("q", "", "a", "v");
    EXPECT_THAT(changed(), ElementsAre("Pod team/q"));
    put("q", "n1", "a", "v");

    EXPECT_THAT(changed(), IsEmpty());
    EXPECT_THAT(objects.take_bound(), ElementsAre(Pair(Pair("team", "q"), "n1")));
}

/// As an API server does it.
TEST_F(PodsThatAreBound, MayGetTheLabelsOfTheirNode) {
    for (const bool has_labels : {true, false}) {
        json::object pod = api.at(pods, {"team", "p"});
        json::object& metadata = pod["metadata"].as_object();
        metadata["name"] = "q";
        if (!has_labels) { metadata.erase("labels"); }
        api.put(pods, pod);
        EXPECT_THAT(changed(), ElementsAre("Pod team/q"));

        if (!has_labels) { metadata["labels"] = json::object(); }
        metadata["labels"].as_object()["topology.kubernetes.io/zone"] = "z";
        metadata["labels"].as_object()["topology.kubernetes.io/region"] = "r";
        pod["spec"].as_object()["nodeName"] = "n1";
        api.put(pods, pod);
        EXPECT_THAT(changed(), IsEmpty());
        EXPECT_THAT(objects.take_bound(), ElementsAre(Pair(Pair("team", "q"), "n1")));
        api.erase(pods, {"team", "q"});
        changed();
    }
}

TEST_F(PodsThatAreBound, AreOtherOnesWhenMoreIsNew) {
    put("p", "n1", "b");

    EXPECT_THAT(changed(), ElementsAre("Pod team/p"));
    EXPECT_THAT(objects.take_bound(), IsEmpty());
}

TEST_F(PodsThatAreBound, AreOtherOnesWhenMoreWasOrBecomesNew) {
    put("q", "");
    put("q", "n1");
    put("p", "n1");
    put("p", "n1", "b");

    EXPECT_THAT(changed(), ElementsAre("Pod team/p", "Pod team/q"));
    EXPECT_THAT(objects.take_bound(), IsEmpty());
}

TEST_F(PodsThatAreBound, AndGoAreGone) {
    put("p", "n1");
    api.erase(pods, {"team", "p"});

    EXPECT_THAT(changed(), ElementsAre("Pod team/p"));
    EXPECT_THAT(objects.take_bound(), IsEmpty());
}

}  // namespace
}  // namespace muster::kube
