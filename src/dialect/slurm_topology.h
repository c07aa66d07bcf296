// Slurm's topology files as levels and labels: topology.conf (tree of switches, or blocks) and
// topology.yaml (tree or block; a ring, a 3D torus or a flat topology has no levels and is refused
// by name). Pure.
//
// Switches become the levels leaf, spine, core, tier4 … from the nodes up. Blocks become the level
// block; each further block size becomes a level above it ("block36") whose domains are that many
// nodes' worth of blocks in the order of the file, named by their first and last block ("b1..b2").
#pragma once

#include "base/result.h"
#include "dialect/topology_file.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::dialect {

inline constexpr std::size_t slurm_topology_bytes_max = std::size_t{64} << 20;

/// `file` names the text in messages.
Result<TopologyFile> read_topology_conf(std::string_view file, std::string_view text);

/// The topology of that name; without a name the cluster's default, else the first. All others that
/// Muster knows are checked too.
Result<TopologyFile> read_topology_yaml(std::string_view file, const std::string& text,
                                        std::string_view topology = {});

}  // namespace muster::dialect
