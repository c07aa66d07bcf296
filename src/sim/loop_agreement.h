// When all is quiet, the cluster and the engine must know the same.
#pragma once

#include "engine/world.h"
#include "sim/loop_cluster.h"

#include <cstddef>
#include <string>
#include <vector>

namespace muster::sim {

/// In words, each of them; empty when they agree.
std::vector<std::string> disagreements(const World& world, const LoopCluster& cluster);

/// Tasks that are placed and not confirmed, or leave: as many orders must be open.
std::size_t unsettled_tasks(const World& world);

}  // namespace muster::sim
