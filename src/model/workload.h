// What is decided as one: a tree of groups whose leaves are roles of identical tasks.
// A single pod is a workload of one group with one task.
#pragma once

#include "base/ids.h"
#include "model/task.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Both may be set: never outside one domain of `required`, if possible inside one of `preferred`.
struct TopologyWish {
    std::string required;  // level name or node label key; empty = none
    std::string preferred;

    bool operator==(const TopologyWish&) const = default;
};

struct GroupSpec {
    std::string name;
    std::int32_t parent = -1;  // index of an earlier group; −1 only for the root, which is group 0
    /// Leaf: tasks that must run together, of `count`. Inner group: children that must, of all.
    std::int32_t minimum = 1;
    std::int32_t count = 1;  // leaf only: the declared final size; `count − minimum` is elastic
    TaskSpec task;           // leaf only
    TopologyWish topology;

    bool operator==(const GroupSpec&) const = default;
};

struct WorkloadSpec {
    std::string name;  // unique: "namespace/name"
    std::string queue = "default";
    std::string user;
    std::string uid;                // see is_another(); empty when the source gives none
    std::int64_t priority = 0;      // higher first
    std::int64_t submitted = 0;     // ms since the epoch; then the order of the facts
    std::vector<GroupSpec> groups;  // parents before children
    /// Gangs that start together or not at all: each names all of its peers, itself included.
    std::vector<std::string> linked;
    std::int64_t runtime_estimate_s = 0;  // 0 = none

    bool operator==(const WorkloadSpec&) const = default;
};

/// True of two workloads of one name that are known not to be the same one.
inline bool is_another(std::string_view uid, std::string_view other) {
    return !uid.empty() && !other.empty() && uid != other;
}

}  // namespace muster
