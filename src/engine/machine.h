// A node as the engine knows it: the specification, compiled, and who holds what on it.
// What is free stands in Space.
#pragma once

#include "engine/devices.h"
#include "engine/match.h"
#include "engine/space.h"
#include "model/mig.h"
#include "model/node.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace muster {

using ClassId = Id<struct ClassTag>;
using WorkloadId = Id<struct WorkloadTag>;

struct TaskRef {
    WorkloadId workload;
    std::uint32_t task = 0;

    auto operator<=>(const TaskRef&) const = default;
};

/// GPUs of one product in a node; nearly every node has one entry.
struct ModelGpus {
    std::uint32_t model = 0;  // index in World::gpu_models
    std::uint64_t gpus = 0;   // bit i = GPU i
    std::int32_t memory_mib = 0;
    const GpuProduct* product = nullptr;  // null when unknown
};

struct Machine {
    NodeSpec spec;
    LabelSet labels;
    std::vector<std::pair<Symbol, std::int64_t>> extended;  // allocatable, sorted by symbol
    std::vector<ModelGpus> models;
    std::uint64_t healthy = 0;
    std::uint64_t mig_gpus = 0;  // cut dynamically: never given whole or as shares
    std::uint32_t devices = 0;   // in the DeviceTable
    std::uint32_t gpu_begin = 0;
    std::uint32_t gpu_slots = 0;
    std::uint32_t zone_begin = 0;
    std::uint32_t zone_slots = 0;
    std::uint32_t extended_begin = 0;
    std::uint32_t extended_slots = 0;
    ClassId node_class;
    bool is_present = false;
    bool has_zone_rule = false;  // is_single_numa(), at hand
    std::vector<TaskRef> tasks;  // that hold something here, in no order

    [[nodiscard]] std::uint32_t gpu_count() const {
        return static_cast<std::uint32_t>(spec.gpus.size());
    }
    [[nodiscard]] bool is_single_numa() const {
        return spec.numa_policy == NumaPolicy::single_numa_node && !spec.numa.empty();
    }
    /// Whole-GPU and share candidates for a set of models.
    [[nodiscard]] std::uint64_t gpus_of(std::uint64_t allowed) const {
        std::uint64_t mask = 0;
        for (const ModelGpus& entry : models) {
            if ((allowed >> entry.model & 1) != 0) { mask |= entry.gpus; }
        }
        return mask;
    }
    [[nodiscard]] const ModelGpus* model_of(std::uint32_t gpu) const {
        for (const ModelGpus& entry : models) {
            if ((entry.gpus >> gpu & 1) != 0) { return &entry; }
        }
        return nullptr;
    }
};

}  // namespace muster
