// Refusals as data: which link said no, every reason with its count of nodes, the closest domain,
// and what would change the answer. Reads the World; decides nothing.
#pragma once

#include "engine/world.h"

#include <optional>
#include <string>
#include <vector>

namespace muster {

/// Why a workload waits, and where it is registered for what could change that.
struct Refused {
    Reason reason;
    std::vector<Wait> waits;
    bool is_hopeless = false;  // nothing that is released can help: it blocks no queue
};

Refused refuse_unknown_queue(const World& world, const Workload& workload);
Refused refuse_over_cap(const World& world, const CapBlock& block, bool is_alone);
Refused refuse_behind(const World& world, const Workload& workload, WorkloadId head);
Refused refuse_leaving(const Workload& workload);
Refused refuse_unknown_level(const World& world, const std::string& level);
Refused refuse_linked_missing(const std::string& name);
Refused refuse_linked_blocked(const std::string& name, const Refused& blocked);
/// When some role has no node that could hold one of its tasks, even if it were empty.
std::optional<Refused> refuse_if_too_large(World& world, const Workload& workload);
/// A cap stood in the way of some placement that was tried. Others may have failed for other
/// reasons, so that it waits for any of them to change.
Refused refuse_capped(const World& world, const Workload& workload, const CapBlock& block);
/// After a placement was looked for in vain.
Refused refuse_room(World& world, const Workload& workload);

/// The reason names what the refusal waits for.
void name_wakes(Refused& refused);
/// Some of its tasks are placed by what other tasks stand where.
bool minds_pods(const World& world, const Workload& workload);

/// "8 gpu", "0.5 gpu", "2000 MiB of a gpu", "2 × 1g.10gb", with "and 64 cpu" where that is short.
std::string describe_need(const Shape& shape, bool with_cpu, bool with_memory);
/// "rack r1", "node a", or nothing for the whole cluster.
std::string describe_domain(const World& world, std::int32_t level, Position at);

}  // namespace muster
