#include "lab/canonical.h"
#include "lab/schema.h"
#include "lab/schema_format.h"
#include "lab/schema_walk.h"
#include "lab/values.h"

#include <boost/json.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

using Kind = FieldFault::Kind;

constexpr std::size_t faults_max = 100;  // as the API server reports them

std::string_view type_name(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null: return "null";
        case json::kind::bool_: return "boolean";
        case json::kind::int64:
        case json::kind::uint64: return "integer";
        case json::kind::double_: return "number";
        case json::kind::string: return "string";
        case json::kind::array: return "array";
        case json::kind::object: return "object";
    }
    return "";
}

bool is_whole(const json::value& value) {
    return value.is_int64() || value.is_uint64() ||
           (value.is_double() && std::trunc(value.get_double()) == value.get_double());
}

/// The types that a value may have, as JSON names them; none when any may.
std::vector<std::string_view> types_of(const Schema& schema) {
    if (schema.is_int_or_string()) { return {"integer", "string"}; }
    switch (schema.type()) {
        case Schema::Type::any: return {};
        case Schema::Type::object:
            if (!schema.raw().contains("type")) { return {}; }
            return {"object"};
        case Schema::Type::list: return {"array"};
        case Schema::Type::string: return {"string"};
        case Schema::Type::integer: return {"integer"};
        case Schema::Type::number: return {"number"};
        case Schema::Type::boolean: return {"boolean"};
    }
    return {};
}

const json::array* list_at(const Schema& schema, std::string_view key) {
    const json::value* found = schema.raw().if_contains(key);
    return found == nullptr ? nullptr : found->if_array();
}

bool flag_of(const Schema& schema, std::string_view key) {
    const json::value* found = schema.raw().if_contains(key);
    return found != nullptr && found->is_bool() && found->get_bool();
}

const json::value* number_of(const Schema& schema, std::string_view key) {
    const json::value* found = schema.raw().if_contains(key);
    return found != nullptr && is_number(*found) ? found : nullptr;
}

std::string_view decoded_kind(const json::value& value) {
    if (value.is_bool()) { return "bool"; }
    return is_number(value) ? "number" : type_name(value);
}

/// What a type is called in Go, as far as the schema tells.
std::string decoded_type(const Schema& schema) {
    switch (schema.type()) {
        case Schema::Type::list: {
            const auto items = schema.items();
            return "[]" + (items ? decoded_type(*items) : std::string("interface {}"));
        }
        case Schema::Type::object: {
            if (const auto values = schema.additional()) {
                return "map[string]" + decoded_type(*values);
            }
            return schema.name().empty() ? "map[string]interface {}"
                                         : fmt::format("{}.{}", schema.package(), schema.name());
        }
        case Schema::Type::string: return schema.format() == "byte" ? "[]uint8" : "string";
        case Schema::Type::integer:
            return schema.format().empty() ? "int" : std::string(schema.format());
        case Schema::Type::number: return "float64";
        case Schema::Type::boolean: return "bool";
        case Schema::Type::any: break;
    }
    return schema.name().empty() ? "interface {}"
                                 : fmt::format("{}.{}", schema.package(), schema.name());
}

/// Of a text that is no time or no base64.
std::string undecodable_text(std::string_view text, const Schema& schema) {
    if (schema.format() != "date-time") {
        const std::size_t at =
            std::min(text.size(),
                     text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                            "0123456789+/\r\n"));
        return fmt::format("illegal base64 data at input byte {}", at);
    }
    const std::string_view layout = schema.name() == "MicroTime"
                                        ? "2006-01-02T15:04:05.000000Z07:00"
                                        : "2006-01-02T15:04:05Z07:00";
    return fmt::format("parsing time \"{0}\" as \"{1}\": cannot parse \"{0}\" as \"2006\"", text,
                       layout);
}

/// One object, or one alternative of a schema for a part of it.
class Checker {
public:
    /// Alternatives speak of values only: they know of no unknown fields.
    Checker(Rules rules, bool is_alternative) : rules_(rules), is_alternative_(is_alternative) {}

    void check_value(const json::value& value, const Schema& schema, const std::string& path,
                     bool is_root) {
        if (faults_.size() >= faults_max) { return; }
        if (value.is_null() && (rules_ == Rules::typed || schema.is_nullable())) { return; }
        if (!check_type(value, schema, path)) { return; }
        check_enumeration(value, schema, path);
        if (rules_ == Rules::typed && schema.is_quantity()) { check_quantity(value, path); }
        if (const json::string* text = value.if_string()) { check_text(*text, schema, path); }
        if (is_number(value)) { check_number(value, schema, path); }
        if (const json::array* list = value.if_array()) { check_list(*list, schema, path); }
        if (const json::object* object = value.if_object()) {
            check_object(*object, schema, path, is_root);
        }
        check_alternatives(value, schema, path);
    }

    std::vector<FieldFault> faults() && { return std::move(faults_); }

private:
    void add(Kind kind, const std::string& path, std::string detail) {
        if (faults_.size() >= faults_max) { return; }
        faults_.push_back({.kind = kind, .field = path, .detail = std::move(detail)});
    }

    void add_invalid(const std::string& path, const json::value& value, std::string_view words) {
        add(Kind::invalid, path,
            fmt::format("Invalid value: {}: {} in body {}", shown(value), path, words));
    }

    /// As the decoder of a server written in Go says it.
    void add_undecodable(const std::string& path, const json::value& value, const Schema& schema) {
        if (schema.is_quantity()) { return add_no_quantity(path); }
        std::string what(decoded_kind(value));
        if (is_number(value) && schema.type() == Schema::Type::integer) {
            what += value.is_double() ? fmt::format(" {}", value.get_double())
                                      : fmt::format(" {}", json::serialize(value));
        }
        add(Kind::wrong_type, path,
            fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", what,
                        struct_, fmt::join(fields_, "."), decoded_type(schema)));
    }

    void add_wrong_type(const std::string& path, const json::value& value,
                        const std::vector<std::string_view>& types, const Schema& schema) {
        const std::string_view found = type_name(value);
        if (rules_ == Rules::typed) { return add_undecodable(path, value, schema); }
        add(Kind::wrong_type, path,
            fmt::format("Invalid value: \"{0}\": {1} in body must be of type {2}: \"{0}\"", found,
                        path, fmt::join(types, ",")));
    }

    /// Whether it makes sense to look further.
    bool check_type(const json::value& value, const Schema& schema, const std::string& path) {
        std::vector<std::string_view> types = types_of(schema);
        if (types.empty() && rules_ == Rules::typed) { types = plain_alternatives(schema); }
        if (types.empty()) { return true; }
        const bool fits = std::ranges::any_of(types, [&](std::string_view type) {
            if (type == "number") { return is_number(value); }
            if (type == "integer" && value.is_double()) {
                return rules_ == Rules::structural && is_whole(value);
            }
            return type == type_name(value);
        });
        if (!fits) { add_wrong_type(path, value, types, schema); }
        return fits;
    }

    /// Types that take several kinds of values, such as quantities: `oneOf` with types only.
    static std::vector<std::string_view> plain_alternatives(const Schema& schema) {
        std::vector<std::string_view> types;
        const json::array* alternatives = list_at(schema, "oneOf");
        if (alternatives == nullptr) { return types; }
        for (const json::value& one : *alternatives) {
            const json::object* object = one.if_object();
            const json::value* type = object == nullptr ? nullptr : object->if_contains("type");
            if (type == nullptr || !type->is_string() || object->size() != 1) { return {}; }
            types.emplace_back(type->get_string());
        }
        return types;
    }

    void check_enumeration(const json::value& value, const Schema& schema,
                           const std::string& path) {
        const json::array* allowed = list_at(schema, "enum");
        if (allowed == nullptr || value.is_null()) { return; }
        // A type holds an absent string as an empty one.
        if (rules_ == Rules::typed && value.is_string() && value.get_string().empty()) { return; }
        std::vector<std::string> words;
        for (const json::value& one : *allowed) {
            if (same_value(one, value)) { return; }
            words.push_back(shown(one));
        }
        add(Kind::unsupported, path,
            fmt::format("Unsupported value: {}: supported values: {}", shown(value),
                        fmt::join(words, ", ")));
    }

    void check_quantity(const json::value& value, const std::string& path) {
        const std::string text = value.is_string()   ? std::string(value.get_string())
                                 : value.is_double() ? fmt::format("{}", value.get_double())
                                                     : json::serialize(value);
        if (!canonical_quantity(text)) { add_no_quantity(path); }
    }

    void add_no_quantity(const std::string& path) {
        add(Kind::wrong_type, path,
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    }

    void check_text(const json::string& text, const Schema& schema, const std::string& path) {
        const json::value value(text);
        const json::value length(count_characters(text));
        if (const json::value* min = number_of(schema, "minLength");
            min != nullptr && compare_numbers(length, *min) < 0) {
            add_invalid(path, value, fmt::format("should be at least {} chars long", shown(*min)));
        }
        if (const json::value* max = number_of(schema, "maxLength");
            max != nullptr && compare_numbers(length, *max) > 0) {
            add(Kind::invalid, path,
                fmt::format("Too long: may not be more than {} bytes", shown(*max)));
        }
        if (const json::value* pattern = schema.raw().if_contains("pattern");
            pattern != nullptr && pattern->is_string() &&
            !pattern_of(pattern->get_string()).matches(text)) {
            add_invalid(path, value,
                        fmt::format("should match '{}'", std::string_view(pattern->get_string())));
        }
        if (has_format(text, schema.format())) { return; }
        if (rules_ == Rules::typed) {
            add(Kind::wrong_type, path, undecodable_text(text, schema));
        } else {
            add_invalid(path, value,
                        fmt::format("must be of type {}: {}", schema.format(), shown(value)));
        }
    }

    const Pattern& pattern_of(std::string_view text) {
        const auto found = patterns_.find(text);
        return found != patterns_.end() ? found->second
                                        : patterns_.emplace(text, Pattern(text)).first->second;
    }

    void check_number(const json::value& value, const Schema& schema, const std::string& path) {
        check_range(value, schema, path);
        if (const json::value* min = number_of(schema, "minimum")) {
            const bool is_open = flag_of(schema, "exclusiveMinimum");
            const auto order = compare_numbers(value, *min);
            if (order < 0 || (is_open && order == 0)) {
                add_invalid(path, value,
                            fmt::format("should be greater than {}{}",
                                        is_open ? "" : "or equal to ", shown(*min)));
            }
        }
        if (const json::value* max = number_of(schema, "maximum")) {
            const bool is_open = flag_of(schema, "exclusiveMaximum");
            const auto order = compare_numbers(value, *max);
            if (order > 0 || (is_open && order == 0)) {
                add_invalid(path, value,
                            fmt::format("should be less than {}{}", is_open ? "" : "or equal to ",
                                        shown(*max)));
            }
        }
        if (const json::value* factor = number_of(schema, "multipleOf");
            factor != nullptr && !is_multiple(value, *factor)) {
            add_invalid(path, value, fmt::format("should be a multiple of {}", shown(*factor)));
        }
    }

    static bool is_multiple(const json::value& value, const json::value& factor) {
        if (value.is_int64() && factor.is_int64()) {
            return factor.get_int64() <= 0 || value.get_int64() % factor.get_int64() == 0;
        }
        boost::system::error_code wrong;
        const double number = value.to_number<double>(wrong);
        const double step = factor.to_number<double>(wrong);
        if (wrong || step <= 0) { return true; }
        const double times = number / step;
        return std::abs(times - std::round(times)) < 1e-9;
    }

    /// Formats of integers are ranges.
    void check_range(const json::value& value, const Schema& schema, const std::string& path) {
        const std::string_view format = schema.format();
        if (schema.type() != Schema::Type::integer || (format != "int32" && format != "int64")) {
            return;
        }
        const bool is_short = format == "int32";
        const json::value low(is_short ? std::numeric_limits<std::int32_t>::min()
                                       : std::numeric_limits<std::int64_t>::min());
        const json::value high(is_short ? std::numeric_limits<std::int32_t>::max()
                                        : std::numeric_limits<std::int64_t>::max());
        if (compare_numbers(value, low) >= 0 && compare_numbers(value, high) <= 0) { return; }
        if (rules_ == Rules::typed) {
            add_undecodable(path, value, schema);
        } else {
            add_invalid(path, value, fmt::format("must be of type integer with format {}", format));
        }
    }

    void check_list(const json::array& list, const Schema& schema, const std::string& path) {
        const json::value count(list.size());
        if (const json::value* max = number_of(schema, "maxItems");
            max != nullptr && compare_numbers(count, *max) > 0) {
            add(Kind::invalid, path,
                fmt::format("Too many: {}: must have at most {} items", list.size(), shown(*max)));
            return;  // which bounds the work
        }
        if (const json::value* min = number_of(schema, "minItems");
            min != nullptr && compare_numbers(count, *min) < 0) {
            add_invalid(path, count, fmt::format("should have at least {} items", shown(*min)));
        }
        check_duplicates(list, schema, path);
        const auto items = schema.items();
        if (!items) { return; }
        for (std::size_t i = 0; i < list.size() && faults_.size() < faults_max; ++i) {
            check_value(list[i], *items, fmt::format("{}[{}]", path, i), false);
        }
    }

    /// Of built-in kinds only some lists are as strict as their keys say; the types' own rules
    /// tell.
    void check_duplicates(const json::array& list, const Schema& schema, const std::string& path) {
        if (rules_ == Rules::typed) { return; }
        const Schema::ListType type = schema.list_type();
        const bool is_unique = flag_of(schema, "uniqueItems");
        if (type == Schema::ListType::atomic && !is_unique) { return; }
        const std::vector<std::string> keys =
            type == Schema::ListType::map ? schema.list_keys() : std::vector<std::string>();
        std::set<std::string> seen;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const json::value key = keys.empty() ? list[i] : json::value(keys_of(list[i], keys));
            if (seen.insert(identity(key)).second) { continue; }
            if (type == Schema::ListType::atomic) {
                add(Kind::invalid, path,
                    fmt::format("{} in body shouldn't contain duplicates", path));
                return;
            }
            add(Kind::invalid, fmt::format("{}[{}]", path, i),
                fmt::format("Duplicate value: {}", shown(key)));
        }
    }

    static json::object keys_of(const json::value& item, const std::vector<std::string>& keys) {
        json::object out;
        for (const std::string& key : keys) {
            const json::value* found =
                item.is_object() ? item.get_object().if_contains(key) : nullptr;
            if (found != nullptr) { out.emplace(key, *found); }
        }
        return out;
    }

    void check_object(const json::object& object, const Schema& schema, const std::string& path,
                      bool is_root) {
        check_required(object, schema, path);
        const json::value count(object.size());
        if (const json::value* max = number_of(schema, "maxProperties");
            max != nullptr && compare_numbers(count, *max) > 0) {
            add(Kind::invalid, path,
                fmt::format("Too many: {}: must have at most {} items", object.size(),
                            shown(*max)));
        }
        if (const json::value* min = number_of(schema, "minProperties");
            min != nullptr && compare_numbers(count, *min) < 0) {
            add_invalid(path, count,
                        fmt::format("should have at least {} properties", shown(*min)));
        }
        for (const auto& field : object) {
            if (faults_.size() >= faults_max) { return; }
            const Member member = member_of(schema, field.key(), rules_, is_root);
            const std::string below = child(path, field.key());
            if (is_required(schema, field.key()) &&
                is_missing(field.value(), schema, field.key())) {
                continue;  // was told
            }
            if (member.schema) {
                const bool is_field = schema.raw().contains("properties");
                const std::string_view outer = struct_;
                if (is_field) {
                    fields_.emplace_back(field.key());
                    struct_ = schema.name();
                }
                check_value(field.value(), *member.schema, below, false);
                if (is_field) {
                    fields_.pop_back();
                    struct_ = outer;
                }
            } else if (member.is == Member::Is::unknown && !is_alternative_) {
                add(Kind::unknown, below, fmt::format("unknown field \"{}\"", below));
            }
        }
    }

    static bool is_required(const Schema& schema, std::string_view name) {
        const json::array* names = list_at(schema, "required");
        return names != nullptr && std::ranges::any_of(*names, [&](const json::value& one) {
                   return one.is_string() && std::string_view(one.get_string()) == name;
               });
    }

    /// Null is nothing, unless the schema lets it be a value.
    [[nodiscard]] bool is_missing(const json::value& value, const Schema& schema,
                                  std::string_view name) const {
        if (!value.is_null()) { return false; }
        const auto property = schema.property(name);
        return rules_ == Rules::typed || !property || !property->is_nullable();
    }

    void check_required(const json::object& object, const Schema& schema, const std::string& path) {
        // Nobody holds it against a kubelet that its report leaves something out.
        if (rules_ == Rules::typed && path.starts_with("status")) { return; }
        for (const std::string& name : schema.required()) {
            const json::value* found = object.if_contains(name);
            if (found == nullptr || is_missing(*found, schema, name)) {
                add(Kind::required, child(path, name), "Required value");
            }
        }
    }

    static std::string child(const std::string& path, std::string_view name) {
        return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
    }

    [[nodiscard]] bool fits(const json::value& value, const json::value& alternative) const {
        Checker checker(rules_, true);
        checker.check_value(value, Schema(alternative, nullptr), "", false);
        return checker.faults_.empty();
    }

    void check_alternatives(const json::value& value, const Schema& schema,
                            const std::string& path) {
        const auto count = [&](const json::array& list) {
            return std::ranges::count_if(list,
                                         [&](const json::value& one) { return fits(value, one); });
        };
        if (const json::array* all = list_at(schema, "allOf");
            all != nullptr && count(*all) != std::ssize(*all)) {
            add_failed_alternative(path, "must validate all the schemas (allOf)");
        }
        if (const json::array* any = list_at(schema, "anyOf"); any != nullptr && count(*any) == 0) {
            add_failed_alternative(path, "must validate at least one schema (anyOf)");
        }
        if (const json::array* one = list_at(schema, "oneOf"); one != nullptr && count(*one) != 1) {
            const auto valid = count(*one);
            add_failed_alternative(
                path, fmt::format("must validate one and only one schema (oneOf). {}",
                                  valid == 0 ? std::string("Found none valid")
                                             : fmt::format("Found {} valid alternatives", valid)));
        }
        if (const json::value* other = schema.raw().if_contains("not");
            other != nullptr && fits(value, *other)) {
            add_failed_alternative(path, "must not validate the schema (not)");
        }
    }

    void add_failed_alternative(const std::string& path, std::string_view words) {
        add(Kind::invalid, path, fmt::format("Invalid value: \"\": \"{}\" {}", path, words));
    }

    Rules rules_;
    bool is_alternative_;
    std::vector<FieldFault> faults_;
    std::map<std::string, Pattern, std::less<>> patterns_;
    std::vector<std::string> fields_;  // of structures, to where we are
    std::string_view struct_;          // the innermost
};

}  // namespace

std::vector<FieldFault> check(const json::value& object, const Schema& schema) {
    if (!is_within(object, levels_max)) {
        return {{.kind = Kind::invalid,
                 .field = "",
                 .detail = fmt::format("values nest deeper than {} levels", levels_max)}};
    }
    Checker checker(rules_of(schema), false);
    checker.check_value(object, schema, "", true);
    return std::move(checker).faults();
}

}  // namespace muster::lab
