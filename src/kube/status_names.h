// Names and bounds that the parts of the status writer share.
#pragma once

#include "kube/cluster_kinds.h"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string_view>

namespace muster::kube {

/// Of larger gangs the group's event and the pods' conditions say it.
inline constexpr std::size_t pods_with_events_max = 64;

/// Of a gang's group; Kubernetes' own name for it.
inline constexpr std::string_view disruption = "DisruptionTarget";
/// It runs with fewer than its minimum.
inline constexpr std::string_view is_incomplete = "muster.dev/Incomplete";
/// Some of it is on nodes that are not ready.
inline constexpr std::string_view on_lost_node = "muster.dev/OnLostNode";

/// As events name what they are about: a client keeps objects without apiVersion and kind.
boost::json::object reference(const ObjectKey& key, const boost::json::object& object);

}  // namespace muster::kube
