// The kinds of objects that a scheduler looks at.
#pragma once

#include "kube/client.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {

/// In the order in which they are read.
enum class ObjectKind : std::uint8_t {
    node,
    pod,
    priority_class,
    batch_job,
    volcano_job,
    volcano_queue,
    hypernode,
    volcano_group,
    upstream_group,
    composite_group,
    plugin_group,
    kueue_queue,
    kueue_local_queue,
    kai_queue,
    stateful_set,
    job_set,
    leader_worker_set,
    workload,  // of Kubernetes 1.35
    claim,
    volume,
    storage_class,
    csi_node,
    name_space,
};
inline constexpr std::size_t object_kind_count = 23;

std::set<ObjectKind> all_kinds();

/// How a kind is called. It is read as of this version, whichever a server has.
struct KindName {
    Resource resource;
    std::string kind;
    std::vector<std::string> other_versions;  // that say the same, the best first

    [[nodiscard]] std::string api_version() const;
};
const KindName& name_of(ObjectKind kind);
/// What all the others are read against.
bool is_frame(ObjectKind kind);
/// Whose pods may be a gang by what it says.
bool is_owner(ObjectKind kind);
/// What pods look at one by one: see dialect/kubernetes_around.h.
bool is_around(ObjectKind kind);

/// "apps/v1"; "v1" of the core group.
std::string api_version_of(const Resource& resource);

struct ObjectKey {
    ObjectKind kind = ObjectKind::node;
    ObjectName name;

    auto operator<=>(const ObjectKey&) const = default;
    [[nodiscard]] std::string text() const;  // "Pod team/train-0"
};

/// As ClusterOptions::has_owner has it: of a kind's name and "namespace/name".
std::function<bool(std::string_view, std::string_view)> owners_by(
    std::function<bool(const ObjectKey&)> is_there);

}  // namespace muster::kube
