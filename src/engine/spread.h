// Which nodes of a range take how many tasks of one shape: the fewest sub-domains, then the fewest
// nodes, then those whose room is worth least. Arithmetic on a Room; places nothing.
#pragma once

#include "engine/room.h"
#include "engine/topology.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace muster {

/// A domain of `level`; −1 is the whole cluster, level_count() one node.
struct Region {
    Position begin = 0;
    Position end = 0;
    std::int32_t level = -1;
    const std::vector<std::uint8_t>* mask = nullptr;  // by position; null = all of the range

    [[nodiscard]] bool has(Position at) const { return mask == nullptr || (*mask)[at] != 0; }
};

using Share = std::pair<Position, std::int64_t>;  // tasks on the node at a position

std::int64_t room_in(const Room& room, const Topology& topology, const Region& region);

/// `count` tasks, or all that fit; sorted by position.
std::vector<Share> spread_tasks(const Room& room, const Topology& topology, const Region& region,
                                std::int64_t count);

}  // namespace muster
