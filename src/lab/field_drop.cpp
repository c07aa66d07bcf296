// Taking away, and what has to be known for it.
#include "lab/field_walk.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <set>

namespace muster::lab {

namespace json = boost::json;

using Form = FieldType::Form;

json::value without_fields(const json::value& value, const FieldSet& fields,
                           const FieldType& type) {
    const Form form = fields.is_empty() ? Form::leaf : type.form(&value);
    if (form == Form::map && value.is_object()) {
        json::object out;
        for (const auto& [name, inside] : value.get_object()) {
            const FieldSet::Node* node = fields.find(FieldStep::field(name));
            if (node == nullptr) {
                out[name] = inside;
            } else if (!node->is_member) {
                out[name] = without_fields(inside, node->inside, type.field(name));
            }
        }
        if (!out.empty()) { return out; }
        return type.is_known() ? json::value() : json::value(json::object());
    }
    if (form == Form::list && value.is_array()) {
        json::array out;
        const FieldType item = type.item();
        for (const json::value& inside : value.get_array()) {
            const Result<FieldStep> step = type.step_of(inside);
            const FieldSet::Node* node = step ? fields.find(*step) : nullptr;
            if (node == nullptr) {
                out.push_back(inside);
            } else if (!node->is_member) {
                out.push_back(without_fields(inside, node->inside, item));
            }
        }
        return out.empty() ? json::value() : json::value(std::move(out));
    }
    return value;
}

FieldSet with_named_fields(const FieldSet& fields, const FieldType& type) {
    FieldSet out;
    for (const auto& [step, node] : fields.nodes()) {
        const bool is_field = step.kind == FieldStep::Kind::field;
        const bool is_named = is_field && !node.inside.is_empty() && type.names(step.name);
        out.put(
            step, node.is_member || is_named,
            node.inside.is_empty()
                ? FieldSet()
                : with_named_fields(node.inside, is_field ? type.field(step.name) : type.item()));
    }
    return out;
}

Result<void> check_lists(const json::value& value, const FieldType& type, const std::string& path) {
    const Form form = type.form(&value);
    if (form == Form::map && value.is_object()) {
        for (const auto& [name, inside] : value.get_object()) {
            if (!inside.is_structured()) { continue; }
            MUSTER_CHECK(check_lists(inside, type.field(name),
                                     fmt::format("{}.{}", path, std::string_view(name))));
        }
    }
    if (form == Form::list && value.is_array()) {
        const FieldType item = type.item();
        std::set<FieldStep> seen;
        for (const json::value& inside : value.get_array()) {
            Result<FieldStep> step = type.step_of(inside);
            if (!step) { return tl::unexpected(std::move(step).error().wrap(path)); }
            const std::string name = print_step(*step);
            if (!seen.insert(*std::move(step)).second) {
                return fail(Code::invalid,
                            fmt::format("{}: duplicate entries for key {}", path, name));
            }
            MUSTER_CHECK(check_lists(inside, item, path + name));
        }
    }
    return {};
}

void drop_nulls(json::value& value, const FieldType& type) {
    const Form form = type.form(&value);
    if (form == Form::map && value.is_object()) {
        json::object& object = value.get_object();
        for (auto at = object.begin(); at != object.end();) {
            const FieldType below = type.field(at->key());
            if (at->value().is_null() && !below.keeps_null()) {
                at = object.stable_erase(at);
                continue;
            }
            drop_nulls(at->value(), below);
            ++at;
        }
    }
    if (form == Form::list && value.is_array()) {
        const FieldType item = type.item();
        for (json::value& inside : value.get_array()) { drop_nulls(inside, item); }
    }
}

}  // namespace muster::lab
