// A machine as the cluster describes it: resources, labels, taints, and its GPUs and NICs as
// devices.
#pragma once

#include "model/resources.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

enum class TaintEffect : std::uint8_t { no_schedule, prefer_no_schedule, no_execute };

struct Taint {
    std::string key;
    std::string value;
    TaintEffect effect = TaintEffect::no_schedule;

    bool operator==(const Taint&) const = default;
};

/// How a GPU may be cut: not at all, or into MIG instances that the engine chooses (`start` and
/// profile).
enum class MigMode : std::uint8_t { off, dynamic };

struct GpuSpec {
    std::string model;            // product name, "NVIDIA-H100-80GB-HBM3"; empty when unknown
    std::int64_t memory_mib = 0;  // 0 when unknown: then no share by memory fits
    std::int32_t numa = -1;       // zone, −1 unknown
    MigMode mig = MigMode::off;
    bool is_healthy = true;

    bool operator==(const GpuSpec&) const = default;
};

struct NicSpec {
    std::string name;  // "mlx5_0"
    std::int32_t numa = -1;

    bool operator==(const NicSpec&) const = default;
};

/// Path between two devices of one node, nearest first (`nvidia-smi topo -m`).
enum class Link : std::uint8_t { self, nvlink, pix, pxb, phb, node, sys, unknown };

/// Square matrix over the node's GPUs, then its NICs, row by row; empty when not known.
struct LinkMatrix {
    std::vector<Link> paths;
    std::vector<std::uint8_t> nvlinks;  // number of bonded NVLinks, 0 elsewhere; same shape

    bool operator==(const LinkMatrix&) const = default;
};

/// What the kubelet's topology manager demands of a placement.
enum class NumaPolicy : std::uint8_t { none, single_numa_node };

struct NumaZone {
    std::int64_t milli_cpu = 0;  // allocatable to pods with exclusive CPUs

    bool operator==(const NumaZone&) const = default;
};

struct NodeSpec {
    std::string name;
    std::vector<Label> labels;  // keys are unique
    std::vector<Taint> taints;
    Resources allocatable;
    std::int64_t pods = 110;  // how many tasks at once
    std::vector<GpuSpec> gpus;
    std::vector<NicSpec> nics;
    LinkMatrix links;
    std::vector<NumaZone> numa;
    NumaPolicy numa_policy = NumaPolicy::none;
    bool is_ready = true;
    bool is_cordoned = false;
    std::int32_t rank = 0;  // order among the nodes of one domain, before the name
    /// Devices are anonymous (device plugin): a holding counts k of them, identity is learned
    /// later.
    bool is_counted = false;

    bool operator==(const NodeSpec&) const = default;
};

/// One level of the primary topology tree. A node is in the domain that its label `key` names;
/// a node without the label is in no domain of the level.
struct Level {
    std::string name;  // "rack"
    std::string key;   // "topology.example.com/rack"

    bool operator==(const Level&) const = default;
};

}  // namespace muster
