// What is free, node by node: the part of the World that placements change. Plain vectors, so that
// a copy for a what-if is a memcpy. Indexed by NodeId and by GPU (Node::gpu_begin + i).
#pragma once

#include "base/ids.h"

#include <cstdint>
#include <vector>

namespace muster {

using NodeId = Id<struct NodeTag>;

/// Free amounts may fall below zero when a fact says so (a capacity lowered, a foreign bind).
struct NodeFree {
    std::int64_t milli_cpu = 0;
    std::int64_t memory = 0;  // bytes
    std::uint64_t whole = 0;  // bit i: GPU i is wholly free (healthy or not)
    std::int32_t pods = 0;

    bool operator==(const NodeFree&) const = default;
};

struct GpuFree {
    std::int32_t milli = 0;
    std::int32_t mib = 0;

    bool operator==(const GpuFree&) const = default;
};

struct Space {
    std::vector<NodeFree> nodes;
    std::vector<GpuFree> gpus;
    std::vector<std::uint16_t> mig;      // per GPU: used memory slices, bit 8 = media engines
    std::vector<std::int64_t> zone_cpu;  // per node and NUMA zone: Node::zone_begin + z
    std::vector<std::int64_t> extended;  // per node and resource: Node::extended_begin + i

    bool operator==(const Space&) const = default;
};

}  // namespace muster
