// Server-side apply: who owns which field, and what an applied configuration comes to. Owners stand
// in metadata.managedFields in the format fieldsV1.
#pragma once

#include "base/result.h"
#include "lab/schema.h"

#include <boost/json/fwd.hpp>

#include <string>
#include <vector>

namespace muster::lab {

struct Manager {
    std::string name;         // fieldManager
    std::string api_version;  // of the request
    std::string subresource;  // "status"; mostly empty
    std::string time;         // RFC 3339
};

/// A field that somebody else owns and that the applied configuration wants otherwise.
struct FieldConflict {
    std::string manager;
    std::string field;  // ".spec.replicas"
    std::string owner;  // the manager for people: `"kubectl" using apps/v1`
};

/// All of them as Kubernetes' users know them: `Apply failed with 1 conflict: conflict with
/// "kubectl" using apps/v1: .spec.replicas`.
std::string conflict_text(const std::vector<FieldConflict>& conflicts);

/// Merges what is applied into the live object (null when there is none), takes away what the
/// manager applied before and does not any more and nobody else owns, and writes managedFields.
/// With conflicts and without `force` the error is `conflict`, and `conflicts` names them.
/// What the system keeps in metadata is as in the live object. The subresource "status" owns only
/// the status and every other all but it; what the request may not change in the result is the
/// caller's to put back, as after an update.
Result<boost::json::value> apply_configuration(const boost::json::value& live,
                                               const boost::json::value& applied,
                                               const Schema& schema, const Manager& manager,
                                               bool force, std::vector<FieldConflict>& conflicts);

/// After an update, a patch or a create (`before` is null then): the manager owns what it changed,
/// and nobody else does. An object with a uid whose managedFields are empty stays without; who sets
/// them to [] or [{}] empties them.
void note_update(const boost::json::value& before, boost::json::value& after, const Schema& schema,
                 const Manager& manager);

}  // namespace muster::lab
