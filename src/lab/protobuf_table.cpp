#include "lab/protobuf.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view schema_name =
    "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

/// Any other word is the name of a message.
WireType type_of(std::string_view word) {
    static constexpr std::pair<std::string_view, WireType> words[] = {
        {"string", WireType::text},
        {"bytes", WireType::bytes},
        {"int32", WireType::int32},
        {"int64", WireType::int64},
        {"bool", WireType::boolean},
        {"double", WireType::number},
        {"strings", WireType::strings},
        {"time", WireType::time},
        {"micro_time", WireType::micro_time},
        {"quantity", WireType::quantity},
        {"int_or_string", WireType::int_or_string},
        {"json", WireType::json},
        {"raw", WireType::raw},
        {"schema_or_list", WireType::schema_or_list},
        {"schema_or_bool", WireType::schema_or_bool},
        {"schema_or_strings", WireType::schema_or_strings},
    };
    for (const auto& [name, type] : words) {
        if (name == word) { return type; }
    }
    return WireType::message;
}

const json::object* object_at(const json::object& object, std::string_view key) {
    const json::value* found = object.if_contains(key);
    return found == nullptr ? nullptr : found->if_object();
}

std::string_view text_of(const json::value& value) {
    return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

bool read_field(const json::value& row, WireField& field, std::string_view& type) {
    const json::array* cells = row.if_array();
    if (cells == nullptr || cells->size() != 4 || !(*cells)[0].is_int64()) { return false; }
    const std::string_view flags = text_of((*cells)[3]);
    const auto is = [&](char flag) { return flags.find(flag) != std::string_view::npos; };
    type = text_of((*cells)[2]);
    field = WireField{.number = static_cast<std::uint32_t>((*cells)[0].get_int64()),
                      .name = std::string(text_of((*cells)[1])),
                      .type = type_of(type),
                      .message = 0,
                      .is_list = is('r'),
                      .is_map = is('m'),
                      .is_inline = is('i'),
                      .keeps_zero = is('z'),
                      .drops_empty = is('o')};
    return !field.name.empty() && field.number > 0;
}

}  // namespace

Result<WireTable> WireTable::read(std::string_view text) {
    const auto wrong = [](std::string_view what) {
        return fail(Code::invalid, fmt::format("table of protobuf fields: {}", what));
    };
    boost::system::error_code no_json;
    const json::value root = json::parse(text, no_json);
    if (no_json || !root.is_object()) { return wrong("expected an object"); }
    const json::object* messages = object_at(root.get_object(), "messages");
    const json::object* kinds = object_at(root.get_object(), "kinds");
    const json::value* origin = root.get_object().if_contains("kubernetes");
    if (messages == nullptr || kinds == nullptr || origin == nullptr) {
        return wrong("expected \"kubernetes\", \"messages\" and \"kinds\"");
    }
    WireTable table;
    table.origin_ = text_of(*origin);
    for (const auto& [name, rows] : *messages) {
        table.names_.emplace(std::string(name), table.names_.size());
    }
    for (const auto& [name, rows] : *messages) {
        std::vector<WireField>& fields = table.messages_.emplace_back();
        if (!rows.is_array()) { return wrong(name); }
        for (const json::value& row : rows.get_array()) {
            WireField field;
            std::string_view type;
            if (!read_field(row, field, type)) { return wrong(name); }
            if (field.type == WireType::message) {
                const std::size_t* of = table.find_message(type);
                if (of == nullptr) { return wrong(fmt::format("no message {}", type)); }
                field.message = *of;
            }
            fields.push_back(std::move(field));
        }
        std::ranges::sort(fields, {}, &WireField::number);
    }
    for (const auto& [kind, name] : *kinds) {
        const std::size_t* of = table.find_message(text_of(name));
        if (of == nullptr) { return wrong(fmt::format("no message of {}", std::string(kind))); }
        table.kinds_.emplace(std::string(kind), *of);
    }
    const std::size_t* schema = table.find_message(schema_name);
    if (schema == nullptr) { return wrong("no JSON schema"); }
    table.schema_ = *schema;
    return table;
}

const std::size_t* WireTable::find(std::string_view api_version, std::string_view kind) const {
    const bool is_core = api_version.find('/') == std::string_view::npos;
    const auto found = kinds_.find(fmt::format("{}{}/{}", is_core ? "/" : "", api_version, kind));
    return found == kinds_.end() ? nullptr : &found->second;
}

const std::size_t* WireTable::find_message(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
}

const WireField* WireTable::field(std::size_t message, std::uint32_t number) const {
    const std::vector<WireField>& all = messages_[message];
    const auto found = std::ranges::lower_bound(all, number, {}, &WireField::number);
    return found == all.end() || found->number != number ? nullptr : &*found;
}

}  // namespace muster::lab
