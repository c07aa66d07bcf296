#include "dialect/slurm_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::ElementsAre;

std::string labels_of(const TopologyFile& file, std::string_view node) {
    std::string text;
    for (const NodeLabels& labels : file.nodes) {
        if (labels.node != node) { continue; }
        for (const Label& label : labels.labels) {
            text += label.key.substr(topology_key_prefix.size()) + "=" + label.value + " ";
        }
    }
    return text;
}

std::string levels_of(const TopologyFile& file) {
    std::string text;
    for (const Level& level : file.levels) {
        EXPECT_EQ(level.key, "topology.muster/" + level.name);
        text += level.name + " ";
    }
    return text;
}

TEST(TopologyConf, ReadsATreeOfSwitches) {
    const auto file = read_topology_conf("topology.conf",
                                         "# two leaves, one spine\n"
                                         "SwitchName=s0 Nodes=n[0-1] LinkSpeed=800\n"
                                         "switchname=s1 nodes=n[2-3] # the other\n"
                                         "SwitchName=s2 \\\n"
                                         "  Switches=s[0-1]\n");

    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(levels_of(*file), "spine leaf ");
    EXPECT_EQ(file->nodes.size(), 4U);
    EXPECT_EQ(labels_of(*file, "n0"), "spine=s2 leaf=s0 ");
    EXPECT_EQ(labels_of(*file, "n3"), "spine=s2 leaf=s1 ");
}

TEST(TopologyConf, ReadsBlocksAndTheirSizes) {
    const auto file = read_topology_conf("topology.conf",
                                         "BlockName=b1 Nodes=n[01-18]\n"
                                         "BlockName=b2 Nodes=n[19-36]\n"
                                         "BlockName=b3 Nodes=n[37-54]\n"
                                         "BlockSizes=18,36\n");

    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(levels_of(*file), "block36 block ");
    EXPECT_EQ(labels_of(*file, "n01"), "block36=b1..b2 block=b1 ");
    EXPECT_EQ(labels_of(*file, "n36"), "block36=b1..b2 block=b2 ");
    EXPECT_EQ(labels_of(*file, "n37"), "block36=b3..b3 block=b3 ");
}

TEST(TopologyConf, EveryErrorSaysWhereAndWhat) {
    struct Case {
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {"", "t: found no SwitchName and no BlockName, expected one at least"},
        {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
         "t line 2: switch a: is there already, at t line 1"},
        {"SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n2\n",
         "t line 2: switch b: node n2 is in a already, at t line 1"},
        {"SwitchName=a Nodes=n1\nSwitchName=b Switches=a,x\n",
         "t line 2: switch b: its child x is not defined"},
        {"SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n",
         "t line 3: switch c: its child a has a parent already, b at t line 2"},
        {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
         "t line 1: switch a: is below itself"},
        {"SwitchName=a Switches=a\n", "t line 1: switch a: is below itself"},
        {"SwitchName=l Nodes=n1\nSwitchName=b Switches=c,l\nSwitchName=c Switches=b\n",
         "is below itself"},
        {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Switches=b\n",
         "t line 2: switch b: its nodes are below 2 levels, those of a at t line 1 below 1; "
         "expected the same"},
        {"SwitchName=a\n",
         "t line 1: switch a: expected either nodes or further switches, and not both"},
        {"SwitchName=a Nodes=n1 Switches=b\n",
         "t line 1: switch a: expected either nodes or further switches, and not both"},
        {"SwitchName= Nodes=n1\n", "t line 1: switch : expected a name of 1 to 253 bytes"},
        {"SwitchName=a Nodes=n[1-\n", "t line 1: found \"n[1-\", expected a ] for each ["},
        {"SwitchName=a Nodes=n1 Nodes=n2\n",
         "t line 1: found Nodes=n2 a second time, expected it once"},
        {"SwitchName=a Node=n1\n",
         "t line 1: found Node=n1, expected Nodes=, Switches= or LinkSpeed="},
        {"SwitchName a\n", "t line 1: found \"SwitchName\", expected Key=value"},
        {"BlockSizes=2 Nodes=n1\n", "t line 1: found Nodes=n1, expected nothing more"},
        {"RackName=a\n",
         "t line 1: found \"rackname\", expected SwitchName, BlockName or BlockSizes"},
        {"RingName=r Nodes=n[1-4]\n",
         "t line 1: ring r: a ring topology is not supported, expected switches or blocks"},
        {"SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n",
         "t line 2: found a block beside switches, expected one kind"},
        {"SwitchName=a Nodes=n1\nBlockSizes=4\n",
         "t line 2: found BlockSizes beside switches, expected blocks"},
        {"BlockName=b Nodes=n1\nBlockSizes=18,54\n",
         "t line 2: found block size 54, expected 18 times 2, 4, 8 …"},
        {"BlockName=b Nodes=n1\nBlockSizes=0\n",
         "t line 2: found block size 0, expected 1 to 1000000"},
        {"BlockName=b Nodes=n1\nBlockSizes=x\n",
         "t line 2: found block size \"x\", expected a whole number"},
        {"BlockSizes=1\nBlockSizes=1\n",
         "t line 2: found BlockSizes again, expected it once; it is at t line 1"},
    };
    for (const Case& c : cases) {
        const auto file = read_topology_conf("t", c.text);
        ASSERT_FALSE(file.has_value()) << c.text;
        EXPECT_THAT(file.error().message, testing::HasSubstr(c.message)) << c.text;
    }
}

const char* const two_topologies = R"(---
- topology: fabric
  cluster_default: true
  tree:
    switches:
    - switch: s0
      nodes: n[1-2]
    - switch: s1
      nodes: n3
    - switch: top
      children: s[0-1]
- topology: nvl
  block:
    block_sizes: [2, 4]
    blocks:
    - block: b1
      nodes: n[1-2]
    - block: b2
      nodes: n3
- topology: plain
  flat: true
)";

TEST(TopologyYaml, ReadsTheDefaultOrTheNamedOne) {
    const auto tree = read_topology_yaml("topology.yaml", two_topologies);
    const auto block = read_topology_yaml("topology.yaml", two_topologies, "nvl");

    ASSERT_TRUE(tree.has_value()) << tree.error().message;
    ASSERT_TRUE(block.has_value()) << block.error().message;
    EXPECT_EQ(levels_of(*tree), "spine leaf ");
    EXPECT_EQ(labels_of(*tree, "n3"), "spine=top leaf=s1 ");
    EXPECT_EQ(levels_of(*block), "block4 block ");
    EXPECT_EQ(labels_of(*block, "n3"), "block4=b1..b2 block=b2 ");
}

TEST(TopologyYaml, WhatHasNoLevelsIsRefusedByName) {
    EXPECT_EQ(
        read_topology_yaml("t", two_topologies, "plain").error().message,
        "t:20: [2]: topology plain: a flat topology is not supported, expected a tree or blocks");
    EXPECT_EQ(read_topology_yaml("t", two_topologies, "none").error().message,
              "t: found no topology none");
    EXPECT_EQ(
        read_topology_yaml("t", "- topology: r\n  ring: {rings: [{ring: a, nodes: 'n[1-4]'}]}\n")
            .error()
            .message,
        "t:1: [0]: topology r: a ring topology is not supported, expected a tree or blocks");
    EXPECT_EQ(
        read_topology_yaml("t", "- topology: r\n  torus3d: {toruses: []}\n").error().message,
        "t:1: [0]: topology r: a torus3d topology is not supported, expected a tree or blocks");
}

TEST(TopologyYaml, EveryErrorSaysWhereAndWhat) {
    struct Case {
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {"", "t: found 0 documents, expected 1"},
        {"a: 1\n", "found a mapping, expected a list"},
        {"[]\n", "expected a list of topologies"},
        {"- tree: {switches: [{switch: a, nodes: n1}]}\n",
         "t:1: [0].topology: found nothing, expected a name"},
        {"- topology: a\n",
         "t:1: [0]: found a mapping, expected one of tree, block, ring, torus3d, flat"},
        {"- topology: a\n  flat: true\n  tree: {switches: []}\n",
         "t:2: [0].flat: stands beside tree, expected one of them"},
        {"- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n1\n      speed: "
         "3\n",
         "t:6: [0].tree.switches[0].speed: is not known here"},
        {"- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n[1\n",
         "t:5: [0].tree.switches[0].nodes: found \"n[1\", expected a ] for each ["},
        {"- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n1\n    - switch: "
         "u\n      nodes: n1\n",
         "t:6: switch u: node n1 is in s already, at t:4"},
        {"- topology: a\n  block:\n    block_sizes: [3, 9]\n    blocks: [{block: b, nodes: n1}]\n",
         "t:3: [0].block.block_sizes: found block size 9, expected 3 times 2, 4, 8 …"},
        {"- topology: a\n  flat: true\n- topology: a\n  flat: true\n",
         "t:3: [1]: topology a is there already"},
        {"- topology: a\n  tree: [\n", "not YAML"},
        {",^", "t:1: not YAML"},
    };
    for (const Case& c : cases) {
        const auto file = read_topology_yaml("t", c.text);
        ASSERT_FALSE(file.has_value()) << c.text;
        EXPECT_THAT(file.error().message, testing::HasSubstr(c.message)) << c.text;
    }
}

}  // namespace
}  // namespace muster::dialect
