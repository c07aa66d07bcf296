#include "dialect/trace_time.h"
#include "lab/table.h"
#include "lab/table_kinds.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

const json::array no_list;
const json::object no_map;

std::string values_text(const json::object& expression) {
    std::vector<std::string> values;
    for (const json::value& one : list_of(expression, "values")) {
        if (one.is_string()) { values.emplace_back(one.get_string()); }
    }
    std::ranges::sort(values);
    return fmt::format("({})", fmt::join(values, ","));
}

}  // namespace

std::string text_of(const json::object& object, std::string_view path, std::string_view otherwise) {
    const json::value* found = value_at(object, path);
    return std::string(found != nullptr && found->is_string() && !found->get_string().empty()
                           ? std::string_view(found->get_string())
                           : otherwise);
}

std::int64_t integer_of(const json::object& object, std::string_view path, std::int64_t otherwise) {
    const json::value* found = value_at(object, path);
    if (found == nullptr || !found->is_number()) { return otherwise; }
    boost::system::error_code wrong;
    const auto value = found->to_number<std::int64_t>(wrong);
    return wrong ? otherwise : value;
}

bool flag_of(const json::object& object, std::string_view path) {
    const json::value* found = value_at(object, path);
    return found != nullptr && found->is_bool() && found->get_bool();
}

const json::array& list_of(const json::object& object, std::string_view path) {
    const json::value* found = value_at(object, path);
    return found != nullptr && found->is_array() ? found->get_array() : no_list;
}

const json::object& map_of(const json::object& object, std::string_view path) {
    const json::value* found = value_at(object, path);
    return found != nullptr && found->is_object() ? found->get_object() : no_map;
}

std::optional<std::string> scalar_of(const json::object& object, std::string_view path) {
    const json::value* found = value_at(object, path);
    if (found == nullptr || found->is_null()) { return std::nullopt; }
    if (found->is_string()) { return std::string(found->get_string()); }
    return json::serialize(*found);
}

std::optional<std::int64_t> time_of(const json::object& object, std::string_view path) {
    const json::value* found = value_at(object, path);
    if (found == nullptr || !found->is_string()) { return std::nullopt; }
    const auto time = dialect::parse_civil_time(found->get_string());
    return time ? std::optional(*time) : std::nullopt;
}

std::string age_of(const json::object& object, std::string_view path, std::int64_t now) {
    const auto time = time_of(object, path);
    return time ? age(now - *time) : "<unknown>";
}

std::string own_age(const json::object& object, std::int64_t now) {
    return age_of(object, "metadata.creationTimestamp", now);
}

std::string own_name(const json::object& object) { return text_of(object, "metadata.name"); }

const json::object* condition_of(const json::object& object, std::string_view type) {
    for (const json::value& one : list_of(object, "status.conditions")) {
        if (one.is_object() && text_of(one.get_object(), "type") == type) {
            return &one.get_object();
        }
    }
    return nullptr;
}

bool is_condition_true(const json::object& object, std::string_view type) {
    const json::object* condition = condition_of(object, type);
    return condition != nullptr && text_of(*condition, "status") == "True";
}

std::string joined(const json::array& objects, std::string_view key) {
    std::vector<std::string> out;
    for (const json::value& one : objects) {
        if (one.is_object()) { out.push_back(text_of(one.get_object(), key)); }
    }
    return fmt::format("{}", fmt::join(out, ","));
}

std::string labels_text(const json::object& labels) {
    std::vector<std::string> out;
    for (const auto& [key, value] : labels) {
        if (value.is_string()) {
            out.push_back(
                fmt::format("{}={}", std::string_view(key), std::string_view(value.get_string())));
        }
    }
    if (out.empty()) { return "<none>"; }
    std::ranges::sort(out);
    return fmt::format("{}", fmt::join(out, ","));
}

std::string selector_text(const json::object& selector, std::string_view none) {
    std::vector<std::pair<std::string, std::string>> out;  // key and requirement, to sort by key
    for (const auto& [key, value] : map_of(selector, "matchLabels")) {
        if (!value.is_string()) { continue; }
        out.emplace_back(
            key, fmt::format("{}={}", std::string_view(key), std::string_view(value.get_string())));
    }
    for (const json::value& one : list_of(selector, "matchExpressions")) {
        if (!one.is_object()) { continue; }
        const json::object& expression = one.get_object();
        const std::string key = text_of(expression, "key");
        const std::string op = text_of(expression, "operator");
        if (op == "In") { out.emplace_back(key, key + " in " + values_text(expression)); }
        if (op == "NotIn") { out.emplace_back(key, key + " notin " + values_text(expression)); }
        if (op == "Exists") { out.emplace_back(key, key); }
        if (op == "DoesNotExist") { out.emplace_back(key, "!" + key); }
    }
    if (out.empty()) { return std::string(none); }
    std::ranges::sort(out);
    std::string text;
    for (const auto& [key, requirement] : out) {
        if (!text.empty()) { text += ','; }
        text += requirement;
    }
    return text;
}

}  // namespace muster::lab
