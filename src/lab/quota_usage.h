// What an object counts in quotas, and which quotas it counts in: the names of resources that a
// ResourceQuota may bound, and its scopes.
#pragma once

#include "lab/api_error.h"
#include "lab/quantity.h"

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

struct QuotaScope {
    std::string name;     // "BestEffort", "PriorityClass"
    std::string selects;  // "Exists", "DoesNotExist", "In", "NotIn"
    std::vector<std::string> values;

    bool operator==(const QuotaScope&) const = default;
};

struct QuotaSpec {
    ResourceList hard;
    std::vector<QuotaScope> scopes;

    bool operator==(const QuotaSpec&) const = default;
};

QuotaSpec read_quota(const boost::json::object& quota);

/// Whether more of an object than its being there counts, so that it must be read.
bool has_inner_usage(std::string_view resource);
/// By the resource's storage name ("pods", "batch/jobs").
ResourceList usage_of(std::string_view resource, const boost::json::object& object);
bool is_in_scope(const QuotaSpec& quota, std::string_view resource,
                 const boost::json::object& object);
/// Only what the quota bounds.
ResourceList counted(const QuotaSpec& quota, const ResourceList& usage);
/// "cpu for: main; memory for: main,side": what a bounded pod must say and does not.
std::string missing_amounts(const QuotaSpec& quota, const boost::json::object& pod);

}  // namespace muster::lab
