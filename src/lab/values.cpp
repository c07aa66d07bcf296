#include "lab/values.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::size_t shown_max = 400;

double as_double(const json::value& value) {
    if (value.is_double()) { return value.get_double(); }
    return value.is_int64() ? static_cast<double>(value.get_int64())
                            : static_cast<double>(value.get_uint64());
}

/// A double that holds a whole number in the range of int64 is that number.
std::optional<std::int64_t> as_whole(double value) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (!(value >= -limit && value < limit) || value != std::trunc(value)) { return std::nullopt; }
    return static_cast<std::int64_t>(value);
}

std::partial_ordering compare_integers(const json::value& left, const json::value& right) {
    if (left.is_int64() && right.is_int64()) { return left.get_int64() <=> right.get_int64(); }
    if (left.is_uint64() && right.is_uint64()) { return left.get_uint64() <=> right.get_uint64(); }
    if (left.is_int64()) {
        if (left.get_int64() < 0) { return std::partial_ordering::less; }
        return static_cast<std::uint64_t>(left.get_int64()) <=> right.get_uint64();
    }
    if (right.get_int64() < 0) { return std::partial_ordering::greater; }
    return left.get_uint64() <=> static_cast<std::uint64_t>(right.get_int64());
}

bool same_object(const json::object& left, const json::object& right) {
    return left.size() == right.size() && std::ranges::all_of(left, [&](const auto& field) {
               const json::value* other = right.if_contains(field.key());
               return other != nullptr && same_value(field.value(), *other);
           });
}

void write_identity(std::string& out, const json::value& value) {
    if (const json::object* object = value.if_object()) {
        std::vector<const json::key_value_pair*> fields;
        for (const json::key_value_pair& field : *object) { fields.push_back(&field); }
        std::ranges::sort(fields, {}, [](const json::key_value_pair* field) {
            return std::string_view(field->key());
        });
        out += '{';
        for (const json::key_value_pair* field : fields) {
            out += json::serialize(json::string_view(field->key()));
            out += ':';
            write_identity(out, field->value());
            out += ',';
        }
        out += '}';
    } else if (const json::array* array = value.if_array()) {
        out += '[';
        for (const json::value& item : *array) {
            write_identity(out, item);
            out += ',';
        }
        out += ']';
    } else if (value.is_double() && as_whole(value.get_double())) {
        out += std::to_string(*as_whole(value.get_double()));
    } else {
        out += json::serialize(value);
    }
}

}  // namespace

bool is_number(const json::value& value) {
    return value.is_int64() || value.is_uint64() || value.is_double();
}

std::partial_ordering compare_numbers(const json::value& left, const json::value& right) {
    if (!left.is_double() && !right.is_double()) { return compare_integers(left, right); }
    if (left.is_double() && right.is_double()) { return left.get_double() <=> right.get_double(); }
    if (right.is_double()) {
        const auto whole = as_whole(right.get_double());
        return whole ? compare_integers(left, json::value(*whole))
                     : as_double(left) <=> right.get_double();
    }
    const auto whole = as_whole(left.get_double());
    return whole ? compare_integers(json::value(*whole), right)
                 : left.get_double() <=> as_double(right);
}

bool same_value(const json::value& left, const json::value& right) {
    if (is_number(left) && is_number(right)) {
        return compare_numbers(left, right) == std::partial_ordering::equivalent;
    }
    if (left.kind() != right.kind()) { return false; }
    if (left.is_object()) { return same_object(left.get_object(), right.get_object()); }
    if (left.is_array()) {
        return std::ranges::equal(left.get_array(), right.get_array(), same_value);
    }
    return left == right;
}

std::string identity(const json::value& value) {
    std::string out;
    write_identity(out, value);
    return out;
}

bool is_within(const json::value& value, int levels) {
    if (const json::object* object = value.if_object()) {
        return levels > 0 && std::ranges::all_of(*object, [&](const auto& field) {
                   return is_within(field.value(), levels - 1);
               });
    }
    if (const json::array* array = value.if_array()) {
        return levels > 0 && std::ranges::all_of(*array, [&](const json::value& item) {
                   return is_within(item, levels - 1);
               });
    }
    return true;
}

std::string shown(const json::value& value) {
    json::serializer serializer;
    serializer.reset(&value);
    std::string text(shown_max + 1, '\0');
    const json::string_view written = serializer.read(text.data(), text.size());
    text.resize(std::min(written.size(), shown_max));
    if (written.size() <= shown_max) { return text; }
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) {
        text.pop_back();  // a character is not cut in two
    }
    if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) {
        text.pop_back();
    }
    return text + "...";
}

void drop_fields(json::object& object, const std::function<bool(std::string_view)>& is_dropped) {
    const auto dropped = [&](const auto& field) { return is_dropped(field.key()); };
    if (std::ranges::none_of(object, dropped)) { return; }
    json::object kept(object.storage());
    for (json::key_value_pair& field : object) {
        if (!dropped(field)) { kept.emplace(field.key(), std::move(field.value())); }
    }
    object = std::move(kept);
}

}  // namespace muster::lab
