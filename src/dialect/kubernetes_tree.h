// Roles to a group tree: how a minimum over several roles is shared out, partitions, the root.
#pragma once

#include "dialect/kubernetes_scope.h"
#include "model/workload.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster::dialect {

/// A role that comes in equal parts, each placed whole: Volcano's partitionPolicy and
/// subGroupPolicy.
struct Parts {
    std::int64_t count = 0;  // 0: not parted
    std::int64_t size = 0;
    std::int64_t minimum = 0;  // parts that must run
    TopologyWish wish;         // of each part
};

struct Role {
    std::string name;
    std::int64_t count = 1;
    std::int64_t minimum = -1;  // −1: none of its own
    TaskSpec task;
    TopologyWish wish;
    Parts parts;
};

/// Turns one minimum over all roles into a minimum for each, as near to Volcano as a tree allows.
///
/// Volcano counts tasks of any role towards the minimum, and holds the roles' own minima only when
/// they add up to no more. Here: the roles' minima first (all forgotten when they add up to more,
/// as Volcano does), then one task for every role that has none, then the rest in the order in
/// which the roles are written, so that a master or launcher comes before its workers. A gang then
/// starts with a useful mix instead of whatever fits. Returns how many roles must run; less than
/// all only when the minimum is smaller than the number of roles.
std::int64_t share_minimum(std::int64_t minimum, std::span<Role> roles);

/// Appends the roles below a new root, or as the root when there is one plain role.
void add_roles(WorkloadSpec& workload, std::span<const Role> roles, std::int64_t roles_that_must,
               const TopologyWish& wish, const std::string& root_name, std::int32_t parent = -1);

/// Sums over the limits of the model are refused at `field`; true when all is well.
bool check_size(const WorkloadSpec& workload, const Field& field);

/// The groups that hold tasks, in order.
std::vector<std::int32_t> leaves_of(const WorkloadSpec& workload);

}  // namespace muster::dialect
