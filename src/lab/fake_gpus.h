// The GPUs of a fake node as its device plugin counts them: how many of a resource there are, which
// of them are slices of which card, and how many are healthy.
#pragma once

#include "lab/node_faults.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::lab {

/// "nvidia.com/gpu", and "nvidia.com/mig-1g.10gb" and so on.
bool is_gpu_resource(std::string_view name);
/// In the node's capacity.
std::int64_t count_of(const boost::json::object& node, std::string_view resource);
/// The card that a slot is on: slices are spread evenly, as many on each.
std::int64_t gpu_of(const boost::json::object& node, std::string_view resource, std::int64_t slot);
/// The capacity without what is on cards that the device plugin takes as bad, as a quantity.
std::string healthy_count(const boost::json::object& node, std::string_view resource,
                          const NodeFaults& faults);
bool is_bad(const NodeFaults& faults, std::int64_t gpu);
bool is_dead(const NodeFaults& faults, std::int64_t gpu);

}  // namespace muster::lab
