// What topology.conf and topology.yaml share: blocks and their sizes as levels.
#pragma once

#include "base/result.h"
#include "dialect/topology_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::dialect {

struct BlockSizes {
    std::vector<std::int64_t> sizes;  // nodes; the first is the base
    std::string place;
};

/// Levels out of blocks in the order of the file.
Result<TopologyFile> build_blocks(const std::vector<TopologyUnit>& blocks, const BlockSizes& sizes);

Result<TopologyFile> build_switches(const std::vector<TopologyUnit>& switches);

}  // namespace muster::dialect
