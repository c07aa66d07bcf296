// What a person sees of a World: the tree with what is free, queues with what they use, the last
// plan, who waits, and the shapes that are free. The lines of `show` in scenarios and of the
// program's tables.
#pragma once

#include "engine/world.h"
#include "model/plan.h"

#include <string>
#include <vector>

namespace muster::sim {

using Lines = std::vector<std::string>;

/// Domains by level with their free GPUs, nodes below them.
Lines show_topology(const World& world);
/// The tree of queues: used of cap, and how many run and wait.
Lines show_queues(const World& world);
Lines show_plan(const Plan& plan);
/// In the order in which they will be decided.
Lines show_waiting(const World& world);

/// "4", "0.5", "2.25"
std::string write_thousandths(std::int64_t milli);
/// "0-3,6", or "" for none.
std::string write_bits(std::uint64_t bits);
/// "gpu 0-3", "mig 0:4", "gpu 0 numa 1"
std::string write_devices(const Devices& devices);

}  // namespace muster::sim
