// Where a workload's tasks go: the tightest domain that its levels allow, with the fewest
// boundaries crossed and the least valuable room broken; ranks along the tree. All or nothing: what
// was placed for a group that does not reach its minimum is rolled back.
#pragma once

#include "engine/trial.h"

#include <cstdint>

namespace muster {

/// Domains of one level that are really tried for a group before the level is given up. Reached
/// only where the room of each role is enough and all of them together do not fit.
inline constexpr std::size_t domain_tries_max = 64;
/// Placements of single tasks that one decision may try in all, beside its own size.
inline constexpr std::int64_t placement_tries_max = 100'000;

/// What to aim at for groups that have members already.
enum class Goal : std::uint8_t {
    start,   // every required group to its minimum, then the elastic rest
    repair,  // only those that have members, to the minimum that they had
    grow,    // as much of the rest as fits beside those that run
};

/// False, with nothing placed, when no way was found. All of its levels must be known.
bool place_workload(World& world, Trial& trial, WorkloadId id, Goal goal);

/// The level of a wish: an index of the tree, level_count() for single nodes, −1 for none.
/// −2 for a node label key that is not of the tree but on some node; nothing when unknown.
std::optional<std::int32_t> resolve_level(const World& world, std::string_view name);
inline constexpr std::int32_t level_is_label = -2;

}  // namespace muster
