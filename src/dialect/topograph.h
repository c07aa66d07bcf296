// Which topology labels a set of nodes carries, as levels. Pure.
//
// Known are Topograph's three dialects (v1, v0.3 to v0.5, v0.1), the labels of AWS, GCP and OCI,
// region and zone, and NVLink domains (Topograph's accelerator labels, nvidia.com/gpu.clique, AWS
// UltraServers). Of the network dialects the one that most nodes carry is taken, the newer or more
// exact one on a tie; region and zone stand outside of it. The NVLink domain is the innermost level
// above the node, or further out where it holds several domains of a level.
#pragma once

#include "dialect/topology_file.h"
#include "model/node.h"

#include <span>
#include <string>
#include <vector>

namespace muster::dialect {

struct LabelTopology {
    std::vector<Level> levels;       // outermost first
    std::string dialect;             // "Topograph v1", "AWS", "" when no network labels are there
    std::vector<std::string> notes;  // what was left out and why, in sentences

    bool operator==(const LabelTopology&) const = default;
};

/// A level that does not nest in the next one out (one of its domains lies in two) is left out with
/// a note, as is a dialect that fewer nodes carry.
LabelTopology detect_levels(std::span<const NodeLabels> nodes);

}  // namespace muster::dialect
