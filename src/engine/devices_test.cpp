#include "engine/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

namespace muster {
namespace {

using testing::ElementsAre;

struct Shape {
    std::size_t gpus = 8;
    std::size_t nics = 0;
    std::vector<std::int32_t> numa;  // per GPU; empty = unknown
};

NodeSpec make_node(const Shape& shape, Link link = Link::sys, std::uint8_t nvlinks = 0) {
    NodeSpec node{.name = "n"};
    node.gpus.resize(shape.gpus);
    node.nics.resize(shape.nics);
    for (std::size_t i = 0; i < shape.numa.size(); ++i) { node.gpus[i].numa = shape.numa[i]; }
    const std::size_t size = shape.gpus + shape.nics;
    node.links.paths.assign(size * size, Link::sys);
    node.links.nvlinks.assign(size * size, 0);
    for (std::size_t a = 0; a < shape.gpus; ++a) {
        for (std::size_t b = 0; b < shape.gpus; ++b) {
            node.links.paths[a * size + b] = a == b ? Link::self : link;
            node.links.nvlinks[a * size + b] = a == b ? std::uint8_t{0} : nvlinks;
        }
    }
    return node;
}

void set_link(NodeSpec& node, std::size_t a, std::size_t b, Link link, std::uint8_t nvlinks = 0) {
    const std::size_t size = node.gpus.size() + node.nics.size();
    for (const std::size_t cell : {a * size + b, b * size + a}) {
        node.links.paths[cell] = link;
        node.links.nvlinks[cell] = nvlinks;
    }
}

std::uint64_t choose(const NodeSpec& node, std::uint64_t free_mask, int count,
                     bool near_nic = false) {
    return choose_whole(compile_devices(node), free_mask, count, near_nic);
}

/// Eight GPUs, bonded in pairs (0,1), (2,3) …, as H100 NVL cards with bridges.
NodeSpec bridged() {
    NodeSpec node = make_node({.gpus = 8, .numa = {0, 0, 0, 0, 1, 1, 1, 1}});
    for (std::size_t i = 0; i < 8; i += 2) { set_link(node, i, i + 1, Link::nvlink, 12); }
    return node;
}

/// DGX-1: each half is joined by NVLink, some pairs by two, and GPU i to i + 4.
NodeSpec cube_mesh() {
    NodeSpec node = make_node({.gpus = 8, .numa = {0, 0, 0, 0, 1, 1, 1, 1}});
    const std::array<std::array<int, 3>, 16> links{{{0, 1, 1},
                                                    {0, 2, 1},
                                                    {0, 3, 2},
                                                    {0, 4, 2},
                                                    {1, 2, 2},
                                                    {1, 3, 1},
                                                    {1, 5, 2},
                                                    {2, 3, 2},
                                                    {2, 6, 1},
                                                    {3, 7, 1},
                                                    {4, 5, 1},
                                                    {4, 6, 1},
                                                    {4, 7, 2},
                                                    {5, 6, 2},
                                                    {5, 7, 1},
                                                    {6, 7, 2}}};
    for (const auto& [a, b, count] : links) {
        set_link(node, static_cast<std::size_t>(a), static_cast<std::size_t>(b), Link::nvlink,
                 static_cast<std::uint8_t>(count));
    }
    return node;
}

TEST(Devices, NoneWhenThereAreTooFew) {
    EXPECT_EQ(choose(make_node({.gpus = 8}), 0b111, 4), 0U);
    EXPECT_EQ(choose(make_node({.gpus = 8}), 0b111, 0), 0U);
    EXPECT_EQ(choose(make_node({.gpus = 8}), 0b10110, 3), 0b10110U);
}

TEST(Devices, UniformNodeGivesLowest) {
    EXPECT_EQ(choose(make_node({.gpus = 8}, Link::nvlink, 18), 0b11110110, 3), 0b00010110U);
    EXPECT_EQ(choose(NodeSpec{.gpus = std::vector<GpuSpec>(4)}, 0b1110, 2), 0b0110U);
}

TEST(Devices, UniformNodeFillsOneZone) {
    const NodeSpec node =
        make_node({.gpus = 8, .numa = {0, 0, 0, 0, 1, 1, 1, 1}}, Link::nvlink, 18);

    EXPECT_EQ(choose(node, 0b1111'1111, 2), 0b0000'0011U);
    EXPECT_EQ(choose(node, 0b1110'1111, 2), 0b0110'0000U) << "zone 1 is opened already";
    EXPECT_EQ(choose(node, 0b1111'0001, 2), 0b0011'0000U)
        << "one zone, though an opened one has a GPU";
    EXPECT_EQ(choose(node, 0b1100'0111, 2), 0b1100'0000U) << "the tighter of two opened zones";
    EXPECT_EQ(choose(node, 0b0111'1111, 5), 0b0001'1111U) << "what stays, stays together";
}

TEST(Devices, PairPrefersItsBridge) {
    EXPECT_EQ(choose(bridged(), 0b1111'1111, 2), 0b0000'0011U);
    EXPECT_EQ(choose(bridged(), 0b1100'0101, 2), 0b1100'0000U);
}

TEST(Devices, SingleTaskLeavesPairsWhole) {
    EXPECT_EQ(choose(bridged(), 0b1111'1011, 1), 0b0000'1000U) << "GPU 3 has lost its partner";
    EXPECT_EQ(choose(bridged(), 0b1100'0100, 1), 0b0000'0100U);
}

TEST(Devices, CubeMeshTakesDoubleLinks) {
    EXPECT_EQ(choose(cube_mesh(), 0xff, 4), 0b0000'1111U);
    EXPECT_EQ(std::popcount(choose(cube_mesh(), 0xff, 2)), 2);
    const NodeDevices devices = compile_devices(cube_mesh());
    const std::uint64_t pair = choose_whole(devices, 0xff, 2, false);
    const auto a = static_cast<std::size_t>(std::countr_zero(pair));
    const auto b = static_cast<std::size_t>(63 - std::countl_zero(pair));
    EXPECT_EQ(devices.worth[a * 8 + b], link_worth(Link::nvlink, 2));
    EXPECT_EQ(devices.numa[a], devices.numa[b]);
}

TEST(Devices, NearNicOnlyWhenAsked) {
    NodeSpec node = make_node({.gpus = 4, .nics = 1}, Link::sys);
    set_link(node, 2, 4, Link::pix);
    set_link(node, 0, 4, Link::node);

    EXPECT_EQ(compile_devices(node).near_nic, 0b0100U);
    EXPECT_EQ(choose(node, 0b1111, 1, false), 0b0001U);
    EXPECT_EQ(choose(node, 0b1111, 1, true), 0b0100U);
    EXPECT_EQ(choose(node, 0b1011, 1, true), 0b0001U) << "none of the free ones is near";
}

TEST(Devices, NicsTellPcieNeighboursThatNvlinkHides) {
    NodeSpec node = make_node({.gpus = 4, .nics = 2}, Link::nvlink, 12);
    for (const std::size_t gpu : {0U, 1U}) { set_link(node, gpu, 4, Link::pxb); }
    for (const std::size_t gpu : {2U, 3U}) { set_link(node, gpu, 5, Link::pxb); }
    const NodeDevices devices = compile_devices(node);

    EXPECT_THAT(devices.pcie_neighbours, ElementsAre(0b0010, 0b0001, 0b1000, 0b0100));
    EXPECT_THAT(devices.groups, ElementsAre(0b0011, 0b1100));
    EXPECT_EQ(choose_whole(devices, 0b1101, 1, false), 0b0001U)
        << "the switch of 2 and 3 stays untouched";
}

TEST(Devices, NearNicFollowsZonesWithoutMatrix) {
    NodeSpec node{.gpus = {{.numa = 0}, {.numa = 1}}, .nics = {{.name = "mlx5_0", .numa = 1}}};

    EXPECT_EQ(compile_devices(node).near_nic, 0b10U);
    EXPECT_EQ(choose(node, 0b11, 1, true), 0b10U);
}

TEST(Devices, ChainOfNeighboursIsOneGroup) {
    NodeSpec node = make_node({.gpus = 5});
    set_link(node, 0, 3, Link::nvlink, 1);
    set_link(node, 3, 1, Link::nvlink, 1);
    set_link(node, 1, 2, Link::nvlink, 1);

    EXPECT_THAT(compile_devices(node).groups, ElementsAre(0b01111));
}

TEST(Devices, ManyGpusAreChosenGreedily) {
    NodeSpec node = make_node({.gpus = 64});
    for (std::size_t a = 0; a < 64; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            if (a / 8 == b / 8) { set_link(node, a, b, Link::nvlink, 18); }
        }
    }

    EXPECT_EQ(choose(node, ~std::uint64_t{0} << 3, 8), std::uint64_t{0xff} << 8);
    EXPECT_EQ(choose(node, ~std::uint64_t{0} << 3, 4), std::uint64_t{0b01111} << 3)
        << "the opened group first";
}

TEST(Devices, SingleNumaTakesTightestZoneWithCpus) {
    const NodeDevices node =
        compile_devices(make_node({.gpus = 8, .numa = {0, 0, 0, 0, 1, 1, 1, 1}}, Link::nvlink, 18));
    const std::vector<std::int64_t> cpus{8'000, 4'000};

    EXPECT_EQ(choose_single_numa(node, 0b0011'1111, 2, cpus, 4'000, false),
              (NumaChoice{1, 0b0011'0000}));
    EXPECT_EQ(choose_single_numa(node, 0b0011'1111, 2, cpus, 5'000, false),
              (NumaChoice{0, 0b0000'0011}));
    EXPECT_EQ(choose_single_numa(node, 0b0011'0001, 3, cpus, 0, false), std::nullopt);
    EXPECT_EQ(choose_single_numa(node, 0xff, 1, cpus, 9'000, false), std::nullopt);
    EXPECT_EQ(choose_single_numa(node, 0xff, 0, cpus, 2'000, false), (NumaChoice{1, 0}));
    EXPECT_EQ(choose_single_numa(node, 0xff, 0, cpus, 0, false), (NumaChoice{-1, 0}));
    EXPECT_EQ(choose_single_numa(node, 0xff, 1, {}, 1, false), std::nullopt)
        << "no zone is known to have CPUs";
}

TEST(Devices, SingleNumaTakesGpusOfUnknownZoneAnywhere) {
    const NodeDevices none = compile_devices(make_node({.gpus = 4}));
    const NodeDevices some = compile_devices(make_node({.gpus = 4, .numa = {0, 1, -1, -1}}));
    const std::vector<std::int64_t> cpus{1'000, 8'000};

    EXPECT_EQ(choose_single_numa(none, 0b1111, 2, {}, 0, false), (NumaChoice{-1, 0b0011}));
    EXPECT_EQ(choose_single_numa(none, 0b1111, 2, cpus, 4'000, false), (NumaChoice{1, 0b0011}));
    EXPECT_EQ(choose_single_numa(some, 0b1111, 3, cpus, 4'000, false), (NumaChoice{1, 0b1110}));
    EXPECT_EQ(choose_single_numa(some, 0b1111, 4, cpus, 0, false), std::nullopt);
}

TEST(Devices, TableSharesAndRemembers) {
    DeviceTable table;
    const std::uint32_t a = table.intern(bridged());
    const std::uint32_t b = table.intern(cube_mesh());

    EXPECT_EQ(table.intern(bridged()), a);
    EXPECT_EQ(table.size(), 2U);
    for (int round = 0; round < 2; ++round) {
        for (std::uint64_t mask = 1; mask < 256; ++mask) {
            for (int count = 1; count <= 8; ++count) {
                EXPECT_EQ(table.choose_whole(a, mask, count, false),
                          choose(bridged(), mask, count));
                EXPECT_EQ(table.choose_whole(b, mask, count, true),
                          choose(cube_mesh(), mask, count, true));
            }
        }
    }
}

TEST(Devices, MalformedNodesAreRefused) {
    NodeSpec many{.name = "x", .gpus = std::vector<GpuSpec>(65)};
    NodeSpec zone{.name = "x", .gpus = {{.numa = 16}}};
    NodeSpec matrix{.name = "x",
                    .gpus = {{}, {}},
                    .links = {.paths = std::vector<Link>(3), .nvlinks = {0, 0, 0}}};
    NodeSpec counts{.name = "x", .gpus = {{}}, .links = {.paths = {Link::self}, .nvlinks = {}}};

    EXPECT_EQ(check_devices(many).error().message, "node x: 65 GPUs, expected at most 64");
    EXPECT_EQ(check_devices(zone).error().message,
              "node x: GPU 0 in NUMA zone 16, expected −1 (unknown) to 15");
    EXPECT_EQ(check_devices(matrix).error().message,
              "node x: link matrix of 3 cells, expected 4 for 2 GPUs and 0 NICs");
    EXPECT_EQ(check_devices(counts).error().message,
              "node x: link matrix has 0 NVLink counts, expected 1");
}

}  // namespace
}  // namespace muster
