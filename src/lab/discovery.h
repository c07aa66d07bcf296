// The documents by which clients find out what is served. Keys and shapes are Kubernetes' own.
#pragma once

#include "lab/resources.h"
#include "lab/schema.h"

#include <boost/json/fwd.hpp>

#include <span>
#include <string_view>

namespace muster::lab {

/// Served resources, all versions, in the order in which they are preferred. What is asked of a
/// group or a version that is not among them is empty.
using Served = std::span<const ResourceType>;

boost::json::object version_info(std::string_view kubernetes);  // /version, "1.37.2"
boost::json::object api_versions();                             // /api: APIVersions
boost::json::object api_groups(Served served);                  // /apis: APIGroupList
boost::json::object api_group(Served served, std::string_view group);
boost::json::object api_resources(Served served, std::string_view group, std::string_view version);
/// /api (the core group) or /apis (the others) as APIGroupDiscoveryList of apidiscovery.k8s.io/v2.
boost::json::object aggregated(Served served, bool is_core);
/// /openapi/v3: where the documents are.
boost::json::object openapi_index(Served served);
/// /openapi/v3/apis/GROUP/VERSION: paths (with the parameter fieldValidation, which clients look
/// for) and the schemas that they refer to. `custom` gives schemas of custom kinds by kind.
boost::json::object openapi(Served served, std::string_view group, std::string_view version,
                            const Schemas& schemas, const boost::json::object& custom);

}  // namespace muster::lab
