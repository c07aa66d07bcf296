// What the lab does with objects beside reading them, which is kube/objects.h's.
#pragma once

#include "kube/objects.h"

#include <boost/json/fwd.hpp>

#include <string_view>

namespace muster::lab {

using kube::int_at;
using kube::is_leaving;
using kube::text_at;
using kube::time_text;
using kube::value_at;

/// The member as an object or a list, made when it is none.
boost::json::object& child(boost::json::object& object, std::string_view key);
boost::json::array& children(boost::json::object& object, std::string_view key);

inline std::string_view name_of(const boost::json::object& object) {
    return text_at(object, "metadata.name");
}
/// The same with its kind first: readers may count on how its text begins.
boost::json::object kind_first(boost::json::object object);
bool has_finalizers(const boost::json::object& object);

}  // namespace muster::lab
