// Free shapes instead of free GPUs: how many whole nodes, whole racks and MIG instances there are,
// and the largest gang that each level could take. Counts GPUs only; what CPUs and memory a job
// asks for, `plan` tells.
#pragma once

#include "engine/world.h"
#include "sim/show.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::sim {

/// Nodes with so many GPUs of one model.
struct NodeShape {
    std::string model;
    std::int64_t gpus = 0;
    std::int64_t free = 0;  // wholly free
    std::int64_t total = 0;
    std::int64_t free_gpus = 0;  // on all of them, whole GPUs

    bool operator==(const NodeShape&) const = default;
};

/// Domains of a level in which every GPU is free.
struct DomainShape {
    std::string level;
    std::int64_t free = 0;
    std::int64_t total = 0;

    bool operator==(const DomainShape&) const = default;
};

/// Instances of one profile alone that would still fit.
struct MigShape {
    std::string model;
    std::string profile;
    std::int64_t fits = 0;

    bool operator==(const MigShape&) const = default;
};

/// The most tasks of so many whole GPUs each in one domain of a level.
struct GangShape {
    std::string level;  // "node", a level's name, "cluster"
    std::string model;
    std::int64_t gpus = 0;
    std::int64_t tasks = 0;
    std::string domain;  // the first with the most; empty for the cluster, or when none

    bool operator==(const GangShape&) const = default;
};

struct FreeShapes {
    std::vector<NodeShape> nodes;
    std::vector<DomainShape> domains;  // outermost level first
    std::vector<MigShape> mig;
    std::vector<GangShape> gangs;

    bool operator==(const FreeShapes&) const = default;
};

FreeShapes free_shapes(const World& world);
Lines show_shapes(const FreeShapes& shapes);

}  // namespace muster::sim
