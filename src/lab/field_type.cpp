#include "lab/field_type.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr int empty_depth_max = 16;

bool has_properties(const Schema& schema) { return schema.raw().contains("properties"); }

/// What of the metadata merges in another way than the values suggest.
const json::value& metadata_schema() {
    static const json::value schema = [] {
        constexpr std::string_view text = R"({"type": "object", "properties": {
            "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "finalizers": {"type": "array", "items": {"type": "string"},
                           "x-kubernetes-list-type": "set"},
            "ownerReferences": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "items": {"type": "object", "x-kubernetes-map-type": "atomic"}}}})";
        boost::system::error_code wrong;
        return json::parse(text, wrong);
    }();
    return schema;
}

bool is_open_typed(const std::optional<Schema>& schema) {
    return !schema || (schema->type() == Schema::Type::any && !schema->is_int_or_string());
}

json::value empty_part(const Schema& schema, int depth) {
    json::object out;
    const json::value* properties = schema.raw().if_contains("properties");
    if (properties == nullptr || !properties->is_object() || depth > empty_depth_max) {
        return out;
    }
    for (const auto& [name, value] : properties->get_object()) {
        const json::object* property = value.if_object();
        if (property == nullptr) { continue; }
        // A part by reference whose default is empty is one that is always written.
        const json::value* preset = property->if_contains("default");
        const bool is_reference = property->contains("allOf") || property->contains("$ref");
        if (is_reference && preset != nullptr && *preset == json::object()) {
            out[name] = empty_part(*schema.property(name), depth + 1);
        }
    }
    for (const std::string& name : schema.required()) {
        if (!out.contains(name)) { out[name] = nullptr; }
    }
    return out;
}

}  // namespace

FieldType::FieldType(std::optional<Schema> schema, bool is_atomic, bool is_root)
    : schema_(std::move(schema)),
      is_atomic_(is_atomic),
      is_root_(is_root) {}

FieldType FieldType::of_object(const Schema& schema) { return {schema, false, true}; }

FieldType::Form FieldType::form(const json::value* value) const {
    if (value == nullptr) { return Form::open; }
    if (is_atomic_ || (schema_ && schema_->is_atomic_map())) { return Form::leaf; }
    if (is_open_typed(schema_)) {
        if (value->is_null()) { return Form::open; }
        return value->is_object() ? Form::map : Form::leaf;
    }
    if (schema_->type() == Schema::Type::object) {
        return value->is_object() || value->is_null() ? Form::map : Form::leaf;
    }
    if (schema_->type() == Schema::Type::list && schema_->list_type() != Schema::ListType::atomic) {
        return value->is_array() || value->is_null() ? Form::list : Form::leaf;
    }
    return Form::leaf;
}

FieldType::Form FieldType::form(const json::value* left, const json::value* right) const {
    const auto is_bare = [](const json::value* value) {
        return value == nullptr || value->is_null() ||
               (value->is_object() && value->get_object().empty()) ||
               (value->is_array() && value->get_array().empty());
    };
    if (is_bare(left) && is_bare(right)) { return Form::leaf; }
    const Form one = form(left);
    const Form other = form(right);
    if (one == Form::open) { return other == Form::open ? Form::leaf : other; }
    return other == Form::open || one == other ? one : Form::clash;
}

FieldType FieldType::field(std::string_view name) const {
    if (!schema_) { return {std::nullopt, is_atomic_, false}; }
    std::optional<Schema> found = schema_->property(name);
    if (is_root_ && name == "metadata" && (!found || !has_properties(*found))) {
        return {Schema(metadata_schema(), nullptr), false, false};
    }
    if (!found) { found = schema_->additional(); }
    if (found) { return {std::move(found), false, false}; }
    // An object of which nothing is said holds values that are one each.
    const bool is_atomic = schema_->type() == Schema::Type::object && !has_properties(*schema_) &&
                           !schema_->keeps_unknown();
    return {std::nullopt, is_atomic && !is_root_, false};
}

bool FieldType::names(std::string_view name) const {
    return (is_root_ && name == "metadata") || (schema_ && schema_->property(name).has_value());
}

FieldType FieldType::item() const {
    return {schema_ ? schema_->items() : std::nullopt, false, false};
}

Result<FieldStep> FieldType::step_of(const json::value& item) const {
    if (schema_ && schema_->list_type() == Schema::ListType::map) {
        const json::object* object = item.if_object();
        if (object == nullptr) { return fail(Code::invalid, "every item must be an object"); }
        FieldStep step{.kind = FieldStep::Kind::key, .name = {}, .key = {}};
        for (const std::string& name : schema_->list_keys()) {
            const json::value* found = object->if_contains(name);
            if (const std::optional<Schema> items = schema_->items(); found == nullptr && items) {
                const std::optional<Schema> part = items->property(name);
                found = part ? part->default_value() : nullptr;
            }
            const auto scalar = found == nullptr ? std::nullopt : field_scalar(*found);
            if (!scalar) {
                return fail(Code::invalid, fmt::format("an item has no key field \"{}\"", name));
            }
            step.key.emplace_back(name, *scalar);
        }
        std::sort(step.key.begin(), step.key.end(),
                  [](const auto& left, const auto& right) { return left.first < right.first; });
        return step;
    }
    const std::optional<FieldScalar> scalar = field_scalar(item);
    if (!scalar) { return fail(Code::invalid, "the items of a set must be scalars"); }
    return FieldStep::item(*scalar);
}

bool FieldType::keeps_null() const { return !schema_ || schema_->is_nullable(); }

json::value empty_object(const Schema& schema) { return empty_part(schema, 0); }

}  // namespace muster::lab
