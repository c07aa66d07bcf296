#include "lab/metadata.h"

#include <boost/json.hpp>

namespace muster::lab {

namespace json = boost::json;

json::object& child(json::object& object, std::string_view key) {
    json::value& value = object[key];
    return value.is_object() ? value.get_object() : value.emplace_object();
}

json::array& children(json::object& object, std::string_view key) {
    json::value& value = object[key];
    return value.is_array() ? value.get_array() : value.emplace_array();
}

bool has_finalizers(const json::object& object) {
    const json::array* finalizers = kube::array_at(object, "metadata.finalizers");
    return finalizers != nullptr && !finalizers->empty();
}

}  // namespace muster::lab
