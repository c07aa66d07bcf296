// A topology that stands in a file or in objects of its own, beside the nodes, as levels and
// labels: what a caller adds to the nodes' labels, so that the engine reads every topology alike.
// Pure.
#pragma once

#include "base/result.h"
#include "model/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::dialect {

/// Labels of a node; keys are unique.
struct NodeLabels {
    std::string node;
    std::vector<Label> labels;

    bool operator==(const NodeLabels&) const = default;
};

struct TopologyFile {
    std::vector<Level> levels;      // outermost first; keys begin with topology_key_prefix
    std::vector<NodeLabels> nodes;  // by name

    bool operator==(const TopologyFile&) const = default;
};

inline constexpr std::string_view topology_key_prefix = "topology.muster/";

/// A switch, a block: something that holds either others of its kind or nodes.
struct TopologyUnit {
    std::string name;
    std::vector<std::string> children;
    std::vector<std::string> nodes;
    std::string place;  // where it is written, for messages: "topology.conf line 3"
};

/// What the units are called in messages and what their levels are called.
struct TopologyWords {
    std::string_view unit;  // "switch"
    std::vector<std::string_view>
        levels;  // innermost first; further out they are numbered: "tier4"
};

/// A forest whose leaves are all equally deep. Refuses duplicates, unknown children, two parents,
/// cycles, unequal depth and empty units, by name and place.
Result<TopologyFile> build_topology(const std::vector<TopologyUnit>& units,
                                    const TopologyWords& words);

}  // namespace muster::dialect
