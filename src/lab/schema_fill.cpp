#include "lab/schema.h"
#include "lab/schema_walk.h"
#include "lab/values.h"

#include <boost/json.hpp>

namespace muster::lab {

namespace json = boost::json;

namespace {

struct Walk {
    Rules rules;

    void prune_value(json::value& value, const Schema& schema, bool is_root) const {
        if (json::object* object = value.if_object()) {
            drop_fields(*object, [&](std::string_view name) {
                return member_of(schema, name, rules, is_root).is == Member::Is::unknown;
            });
            for (auto& field : *object) {
                const Member member = member_of(schema, field.key(), rules, is_root);
                if (member.schema) { prune_value(field.value(), *member.schema, false); }
            }
        } else if (json::array* list = value.if_array()) {
            const auto items = schema.items();
            if (!items) { return; }
            for (json::value& item : *list) { prune_value(item, *items, false); }
        }
    }

    void fill_value(json::value& value, const Schema& schema, bool is_root) const {
        if (json::object* object = value.if_object()) {
            fill_properties(*object, schema, is_root);
            for (auto& field : *object) {
                const Member member = member_of(schema, field.key(), rules, is_root);
                if (member.schema) { fill_value(field.value(), *member.schema, false); }
            }
        } else if (json::array* list = value.if_array()) {
            const auto items = schema.items();
            if (!items) { return; }
            for (json::value& item : *list) { fill_value(item, *items, false); }
        }
    }

private:
    void fill_properties(json::object& object, const Schema& schema, bool is_root) const {
        const json::value* found = schema.raw().if_contains("properties");
        const json::object* properties = found == nullptr ? nullptr : found->if_object();
        if (properties == nullptr) { return; }
        for (const auto& property : *properties) {
            const Member member = member_of(schema, property.key(), rules, is_root);
            const json::value* given = member.schema ? member.schema->default_value() : nullptr;
            if (given == nullptr || is_zero_of_type(*given)) { continue; }
            const json::value* there = object.if_contains(property.key());
            if (there == nullptr || (there->is_null() && !member.schema->is_nullable())) {
                object.insert_or_assign(property.key(), *given);
            }
        }
    }

    /// The schemas of built-in kinds give a default to whatever type has no other way to be absent.
    /// To fill those in would make required fields be there.
    [[nodiscard]] bool is_zero_of_type(const json::value& value) const {
        if (rules != Rules::typed) { return false; }
        if (const json::string* text = value.if_string()) { return text->empty(); }
        if (const json::object* object = value.if_object()) { return object->empty(); }
        return value.is_null() || (value.is_bool() && !value.get_bool()) ||
               (is_number(value) && same_value(value, 0));
    }
};

}  // namespace

void prune(json::value& object, const Schema& schema) {
    Walk{.rules = rules_of(schema)}.prune_value(object, schema, true);
}

void fill_defaults(json::value& object, const Schema& schema) {
    Walk{.rules = rules_of(schema)}.fill_value(object, schema, true);
}

}  // namespace muster::lab
