// Volcano's HyperNodes as levels and labels. Pure; the objects come as plain structs, whoever read
// them.
//
// A tier becomes a level, the highest tier outermost. A node carries, per tier, the HyperNode of
// that tier above it. Where the tree skips a tier, the next lower HyperNode stands in: what asks
// for "this tier or lower" is content with it. A node outside the tree, or held directly by a
// higher tier, has no label of the lower ones.
#pragma once

#include "base/result.h"
#include "dialect/topology_file.h"
#include "model/task.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster::dialect {

inline constexpr std::int64_t hypernode_tier_max = 1'000'000;
inline constexpr std::size_t hypernode_pattern_bytes_max = 512;

struct HyperNodeMember {
    enum class Kind : std::uint8_t { node, hypernode };
    enum class Match : std::uint8_t { exact, regex, labels };

    Kind kind = Kind::node;
    Match match = Match::exact;
    std::string text;  // the name, or the pattern: found anywhere in a name, as Volcano does
    std::vector<LabelMatch> labels;  // nodes only; all must hold
};

struct HyperNode {
    std::string name;
    std::int64_t tier = 0;  // lower is nearer
    std::string tier_name;  // empty = "tier1"
    std::vector<HyperNodeMember> members;
    std::string place;  // for messages
};

struct HyperNodeTopology {
    TopologyFile file;
    std::vector<std::int64_t> tiers;  // of each level

    bool operator==(const HyperNodeTopology&) const = default;
};

/// Refuses unknown names, two parents, a member that is not of a lower tier (so also every cycle),
/// bad patterns and tiers of two names, with the HyperNode's name and place. A pattern that matches
/// nothing is no error.
Result<HyperNodeTopology> build_hypernodes(const std::vector<HyperNode>& hypernodes,
                                           std::span<const NodeLabels> nodes);

}  // namespace muster::dialect
