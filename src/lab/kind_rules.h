// What a real API server does to an object of a built-in kind beside storing it: the values it
// fills in, what it refuses, and what may not change. Words of refusals are those that users know.
#pragma once

#include "lab/api_error.h"
#include "lab/object_store.h"
#include "lab/resources.h"

#include <boost/json/fwd.hpp>

#include <vector>

namespace muster::lab {

/// Values for what is not said.
void fill_kind(const ResourceType& type, boost::json::object& object);
/// What admission and the kinds themselves put in: priorities, tolerations, addresses. Nobody owns
/// it. `before` is null for a new object.
Outcome<> admit_kind(const ResourceType& type, boost::json::object& object,
                     const boost::json::object* before, const ObjectStore& store);
/// What readers see and nobody wrote or checked.
void finish_kind(const ResourceType& type, boost::json::object& object);
/// The status that a new object begins with; what was sent is dropped.
void begin_status(const ResourceType& type, boost::json::object& object);
std::vector<ApiCause> check_kind(const ResourceType& type, const boost::json::object& object);
/// A status that a client reports.
std::vector<ApiCause> check_kind_status(const ResourceType& type,
                                        const boost::json::object& object);
std::vector<ApiCause> check_kind_update(const ResourceType& type, const boost::json::object& now,
                                        const boost::json::object& before);

/// How the storage calls a resource: "apps/deployments", "pods".
std::string storage_name(const ResourceType& type);

// Of pods and what has a template of them:
void fill_pod_spec(boost::json::object& spec);
/// A limit is a request where none is said; of pods, not of templates.
void fill_pod_requests(boost::json::object& spec);
std::vector<ApiCause> check_pod_spec(const boost::json::object& spec, std::string_view path);
std::vector<ApiCause> check_pod_update(const boost::json::object& now,
                                       const boost::json::object& before);
/// "Guaranteed", "Burstable" or "BestEffort".
std::string_view qos_class(const boost::json::object& pod_spec);

}  // namespace muster::lab
