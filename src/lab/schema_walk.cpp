#include "lab/schema_walk.h"

#include <boost/json.hpp>

namespace muster::lab {

namespace json = boost::json;

namespace {

bool is_own_group(std::string_view group) {
    return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
}

bool has_free_values(const Schema& schema) {
    const json::value* found = schema.raw().if_contains("additionalProperties");
    return found != nullptr && found->is_bool() && found->get_bool();
}

}  // namespace

Rules rules_of(const Schema& root) {
    const json::value* kinds = root.raw().if_contains("x-kubernetes-group-version-kind");
    const json::array* list = kinds == nullptr ? nullptr : kinds->if_array();
    if (list == nullptr || list->empty() || !list->front().is_object()) {
        return Rules::structural;
    }
    const json::value* group = list->front().get_object().if_contains("group");
    if (group == nullptr || !group->is_string()) { return Rules::structural; }
    return is_own_group(group->get_string()) ? Rules::typed : Rules::structural;
}

Member member_of(const Schema& schema, std::string_view name, Rules rules, bool is_root) {
    const bool is_resource = schema.is_embedded() || (is_root && rules == Rules::structural);
    if (is_resource && (name == "apiVersion" || name == "kind" || name == "metadata")) {
        return {.is = Member::Is::free, .schema = std::nullopt};
    }
    if (auto property = schema.property(name)) {
        return {.is = Member::Is::known, .schema = property};
    }
    if (auto value = schema.additional()) { return {.is = Member::Is::known, .schema = value}; }
    if (schema.keeps_unknown() || has_free_values(schema)) {
        return {.is = Member::Is::free, .schema = std::nullopt};
    }
    const bool is_bare = !schema.raw().contains("properties");
    if (rules == Rules::typed && is_bare) {
        return {.is = Member::Is::free, .schema = std::nullopt};
    }
    return {.is = Member::Is::unknown, .schema = std::nullopt};
}

}  // namespace muster::lab
