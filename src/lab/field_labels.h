// The fields by which lists of a kind can be chosen from.
#pragma once

#include "lab/api_error.h"
#include "lab/resources.h"
#include "lab/selector.h"

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>

namespace muster::lab {

/// Refuses what the kind can't be asked for.
Outcome<> check_field_labels(const ResourceType& type, const Selector& fields);
/// What the field is of an object, as text; empty where it is not there.
std::string field_label_value(const boost::json::object& object, std::string_view field);

}  // namespace muster::lab
