#include "dialect/slurm_blocks.h"

#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster::dialect {

namespace {

constexpr std::int64_t block_size_max = 1'000'000;
constexpr std::size_t slurm_name_bytes_max = 64;  // Slurm's own

Result<> check_sizes(const BlockSizes& sizes) {
    const auto refuse = [&](std::int64_t found, std::string_view expected) {
        return fail(Code::invalid, fmt::format("{}: found block size {}, expected {}", sizes.place,
                                               found, expected));
    };
    if (sizes.sizes.size() > topology_levels_max) {
        return fail(Code::limit, fmt::format("{}: found {} block sizes, expected at most {}",
                                             sizes.place, sizes.sizes.size(), topology_levels_max));
    }
    for (std::size_t i = 0; i < sizes.sizes.size(); ++i) {
        const std::int64_t size = sizes.sizes[i];
        if (size < 1 || size > block_size_max) {
            return refuse(size, fmt::format("1 to {}", block_size_max));
        }
        if (i == 0) { continue; }
        const std::int64_t times = size / sizes.sizes[i - 1];
        const bool is_power =
            times > 1 && (times & (times - 1)) == 0 && times * sizes.sizes[i - 1] == size;
        if (!is_power) {
            return refuse(size, fmt::format("{} times 2, 4, 8 …", sizes.sizes[i - 1]));
        }
    }
    return {};
}

Result<> check_names(const std::vector<TopologyUnit>& units) {
    for (const TopologyUnit& unit : units) {
        if (unit.name.size() > slurm_name_bytes_max) {
            return fail(Code::limit,
                        fmt::format("{}: found the name {:.64}…, expected at most {} bytes",
                                    unit.place, unit.name, slurm_name_bytes_max));
        }
    }
    return {};
}

}  // namespace

Result<TopologyFile> build_switches(const std::vector<TopologyUnit>& switches) {
    MUSTER_CHECK(check_names(switches));
    return build_topology(switches, {.unit = "switch", .levels = {"leaf", "spine", "core"}});
}

Result<TopologyFile> build_blocks(const std::vector<TopologyUnit>& blocks,
                                  const BlockSizes& sizes) {
    MUSTER_CHECK(check_sizes(sizes));
    MUSTER_CHECK(check_names(blocks));
    // Larger blocks are units above the written ones; their names can't be told from written ones
    // by the user, so the written ones are checked on their own first.
    MUSTER_CHECK(build_topology(blocks, {.unit = "block", .levels = {"block"}}));

    std::vector<TopologyUnit> units = blocks;
    std::vector<std::string> level_names{"block"};
    std::vector<std::size_t> below(blocks.size());  // the units of the level below, in order
    for (std::size_t i = 0; i < below.size(); ++i) { below[i] = i; }
    std::vector<std::pair<std::string, std::string>> spans;  // first and last block of each unit
    for (const TopologyUnit& block : blocks) { spans.emplace_back(block.name, block.name); }

    for (std::size_t i = 1; i < sizes.sizes.size(); ++i) {
        const auto times = static_cast<std::size_t>(sizes.sizes[i] / sizes.sizes[i - 1]);
        std::vector<std::size_t> level;
        for (std::size_t first = 0; first < below.size(); first += times) {
            const std::size_t last = std::min(first + times, below.size()) - 1;
            spans.emplace_back(spans[below[first]].first, spans[below[last]].second);
            TopologyUnit unit{.name = fmt::format("{}: {}..{}", sizes.sizes[i], spans.back().first,
                                                  spans.back().second),
                              .place = sizes.place};
            for (std::size_t k = first; k <= last; ++k) {
                unit.children.push_back(units[below[k]].name);
            }
            level.push_back(units.size());
            units.push_back(std::move(unit));
        }
        below = std::move(level);
        level_names.push_back(fmt::format("block{}", sizes.sizes[i]));
    }
    MUSTER_TRY(file, build_topology(units, {.unit = "block",
                                            .levels = {level_names.begin(), level_names.end()}}));
    for (NodeLabels& node : file.nodes) {
        for (Label& label : node.labels) {
            // "36: b1..b2" was unique among all units; within its level the span alone is.
            if (label.key == fmt::format("{}block", topology_key_prefix)) { continue; }
            label.value.erase(0, label.value.find(": ") + 2);
        }
    }
    return std::move(file);
}

}  // namespace muster::dialect
