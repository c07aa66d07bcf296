// What a Source tells first: how the cluster stands, as facts against what the ledger says. Also
// what has gone while nobody listened, which no listing names.
#pragma once

#include "model/fact.h"
#include "model/snapshot.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

/// All that a cluster has at one moment.
struct Listing {
    struct Run {
        std::string workload;
        std::uint32_t task = 0;
        std::string node;
        bool has_devices = false;
        Devices devices;
        bool is_finished = false;
    };

    std::vector<Level> levels;
    std::vector<NodeSpec> nodes;
    std::vector<QueueSpec> queues;  // parents first
    std::vector<WorkloadSpec> workloads;
    std::vector<Run> runs;  // of those workloads
    std::vector<LeaseSpec> leases;
};

/// In an order in which they can be applied. A task that was ordered and is not seen to run is
/// nothing new: its order is still open. One that has finished stays so under one uid.
std::vector<Fact> facts_against(const Snapshot& known, const Listing& now);

}  // namespace muster
