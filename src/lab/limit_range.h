// LimitRanges of a namespace, as the admission plug-in LimitRanger reads them: what containers get
// that say nothing, and what containers and whole pods may be. The API asks when a pod is made.
#pragma once

#include "lab/api_error.h"
#include "lab/object_store.h"

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

/// Limits and requests for containers that have none; an annotation tells which.
void fill_by_limit_ranges(boost::json::object& pod, std::string_view space,
                          const ObjectStore& store);
/// Everything that is against them, as users of Kubernetes know it.
std::vector<std::string> check_limit_ranges(const boost::json::object& pod, std::string_view space,
                                            const ObjectStore& store);

}  // namespace muster::lab
