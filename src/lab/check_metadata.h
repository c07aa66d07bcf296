// What holds for the metadata of every object.
#pragma once

#include "lab/causes.h"
#include "lab/resources.h"

#include <boost/json/fwd.hpp>

namespace muster::lab {

/// A new object, its name too.
void check_metadata(const ResourceType& type, const boost::json::object& object, Causes& out);
/// What may not change once it is there.
void check_metadata_update(const boost::json::object& now, const boost::json::object& before,
                           Causes& out);

}  // namespace muster::lab
