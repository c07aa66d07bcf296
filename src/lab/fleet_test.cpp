#include "lab/fleet.h"

#include "dialect/kubernetes.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::lab {
namespace {

using kube::label_of;
using testing::HasSubstr;

/// As the scheduler reads them.
std::vector<NodeSpec> as_read(const std::vector<boost::json::object>& fleet,
                              std::vector<dialect::Warning>& warnings) {
    std::vector<SourceText> sources;
    for (const boost::json::object& node : fleet) {
        sources.push_back({kube::name_of(node).second, boost::json::serialize(node)});
    }
    const auto input = dialect::read_cluster(sources);
    EXPECT_TRUE(input) << input.error().message;
    std::vector<NodeSpec> out;
    if (!input) { return out; }
    warnings = input->warnings;
    for (const Fact& fact : input->facts) {
        if (const auto* node = std::get_if<NodeSet>(&fact)) { out.push_back(node->node); }
    }
    return out;
}

TEST(Fleet, OfEachKindIsReadWithoutAWarning) {
    for (const char* like : {"h100-superpod:1", "gb200-nvl72:2", "a100-mixed:4"}) {
        const auto fleet = known_fleet(like);
        ASSERT_TRUE(fleet) << fleet.error().message;
        std::vector<dialect::Warning> warnings;
        const std::vector<NodeSpec> nodes = as_read(*fleet, warnings);

        EXPECT_EQ(nodes.size(), fleet->size()) << like;
        EXPECT_TRUE(warnings.empty()) << like << ": " << warnings.at(0).message();
        EXPECT_GE(nodes.at(0).gpus.size(), 4U);
        EXPECT_EQ(nodes.at(0).gpus.back().numa, 1) << like;
        EXPECT_FALSE(nodes.at(0).links.paths.empty()) << like;
        for (const boost::json::object& node : *fleet) {
            EXPECT_NE(label_of(node, "lab.muster/pool"), "");
            EXPECT_NE(label_of(node, "nvidia.com/gpu.family"), "");
        }
    }
}

TEST(Fleet, OfMixedNodesHasZonesAndSlices) {
    std::vector<dialect::Warning> warnings;
    const std::vector<NodeSpec> nodes = as_read(*known_fleet("a100-mixed:2"), warnings);

    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes[0].numa.size(), 2U);
    EXPECT_EQ(nodes[0].gpus[3].numa, 0);
    EXPECT_EQ(nodes[0].gpus[4].numa, 1);
    EXPECT_TRUE(nodes[1].gpus.empty());
    EXPECT_THAT(nodes[1].allocatable.extended,
                testing::Contains(Amount{"nvidia.com/mig-1g.10gb", 56}));
}

TEST(Fleet, NodesWithoutGpusSayNothingOfThem) {
    const auto fleet = plain_fleet("1x0");
    ASSERT_TRUE(fleet);
    EXPECT_EQ(label_of(fleet->at(0), "nvidia.com/gpu.present"), "");
    EXPECT_EQ(label_of(fleet->at(0), "kubernetes.io/hostname"), "node-0");
}

TEST(Fleet, GpuNodesCanHaveTheTaintOfClouds) {
    auto fleet = *plain_fleet("1x4");
    taint_gpu_nodes(fleet);
    auto plain = *plain_fleet("1x0");
    taint_gpu_nodes(plain);

    std::vector<dialect::Warning> warnings;
    EXPECT_EQ(as_read(fleet, warnings).at(0).taints,
              (std::vector<Taint>{{"nvidia.com/gpu", "present", TaintEffect::no_schedule}}));
    EXPECT_TRUE(as_read(plain, warnings).at(0).taints.empty());
}

TEST(Fleet, WhatIsNoFleetIsRefused) {
    EXPECT_THAT(plain_fleet("two").error().message, HasSubstr("--nodes two"));
    EXPECT_THAT(known_fleet("h100:1").error().message, HasSubstr("--like h100:1"));
    EXPECT_THAT(known_fleet("a100-mixed:0").error().message, HasSubstr("--like"));
}

}  // namespace
}  // namespace muster::lab
