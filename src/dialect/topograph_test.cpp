#include "dialect/topograph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> keys_of(const LabelTopology& topology) {
    std::vector<std::string> keys;
    for (const Level& level : topology.levels) { keys.push_back(level.key); }
    return keys;
}

std::vector<std::string> names_of(const LabelTopology& topology) {
    std::vector<std::string> names;
    for (const Level& level : topology.levels) { names.push_back(level.name); }
    return names;
}

TEST(Topograph, ReadsV1WithDomainsAndParts) {
    const std::vector<NodeLabels> nodes{
        {"a",
         {{"fabric.topograph.run/tier-0", "l1"},
          {"fabric.topograph.run/tier-1", "s1"},
          {"accelerator.topograph.run/domain", "d1"},
          {"accelerator.topograph.run/sub-domain", "p1"}}},
        {"b",
         {{"fabric.topograph.run/tier-0", "l1"},
          {"fabric.topograph.run/tier-1", "s1"},
          {"accelerator.topograph.run/domain", "d2"},
          {"accelerator.topograph.run/sub-domain", "p2"}}},
    };
    const LabelTopology topology = detect_levels(nodes);

    EXPECT_EQ(topology.dialect, "Topograph v1");
    EXPECT_THAT(names_of(topology),
                ElementsAre("tier1", "tier0", "accelerator", "accelerator-part"));
    EXPECT_THAT(
        keys_of(topology),
        ElementsAre("fabric.topograph.run/tier-1", "fabric.topograph.run/tier-0",
                    "accelerator.topograph.run/domain", "accelerator.topograph.run/sub-domain"));
    EXPECT_THAT(topology.notes, IsEmpty());
}

TEST(Topograph, ReadsTheOlderDialectsUnderRegionAndZone) {
    const std::string prefix = "network.topology.nvidia.com/";
    const std::vector<NodeLabels> v03{{"a",
                                       {{prefix + "leaf", "l"},
                                        {prefix + "spine", "s"},
                                        {prefix + "core", "c"},
                                        {prefix + "accelerator", "n"},
                                        {"topology.kubernetes.io/zone", "z"},
                                        {"topology.kubernetes.io/region", "r"}}}};
    const std::vector<NodeLabels> v01{
        {"a", {{prefix + "block", "l"}, {prefix + "spine", "s"}, {prefix + "datacenter", "c"}}}};

    EXPECT_THAT(names_of(detect_levels(v03)),
                ElementsAre("region", "zone", "core", "spine", "leaf", "accelerator"));
    EXPECT_EQ(detect_levels(v03).dialect, "Topograph v0.3");
    EXPECT_THAT(names_of(detect_levels(v01)), ElementsAre("datacenter", "spine", "block"));
    EXPECT_EQ(detect_levels(v01).dialect, "Topograph v0.1") << "though spine is of both";
}

TEST(Topograph, ReadsCloudLabels) {
    const std::vector<NodeLabels> aws{{"a",
                                       {{"topology.k8s.aws/network-node-layer-1", "1"},
                                        {"topology.k8s.aws/network-node-layer-2", "2"},
                                        {"topology.k8s.aws/network-node-layer-3", "3"},
                                        {"topology.k8s.aws/ultraserver-id", "u"}}}};
    const std::vector<NodeLabels> gcp{{"a",
                                       {{"cloud.google.com/gce-topology-subblock", "s"},
                                        {"cloud.google.com/gce-topology-block", "b"}}}};
    const std::vector<NodeLabels> oci{{"a",
                                       {{"oci.oraclecloud.com/host.rack_id", "r"},
                                        {"oci.oraclecloud.com/host.network_block_id", "b"}}}};

    EXPECT_THAT(names_of(detect_levels(aws)),
                ElementsAre("layer1", "layer2", "layer3", "accelerator"));
    EXPECT_THAT(names_of(detect_levels(gcp)), ElementsAre("block", "subblock"));
    EXPECT_THAT(names_of(detect_levels(oci)), ElementsAre("block", "rack"));
}

TEST(Topograph, NothingIsFoundWhereNothingIs) {
    const std::vector<NodeLabels> nodes{{"a", {{"kubernetes.io/hostname", "a"}}}, {"b", {}}};

    EXPECT_EQ(detect_levels(nodes), LabelTopology{});
    EXPECT_EQ(detect_levels({}), LabelTopology{});
}

TEST(Topograph, MostNodesDecideTheDialect) {
    const std::vector<NodeLabels> nodes{
        {"a", {{"fabric.topograph.run/tier-0", "l1"}}},
        {"b", {{"fabric.topograph.run/tier-0", "l1"}}},
        {"c", {{"network.topology.nvidia.com/leaf", "l2"}}},
    };
    const LabelTopology topology = detect_levels(nodes);

    EXPECT_EQ(topology.dialect, "Topograph v1");
    EXPECT_THAT(names_of(topology), ElementsAre("tier0"));
    EXPECT_THAT(
        topology.notes,
        ElementsAre("Topograph v0.3 labels on 1 nodes are left out: 2 carry those of Topograph v1",
                    "1 of 3 nodes carry no Topograph v1 labels"));
}

TEST(Topograph, NvlinkDomainOverSeveralLeavesStandsOutsideOfThem) {
    const std::vector<NodeLabels> nodes{
        {"a",
         {{"fabric.topograph.run/tier-0", "l1"},
          {"fabric.topograph.run/tier-1", "s1"},
          {"nvidia.com/gpu.clique", "u.1"}}},
        {"b",
         {{"fabric.topograph.run/tier-0", "l2"},
          {"fabric.topograph.run/tier-1", "s1"},
          {"nvidia.com/gpu.clique", "u.1"}}},
        {"c",
         {{"fabric.topograph.run/tier-0", "l3"},
          {"fabric.topograph.run/tier-1", "s1"},
          {"nvidia.com/gpu.clique", "u.2"}}},
    };
    EXPECT_THAT(names_of(detect_levels(nodes)), ElementsAre("tier1", "accelerator", "tier0"));
}

TEST(Topograph, LevelsThatCutAcrossAreLeftOutWithANote) {
    const std::vector<NodeLabels> nodes{
        {"a",
         {{"fabric.topograph.run/tier-0", "l1"},
          {"fabric.topograph.run/tier-1", "s1"},
          {"nvidia.com/gpu.clique", "u.1"}}},
        {"b",
         {{"fabric.topograph.run/tier-0", "l2"},
          {"fabric.topograph.run/tier-1", "s1"},
          {"nvidia.com/gpu.clique", "u.1"}}},
        {"c",
         {{"fabric.topograph.run/tier-0", "l2"},
          {"fabric.topograph.run/tier-1", "s1"},
          {"nvidia.com/gpu.clique", "u.2"}}},
    };
    const std::vector<NodeLabels> torn{
        {"a", {{"fabric.topograph.run/tier-0", "l1"}, {"fabric.topograph.run/tier-1", "s1"}}},
        {"b", {{"fabric.topograph.run/tier-0", "l1"}, {"fabric.topograph.run/tier-1", "s2"}}},
    };

    EXPECT_THAT(names_of(detect_levels(nodes)), ElementsAre("tier1", "tier0"));
    EXPECT_THAT(
        detect_levels(nodes).notes,
        ElementsAre(
            "accelerator domains cut across the other levels: nvidia.com/gpu.clique is left out"));
    EXPECT_THAT(names_of(detect_levels(torn)), ElementsAre("tier1"));
    EXPECT_THAT(detect_levels(torn).notes,
                ElementsAre("tier0 l1 lies in more than one tier1: the level "
                            "fabric.topograph.run/tier-0 is left out"));
}

}  // namespace
}  // namespace muster::dialect
