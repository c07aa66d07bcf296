// Laws of the choice of devices, against a second implementation of the order stated in devices.h.
#include "engine/devices.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

namespace muster {
namespace {

using Order = std::tuple<int, int, int, int, int, int, int, std::uint64_t>;  // larger is better

Order order_of(const NodeDevices& node, std::uint64_t free_mask, std::uint64_t set, bool near_nic) {
    const auto worth = [&](int a, int b) {
        return node.worth[static_cast<std::size_t>(a * node.gpu_count + b)];
    };
    const auto has = [](std::uint64_t mask, int i) { return (mask >> i & 1) != 0; };
    int worst = std::numeric_limits<int>::max();
    int sum = 0;
    int stay_sum = 0;
    int stay_zone_pairs = 0;
    const std::uint64_t stays = free_mask & ~set;
    for (int a = 0; a < node.gpu_count; ++a) {
        for (int b = 0; b < a; ++b) {
            if (has(set, a) && has(set, b)) {
                worst = std::min<int>(worst, worth(a, b));
                sum += worth(a, b);
            }
            if (has(stays, a) && has(stays, b)) {
                stay_sum += worth(a, b);
                const auto ua = static_cast<std::size_t>(a);
                stay_zone_pairs +=
                    static_cast<int>(node.numa[ua] == node.numa[static_cast<std::size_t>(b)]);
            }
        }
    }
    std::uint32_t zones = 0;
    for (int a = 0; a < node.gpu_count; ++a) {
        if (has(set, a)) { zones |= 1U << (node.numa[static_cast<std::size_t>(a)] + 1); }
    }
    int opened = 0;
    for (const std::uint64_t group : node.groups) {
        opened += static_cast<int>((group & free_mask) == group && (group & set) != 0);
    }
    const int near = near_nic ? std::popcount(set & node.near_nic) : 0;
    return {worst, sum, -std::popcount(zones), near, -opened, stay_sum, stay_zone_pairs, ~set};
}

NodeSpec any_node(std::size_t gpus_max) {
    const auto gpus = *rc::gen::inRange<std::size_t>(1, gpus_max + 1);
    const auto nics = *rc::gen::inRange<std::size_t>(0, 3);
    const bool is_uniform = *rc::gen::arbitrary<bool>();
    const bool is_known = *rc::gen::arbitrary<bool>();
    const auto zones = *rc::gen::inRange(0, 6);
    NodeSpec node{
        .name = "n", .gpus = std::vector<GpuSpec>(gpus), .nics = std::vector<NicSpec>(nics)};
    for (GpuSpec& gpu : node.gpus) {
        gpu.numa = *rc::gen::inRange(zones == 0 ? -1 : *rc::gen::inRange(-1, 1), zones);
    }
    for (NicSpec& nic : node.nics) { nic.numa = *rc::gen::inRange(-1, 3); }
    if (!is_known) { return node; }
    const std::size_t size = gpus + nics;
    const auto any_link =
        rc::gen::map(rc::gen::inRange(1, 8), [](int link) { return static_cast<Link>(link); });
    const Link common = *any_link;
    node.links.paths.assign(size * size, Link::self);
    node.links.nvlinks.assign(size * size, 0);
    for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            const Link link = is_uniform && a < gpus ? common : *any_link;
            const int bonded = link != Link::nvlink ? 0 : is_uniform ? 18 : *rc::gen::inRange(1, 4);
            for (const std::size_t cell : {a * size + b, b * size + a}) {
                node.links.paths[cell] = link;
                node.links.nvlinks[cell] = static_cast<std::uint8_t>(bonded);
            }
        }
    }
    return node;
}

struct Question {
    NodeDevices node;
    std::uint64_t free_mask = 0;
    int count = 0;
    bool near_nic = false;
};

Question any_question(std::size_t gpus_max) {
    Question question{.node = compile_devices(any_node(gpus_max))};
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - question.node.gpu_count);
    question.free_mask =
        *rc::gen::arbitrary<std::uint64_t>() | (*rc::gen::arbitrary<bool>() ? all : 0);
    question.free_mask &= all;
    question.count = *rc::gen::inRange(0, question.node.gpu_count + 1);
    question.near_nic = *rc::gen::arbitrary<bool>();
    return question;
}

RC_GTEST_PROP(DevicesLaw, ChosenIsFreeOfRightCountAndNeverNoneWhenPossible, ()) {
    const Question q = any_question(64);

    const std::uint64_t chosen = choose_whole(q.node, q.free_mask, q.count, q.near_nic);

    RC_ASSERT((chosen & ~q.free_mask) == 0U);
    RC_ASSERT(std::popcount(chosen) == (q.count <= std::popcount(q.free_mask) ? q.count : 0));
}

RC_GTEST_PROP(DevicesLaw, NoOtherSubsetIsBetter, ()) {
    Question q = any_question(9);
    q.count = std::min(q.count, std::popcount(q.free_mask));

    const std::uint64_t chosen = choose_whole(q.node, q.free_mask, q.count, q.near_nic);

    const Order best = order_of(q.node, q.free_mask, chosen, q.near_nic);
    for (std::uint64_t set = q.free_mask; set != 0; set = (set - 1) & q.free_mask) {
        if (std::popcount(set) == q.count) {
            RC_ASSERT(order_of(q.node, q.free_mask, set, q.near_nic) <= best);
        }
    }
}

RC_GTEST_PROP(DevicesLaw, TableAnswersAsTheFunction, ()) {
    const NodeSpec node = any_node(10);
    DeviceTable table;
    const std::uint32_t id = table.intern(node);
    for (int i = 0; i < 40; ++i) {
        const auto free_mask =
            *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << node.gpus.size());
        const int count = *rc::gen::inRange(0, 4);
        const bool near_nic = *rc::gen::arbitrary<bool>();
        RC_ASSERT(table.choose_whole(id, free_mask, count, near_nic) ==
                  choose_whole(table.at(id), free_mask, count, near_nic));
    }
}

RC_GTEST_PROP(DevicesLaw, SingleNumaNeverLeavesItsZoneAndNeverMissesOne, ()) {
    const Question q = any_question(12);
    const auto cpus =
        *rc::gen::container<std::vector<std::int64_t>>(4, rc::gen::inRange<std::int64_t>(0, 9));
    const auto cpu = *rc::gen::inRange<std::int64_t>(0, 9);

    const auto chosen = choose_single_numa(q.node, q.free_mask, q.count, cpus, cpu, q.near_nic);

    bool is_possible = cpu == 0 && (q.free_mask & q.node.unknown_zone_gpus) == q.free_mask &&
                       std::popcount(q.free_mask) >= q.count;
    is_possible |= cpu == 0 && q.count == 0;
    for (std::size_t z = 0; z < numa_zones_max; ++z) {
        const std::uint64_t gpus = q.free_mask & (q.node.zone_gpus[z] | q.node.unknown_zone_gpus);
        const bool has_cpu = cpu == 0 || (z < cpus.size() && cpus[z] >= cpu);
        is_possible |= has_cpu && std::popcount(gpus) >= q.count;
    }
    RC_ASSERT(chosen.has_value() == is_possible);
    if (!chosen) { return; }
    RC_ASSERT((chosen->gpus & ~q.free_mask) == 0U);
    RC_ASSERT(std::popcount(chosen->gpus) == q.count);
    for (std::size_t i = 0; i < gpus_per_node_max; ++i) {
        if ((chosen->gpus >> i & 1) != 0) {
            RC_ASSERT(q.node.numa[i] == -1 || q.node.numa[i] == chosen->zone);
        }
    }
    if (cpu > 0) { RC_ASSERT(cpus[static_cast<std::size_t>(chosen->zone)] >= cpu); }
}

}  // namespace
}  // namespace muster
