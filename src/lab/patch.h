// The patches of the Kubernetes API but for apply: documents in, document out. Errors are what a
// server answers with 400 or 422: `invalid` for a patch that makes no sense, `conflict` for a
// test that failed, `not_found` for a path that is not there.
#pragma once

#include "base/result.h"
#include "lab/schema.h"

#include <boost/json/fwd.hpp>

namespace muster::lab {

/// RFC 6902, as leniently as a server reads it: a member that is missing is as good as null.
Result<boost::json::value> json_patch(boost::json::value document, const boost::json::value& patch);
/// RFC 7386.
boost::json::value merge_patch(boost::json::value document, const boost::json::value& patch);
/// Kubernetes' own: lists with a merge key merge by it; `$patch`, `$retainKeys`,
/// `$deleteFromPrimitiveList`, `$setElementOrder`.
Result<boost::json::value> strategic_patch(boost::json::value document,
                                           const boost::json::value& patch, const Schema& schema);

}  // namespace muster::lab
