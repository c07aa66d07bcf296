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

json::object kind_first(json::object object) {
    json::object out(object.storage());
    out.reserve(object.size());
    for (const std::string_view key : {"kind", "apiVersion", "metadata"}) {
        if (json::value* found = object.if_contains(key)) {
            out.emplace(key, std::move(*found));
            object.erase(key);
        }
    }
    for (auto& member : object) { out.emplace(member.key(), std::move(member.value())); }
    return out;
}

bool has_finalizers(const json::object& object) {
    const json::array* finalizers = kube::array_at(object, "metadata.finalizers");
    return finalizers != nullptr && !finalizers->empty();
}

}  // namespace muster::lab
