#include "lab/owner_memo.h"

#include "lab/managed_fields.h"

#include <boost/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::size_t shapes_max = 256;
constexpr std::size_t shape_bytes_max = std::size_t{16} << 10;

void add_shape(const json::value& value, const std::optional<Schema>& schema, std::string& out);

/// What tells the items of a list from each other counts by its values.
void add_list(const json::array& list, const std::optional<Schema>& schema, std::string& out) {
    const bool is_known = schema && schema->type() == Schema::Type::list;
    if (is_known && schema->list_type() == Schema::ListType::atomic) {
        out += list.empty() ? "[]" : "[a]";
        return;
    }
    if (!is_known || schema->list_type() == Schema::ListType::set) {
        out += json::serialize(list);
        return;
    }
    const std::vector<std::string> keys = schema->list_keys();
    const std::optional<Schema> items = schema->items();
    out += '[';
    for (const json::value& item : list) {
        for (const std::string& key : keys) {
            const json::object* object = item.if_object();
            const json::value* found = object != nullptr ? object->if_contains(key) : nullptr;
            out += found != nullptr ? json::serialize(*found) : "-";
            out += '\n';
        }
        add_shape(item, items, out);
    }
    out += ']';
}

/// Names and kinds of values.
void add_shape(const json::value& value, const std::optional<Schema>& schema, std::string& out) {
    switch (value.kind()) {
        case json::kind::object:
            out += '{';
            for (const auto& [name, inside] : value.get_object()) {
                out += name;
                out += '\n';
                const bool is_plain = !inside.is_object() && !inside.is_array();
                std::optional<Schema> below;
                if (schema && !is_plain) {
                    below = schema->property(name);
                    if (!below) { below = schema->additional(); }
                }
                add_shape(inside, below, out);
            }
            out += '}';
            break;
        case json::kind::array: add_list(value.get_array(), schema, out); break;
        case json::kind::string: out += 's'; break;
        case json::kind::bool_: out += 'b'; break;
        case json::kind::null: out += '0'; break;
        case json::kind::int64:
        case json::kind::uint64:
        case json::kind::double_: out += 'n'; break;
    }
}

}  // namespace

struct OwnerMemo::Kept {
    std::unordered_map<std::string, json::value> by_shape;  // the one entry of managedFields
};

OwnerMemo::OwnerMemo() : kept_(std::make_unique<Kept>()) {}
OwnerMemo::~OwnerMemo() = default;

void OwnerMemo::note_create(std::string_view kind, json::value& object, const Schema& schema,
                            const Manager& manager) {
    const json::value nothing;
    if (managed_fields_in(object) != nullptr || !object.is_object()) {
        return note_update(nothing, object, schema, manager);
    }
    std::string shape;
    for (const std::string_view part :
         {std::string_view(manager.name), std::string_view(manager.api_version), kind}) {
        shape += part;
        shape += '\n';
    }
    add_shape(object, schema, shape);
    const auto found = kept_->by_shape.find(shape);
    if (found != kept_->by_shape.end()) {
        json::value owners = found->second;
        owners.as_array().front().as_object()["time"] = manager.time;
        object.get_object()["metadata"].as_object()["managedFields"] = std::move(owners);
        return;
    }
    note_update(nothing, object, schema, manager);
    const json::value* owners = managed_fields_in(object);
    const bool is_one = owners != nullptr && owners->is_array() && owners->get_array().size() == 1;
    if (!is_one || shape.size() > shape_bytes_max) { return; }
    if (kept_->by_shape.size() >= shapes_max) { kept_->by_shape.clear(); }
    kept_->by_shape.emplace(std::move(shape), *owners);
}

}  // namespace muster::lab
