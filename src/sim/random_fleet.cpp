// Random nodes: from an empty box to eight GPUs with MIG, zones, links and taints.
#include "sim/random_facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {

namespace {

struct Card {
    const char* model;
    std::int64_t mib;
    bool is_mig;
};

const std::vector<Card>& cards() {
    static const std::vector<Card> list = {{"NVIDIA-H100-80GB-HBM3", 81'559, true},
                                           {"NVIDIA-A100-SXM4-40GB", 40'960, true},
                                           {"NVIDIA-A100-SXM4-80GB", 81'920, true},
                                           {"A100", 40'960, true},
                                           {"A100", 81'920, true},
                                           {"NVIDIA-A30", 24'576, true},
                                           {"Tesla-T4", 15'360, false},
                                           {"NVIDIA-L40S", 46'068, false},
                                           {"", 0, false}};
    return list;
}

}  // namespace

TopologySet RandomFacts::make_levels() {
    static const std::vector<Level> all = {
        {"zone", "example.com/zone"}, {"spine", "spine"}, {"rack", "example.com/rack"}};
    TopologySet out;
    for (std::size_t i = all.size() - static_cast<std::size_t>(traits_.levels); i < all.size();
         ++i) {
        out.levels.push_back(all[i]);
    }
    return out;
}

NodeSpec RandomFacts::make_node(std::int64_t index) {
    NodeSpec node;
    node.name = fmt::format("n{}", index);
    const bool is_small = dice_.chance(20);
    node.allocatable = {.milli_cpu = dice_.between(is_small ? 0 : 8, is_small ? 8 : 48) * 2'000,
                        .memory = dice_.between(1, is_small ? 16 : 64) * (std::int64_t{8} << 30),
                        .extended = {}};
    node.pods = dice_.chance(15) ? dice_.between(0, 4) : 110;
    node.rank = dice_.chance(20) ? static_cast<std::int32_t>(dice_.between(0, 3)) : 0;
    if (!dice_.chance(10)) {
        node.labels.push_back({"example.com/zone", fmt::format("z{}", dice_.between(0, 1))});
    }
    if (!dice_.chance(10)) {
        node.labels.push_back({"spine", fmt::format("s{}", dice_.between(0, 2))});
    }
    if (!dice_.chance(10)) {
        node.labels.push_back({"example.com/rack", fmt::format("r{}", dice_.between(0, 3))});
    }
    if (dice_.chance(70)) {
        node.labels.push_back({"block", fmt::format("b{}", dice_.between(0, 2))});
    }
    if (traits_.has_selectors) {
        if (dice_.chance(60)) { node.labels.push_back({"disk", dice_.chance(50) ? "ssd" : "hdd"}); }
        if (dice_.chance(60)) {
            node.labels.push_back({"age", std::to_string(dice_.between(0, 4))});
        }
    }
    if (traits_.has_taints && dice_.chance(30)) {
        node.taints.push_back({dice_.chance(50) ? "gpu" : "team", dice_.chance(50) ? "yes" : "red",
                               static_cast<TaintEffect>(dice_.below(3))});
    }
    if (traits_.has_extended && dice_.chance(60)) {
        node.allocatable.extended.push_back({"rdma/hca", dice_.between(0, 4)});
        if (dice_.chance(40)) {
            node.allocatable.extended.push_back({"hugepages-2Mi", dice_.between(0, 8)});
        }
    }
    add_gpus(node);
    if (traits_.has_numa && dice_.chance(70)) { add_numa(node); }
    if (traits_.has_links && dice_.chance(70)) { add_links(node); }
    node.is_counted = dice_.chance(15);
    return node;
}

void RandomFacts::add_gpus(NodeSpec& node) {
    node.gpus.clear();
    if (dice_.chance(15)) { return; }
    static const std::vector<std::int64_t> sizes = {1, 2, 2, 4, 4, 4, 8, 8};
    const std::int64_t count = dice_.chance(20) ? dice_.between(1, 8) : dice_.pick(sizes);
    Card card = dice_.pick(cards());
    for (std::int64_t i = 0; i < count; ++i) {
        if (dice_.chance(5)) { card = dice_.pick(cards()); }
        GpuSpec gpu;
        gpu.model = card.model;
        gpu.memory_mib = card.mib;
        if (traits_.has_mig && card.is_mig && dice_.chance(60)) { gpu.mig = MigMode::dynamic; }
        gpu.is_healthy = !dice_.chance(4);
        node.gpus.push_back(gpu);
    }
}

void RandomFacts::add_numa(NodeSpec& node) {
    const std::int64_t zones = dice_.between(1, 3);
    for (std::int64_t i = 0; i < zones; ++i) {
        node.numa.push_back({node.allocatable.milli_cpu / zones});
    }
    for (GpuSpec& gpu : node.gpus) {
        gpu.numa = dice_.chance(10) ? -1 : static_cast<std::int32_t>(dice_.between(0, zones - 1));
    }
    if (dice_.chance(70)) { node.numa_policy = NumaPolicy::single_numa_node; }
}

void RandomFacts::add_links(NodeSpec& node) {
    const std::int64_t nics = dice_.between(0, 2);
    for (std::int64_t i = 0; i < nics; ++i) {
        const auto zone = static_cast<std::int32_t>(
            node.numa.empty() ? -1 : dice_.between(0, std::int64_t(node.numa.size()) - 1));
        node.nics.push_back({fmt::format("mlx5_{}", i), zone});
    }
    const std::size_t size = node.gpus.size() + node.nics.size();
    node.links.paths.assign(size * size, Link::sys);
    node.links.nvlinks.assign(size * size, 0);
    for (std::size_t a = 0; a < size; ++a) {
        node.links.paths[a * size + a] = Link::self;
        for (std::size_t b = 0; b < a; ++b) {
            const auto link = static_cast<Link>(dice_.between(1, 6));
            const bool is_gpus = a < node.gpus.size() && b < node.gpus.size();
            const Link path = link == Link::nvlink && !is_gpus ? Link::pix : link;
            for (const std::size_t at : {a * size + b, b * size + a}) {
                node.links.paths[at] = path;
                node.links.nvlinks[at] = path == Link::nvlink ? 4 : 0;
            }
        }
    }
}

void RandomFacts::change_node(NodeSpec& node) {
    switch (dice_.below(9)) {
        case 0: node.is_cordoned = !node.is_cordoned; break;
        case 1: node.is_ready = !node.is_ready; break;
        case 2: node.allocatable.milli_cpu = dice_.between(0, 16) * 2'000; break;
        case 3: node.allocatable.memory = dice_.between(1, 16) * (std::int64_t{4} << 30); break;
        case 4:
            if (!node.labels.empty()) {
                Label& label = node.labels[dice_.below(node.labels.size())];
                label.value = label.value.substr(0, 1) + std::to_string(dice_.between(0, 3));
            }
            break;
        case 5:
            if (!node.labels.empty()) {
                node.labels.erase(node.labels.begin() +
                                  static_cast<std::ptrdiff_t>(dice_.below(node.labels.size())));
            }
            break;
        case 6:
            if (node.taints.empty() && traits_.has_taints) {
                node.taints.push_back({"gpu", "yes", TaintEffect::no_schedule});
            } else {
                node.taints.clear();
            }
            break;
        case 7: {  // another machine of the same name
            const std::string name = node.name;
            node = make_node(0);
            node.name = name;
            break;
        }
        case 8: node.pods = dice_.chance(50) ? dice_.between(0, 6) : 110; break;
    }
}

}  // namespace muster
