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
    bool is_template = false;  // of Kubernetes 1.35: each replica key of its pods is a group
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
/// The groups that a Workload of Kubernetes 1.35 has. Later ones hold templates, which are not
/// read.
std::vector<GroupObject> read_workload_groups(const Field& object, const Scope& scope);
/// What pods of such a group name: no other group can have that name.
std::string workload_group(std::string_view name_space, std::string_view workload,
                           std::string_view group, std::string_view replica);
/// The Workload's own name of it, "namespace/name"; the group that is read for all replicas; the
/// name of the workload that is made of it. Any other group is all three.
struct GroupNames {
    std::string object;
    std::string declared;
    std::string shown;
};
GroupNames names_of_group(std::string_view group);

GroupObject read_composite_group(const Field& object, const Scope& scope);

}  // namespace muster::dialect
