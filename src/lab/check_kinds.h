// The rules of single kinds; each adds to `out` what is wrong with an object. Called by check_kind.
#pragma once

#include "lab/causes.h"
#include "lab/resources.h"

#include <boost/json/fwd.hpp>

#include <string_view>

namespace muster::lab {

// check_core.cpp: the core group
void check_core(const ResourceType& type, const boost::json::object& object, Causes& out);
void check_core_update(const ResourceType& type, const boost::json::object& now,
                       const boost::json::object& before, Causes& out);
// check_quota.cpp: ResourceQuota
void check_quota(const boost::json::object& object, Causes& out);
// check_workload.cpp: apps and batch
void check_workload(const ResourceType& type, const boost::json::object& object, Causes& out);
void check_workload_update(const ResourceType& type, const boost::json::object& now,
                           const boost::json::object& before, Causes& out);
// check_scheduling.cpp: priorities, groups, budgets, leases, devices
void check_scheduling(const ResourceType& type, const boost::json::object& object, Causes& out);
void check_scheduling_update(const ResourceType& type, const boost::json::object& now,
                             const boost::json::object& before, Causes& out);

/// "field is immutable", when it is another than before.
void check_fixed(const boost::json::object& now, const boost::json::object& before,
                 std::string_view path, Causes& out);

}  // namespace muster::lab
