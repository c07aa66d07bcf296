#include "cli/slowdown.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace muster::cli {

namespace {

/// The slowest path between two chosen GPUs of one node. Where links are not known, NVLink is taken
/// for granted on products that have it.
Reach reach_in_node(const NodeSpec& node, std::uint64_t gpus, const GpuProduct& product) {
    const std::size_t devices = node.gpus.size() + node.nics.size();
    Reach worst = Reach::nvlink;
    if (node.links.paths.empty()) {
        return product.nvlink_generation > 0 ? Reach::nvlink : Reach::pcie_host;
    }
    for (std::size_t from = 0; from < node.gpus.size(); ++from) {
        for (std::size_t to = from + 1; to < node.gpus.size(); ++to) {
            const bool are_chosen = (gpus >> from & 1) != 0 && (gpus >> to & 1) != 0;
            if (!are_chosen) { continue; }
            worst = std::max(worst, reach_of(node.links.paths[from * devices + to]));
        }
    }
    return worst;
}

bool is_nvlink_level(std::string_view name) {
    for (const std::string_view part : {"nvl", "clique", "accelerator"}) {
        if (name.find(part) != std::string_view::npos) { return true; }
    }
    return false;
}

/// Levels are taken from the inside: an NVLink domain if its name says so, then leaf, then spine.
Reach reach_between_nodes(const Placement& placement, const World& world) {
    const std::vector<Level>& levels = world.topology.levels();
    if (levels.empty()) { return Reach::leaf; }
    Reach reach = Reach::leaf;
    for (std::size_t i = levels.size(); i-- > 0;) {
        const bool is_here = levels[i].name == placement.level;
        if (is_nvlink_level(levels[i].name)) {
            if (is_here) { return Reach::nvlink_domain; }
            continue;
        }
        if (is_here) { return reach; }
        reach = reach == Reach::leaf ? Reach::spine : Reach::core;
    }
    return reach;
}

}  // namespace

std::optional<Slowdown> slowdown_of(const Placement& placement, const World& world,
                                    std::int32_t sensitivity_percent) {
    std::int64_t gpu_count = 0;
    std::vector<std::pair<NodeId, std::uint64_t>> chosen;
    for (const TaskPlace& place : placement.tasks) {
        const NodeId id = world.find_node(place.node);
        if (!id.is_valid()) { continue; }
        gpu_count += std::popcount(place.devices.gpus);
        const auto same = std::ranges::find(chosen, id, &std::pair<NodeId, std::uint64_t>::first);
        if (same == chosen.end()) {
            chosen.emplace_back(id, place.devices.gpus);
        } else {
            same->second |= place.devices.gpus;
        }
    }
    if (gpu_count < 2 || chosen.empty()) { return std::nullopt; }
    const NodeSpec& first = world.machines[chosen.front().first.value].spec;
    if (first.gpus.empty()) { return std::nullopt; }
    const GpuSpec& gpu = first.gpus.front();
    const GpuProduct* known = find_gpu_product(gpu.model, gpu.memory_mib);
    const GpuProduct& product = known == nullptr ? generic_gpu_product() : *known;

    Slowdown out;
    out.product = gpu.model;
    out.is_known_product = known != nullptr;
    out.reach = Reach::nvlink;
    for (const auto& [id, gpus] : chosen) {
        out.reach =
            std::max(out.reach, reach_in_node(world.machines[id.value].spec, gpus, product));
    }
    if (chosen.size() > 1) {
        out.reach = std::max(out.reach, reach_between_nodes(placement, world));
    }
    out.gbs = all_reduce_gbs(product, out.reach);
    out.best_gbs = all_reduce_gbs(product, Reach::nvlink);
    out.percent = slowdown_percent(out.best_gbs, out.gbs, sensitivity_percent);
    return out;
}

std::string_view words_of(Reach reach) {
    switch (reach) {
        case Reach::nvlink: return "NVLink in one node";
        case Reach::nvlink_domain: return "one NVLink domain";
        case Reach::pcie_switch: return "one PCIe switch";
        case Reach::pcie_host: return "PCIe through the host";
        case Reach::leaf: return "one leaf switch";
        case Reach::spine: return "over spine switches";
        case Reach::core: return "over the core";
    }
    return "";
}

}  // namespace muster::cli
