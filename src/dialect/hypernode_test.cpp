#include "dialect/hypernode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using Kind = HyperNodeMember::Kind;
using Match = HyperNodeMember::Match;
using testing::ElementsAre;

HyperNodeMember node(std::string name) { return {.text = std::move(name)}; }
HyperNodeMember nodes_like(std::string pattern) {
    return {.match = Match::regex, .text = std::move(pattern)};
}
HyperNodeMember hypernode(std::string name) {
    return {.kind = Kind::hypernode, .text = std::move(name)};
}

std::vector<NodeLabels> four_nodes() {
    return {{"n0", {{"row", "a"}}}, {"n1", {{"row", "a"}}}, {"n2", {{"row", "b"}}}, {"n3", {}}};
}

std::string labels_of(const HyperNodeTopology& topology, std::string_view name) {
    std::string text;
    for (const NodeLabels& labels : topology.file.nodes) {
        if (labels.node != name) { continue; }
        for (const Label& label : labels.labels) {
            text += label.key.substr(topology_key_prefix.size()) + "=" + label.value + " ";
        }
    }
    return text;
}

TEST(HyperNodes, TiersBecomeLevels) {
    const auto nodes = four_nodes();
    const auto topology = build_hypernodes(
        {{.name = "s0", .tier = 1, .members = {node("n0"), node("n1")}, .place = "a"},
         {.name = "s1", .tier = 1, .members = {nodes_like("^n[23]$")}, .place = "b"},
         {.name = "s2",
          .tier = 2,
          .tier_name = "spine",
          .members = {hypernode("s0"), hypernode("s1")},
          .place = "c"}},
        nodes);

    ASSERT_TRUE(topology.has_value()) << topology.error().message;
    EXPECT_THAT(topology->tiers, ElementsAre(2, 1));
    EXPECT_THAT(topology->file.levels, ElementsAre(Level{"spine", "topology.muster/spine"},
                                                   Level{"tier1", "topology.muster/tier1"}));
    EXPECT_EQ(labels_of(*topology, "n0"), "spine=s2 tier1=s0 ");
    EXPECT_EQ(labels_of(*topology, "n3"), "spine=s2 tier1=s1 ");
}

TEST(HyperNodes, MembersByLabelsAndByPatternMayOverlapWithinOne) {
    const auto nodes = four_nodes();
    const HyperNodeMember row_a{.match = Match::labels,
                                .labels = {{.key = "row", .values = {"a"}}}};
    const auto topology = build_hypernodes(
        {{.name = "s0", .tier = 1, .members = {row_a, node("n0"), nodes_like("n1")}}}, nodes);

    ASSERT_TRUE(topology.has_value()) << topology.error().message;
    EXPECT_EQ(topology->file.nodes.size(), 2U);
    EXPECT_EQ(labels_of(*topology, "n1"), "tier1=s0 ");
}

TEST(HyperNodes, SkippedTiersAreStoodInForByTheLowerOne) {
    const auto nodes = four_nodes();
    const auto topology = build_hypernodes(
        {{.name = "low", .tier = 1, .members = {node("n0")}},
         {.name = "mid", .tier = 2, .members = {node("n1")}},
         {.name = "top", .tier = 3, .members = {hypernode("low"), hypernode("mid"), node("n2")}}},
        nodes);

    ASSERT_TRUE(topology.has_value()) << topology.error().message;
    EXPECT_EQ(labels_of(*topology, "n0"), "tier3=top tier2=low tier1=low ");
    EXPECT_EQ(labels_of(*topology, "n1"), "tier3=top tier2=mid ");
    EXPECT_EQ(labels_of(*topology, "n2"), "tier3=top ");
    EXPECT_EQ(labels_of(*topology, "n3"), "");
}

TEST(HyperNodes, EveryErrorSaysWhereAndWhat) {
    struct Case {
        std::vector<HyperNode> hypernodes;
        const char* message;
    };
    const HyperNodeMember by_labels{.kind = Kind::hypernode, .match = Match::labels};
    const Case cases[] = {
        {{{.name = "a", .tier = 1, .members = {node("x")}, .place = "f:1"}},
         "f:1: HyperNode a: its member x is no node"},
        {{{.name = "a", .tier = 1, .members = {hypernode("x")}, .place = "f:1"}},
         "f:1: HyperNode a: its member x is no HyperNode"},
        {{{.name = "a", .place = "f:1"}, {.name = "a", .place = "f:2"}},
         "f:2: HyperNode a: is there already, at f:1"},
        {{{.name = "a", .tier = 1, .members = {node("n0")}, .place = "f:1"},
          {.name = "b", .tier = 1, .members = {nodes_like("n")}, .place = "f:2"}},
         "f:2: HyperNode b: its member n0 has a parent already, a at f:1"},
        {{{.name = "a", .tier = 1, .members = {hypernode("b")}, .place = "f:1"},
          {.name = "b", .tier = 2, .members = {hypernode("a")}, .place = "f:2"}},
         "f:1: HyperNode a: its member b is of tier 2, expected one below 1"},
        {{{.name = "a", .tier = 1, .members = {hypernode("a")}, .place = "f:1"}},
         "f:1: HyperNode a: its member a is of tier 1, expected one below 1"},
        {{{.name = "a", .tier = 1, .members = {nodes_like("[")}, .place = "f:1"}},
         "f:1: HyperNode a: found the pattern \"[\", expected a regular expression"},
        {{{.name = "a", .tier = 1, .members = {by_labels}, .place = "f:1"}},
         "f:1: HyperNode a: selects HyperNodes by labels, expected a name or a pattern"},
        {{{.name = "a", .tier = -1, .place = "f:1"}},
         "f:1: HyperNode a: found tier -1, expected 0 to 1000000"},
        {{{.name = "a", .tier = 1, .tier_name = "x"},
          {.name = "b", .tier = 1, .tier_name = "y", .place = "f:2"}},
         "f:2: HyperNode b: calls tier 1 y, another one calls it x"},
        {{{.name = "a", .tier = 1, .tier_name = "x"}, {.name = "b", .tier = 2, .tier_name = "x"}},
         "tiers 1 and 2 of HyperNodes are both called x, expected a name each"},
    };
    const auto nodes = four_nodes();
    for (const Case& c : cases) {
        const auto topology = build_hypernodes(c.hypernodes, nodes);
        ASSERT_FALSE(topology.has_value()) << c.message;
        EXPECT_EQ(topology.error().message, c.message);
    }
}

TEST(HyperNodes, RunawayPatternIsRefused) {
    const std::vector<NodeLabels> nodes{{std::string(250, 'a'), {}}};
    const auto topology = build_hypernodes(
        {{.name = "s", .tier = 1, .members = {nodes_like("^(a*)*(a*)*(a*)*b$")}, .place = "f"}},
        nodes);

    ASSERT_FALSE(topology.has_value());
    EXPECT_THAT(topology.error().message, testing::HasSubstr("its pattern takes too long"));
}

}  // namespace
}  // namespace muster::dialect
