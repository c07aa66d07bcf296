// The objects that make a gang of pods which somebody else creates: PodGroups of Volcano, of
// scheduler-plugins and of Kubernetes itself, and CompositePodGroup.
#pragma once

#include "dialect/kubernetes_scope.h"
#include "model/workload.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::dialect {

/// Volcano's subGroupPolicy: pods with equal values of the keys belong together.
struct SubGroups {
    std::string name;
    std::vector<LabelMatch> selector;
    std::vector<std::string> keys;
    std::int64_t size = 0;     // 0: as many as there are
    std::int64_t minimum = 0;  // 0: all of them
    TopologyWish wish;
};

struct GroupObject {
    std::string name;       // "namespace/name", as the pods say it
    std::string owner_job;  // "namespace/job" that made it, empty when none
    std::string parent;     // "namespace/name" of a CompositePodGroup
    bool is_composite = false;
    std::int64_t minimum = 1;  // pods, or groups of a composite
    std::vector<Amount> role_minima;
    std::vector<SubGroups> sub_groups;
    TopologyWish wish;
    WorkloadSpec head;
    bool has_queue = false;  // else the pods' own
    bool has_priority = false;
    std::vector<Fault> unsupported;
    Place place;
};

enum class GroupDialect : std::uint8_t { volcano, scheduler_plugins, upstream };
/// None when the version is of no group that is read.
std::optional<GroupDialect> group_dialect(std::string_view api_version);

GroupObject read_pod_group(const Field& object, GroupDialect dialect, const Scope& scope);
GroupObject read_composite_group(const Field& object, const Scope& scope);

}  // namespace muster::dialect
