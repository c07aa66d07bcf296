#include "lab/field_rules.h"

#include "base/text.h"
#include "kube/objects.h"
#include "lab/names.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view percent_rule =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    "'93%', regex used for validation is '[0-9]+%')";

bool is_absent(const json::value* value) {
    if (value == nullptr || value->is_null()) { return true; }
    if (const json::string* text = value->if_string()) { return text->empty(); }
    if (const json::array* list = value->if_array()) { return list->empty(); }
    return false;
}

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t out = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (wrong != std::errc() || end != text.data() + text.size()) { return std::nullopt; }
    return out;
}

void check_number(const FieldRule& rule, const json::value& value, const std::string& field,
                  Causes& out) {
    if (!value.is_int64()) { return; }
    const std::int64_t number = value.get_int64();
    if (rule.must == MustBe::not_negative && number < 0) {
        out.wrong(field, value, "must be greater than or equal to 0");
    }
    if (rule.must == MustBe::above_zero && number <= 0) {
        out.wrong(field, value, rule.words.empty() ? "must be greater than 0" : rule.words);
    }
    if (rule.must == MustBe::within) {
        const std::size_t dash = rule.words.find('-', 1);
        const auto low = number_of(rule.words.substr(0, dash));
        const auto high = number_of(rule.words.substr(dash + 1));
        if (low && high && (number < *low || number > *high)) {
            out.wrong(field, value,
                      fmt::format("must be between {} and {}, inclusive", *low, *high));
        }
    }
}

void check_text(const FieldRule& rule, const json::value& value, const std::string& field,
                Causes& out) {
    if (!value.is_string() || value.get_string().empty()) { return; }
    const std::string_view text = value.get_string();
    switch (rule.must) {
        case MustBe::one_of: {
            const std::vector<std::string_view> supported = words(rule.words);
            if (std::ranges::find(supported, text) == supported.end()) {
                out.unsupported(field, value, supported);
            }
            break;
        }
        case MustBe::dns_label: out.wrong(field, value, check_dns_label(text)); break;
        case MustBe::dns_subdomain: out.wrong(field, value, check_subdomain(text)); break;
        case MustBe::qualified_name: out.wrong(field, value, check_qualified_name(text)); break;
        case MustBe::port_name: out.wrong(field, value, check_port_name(text)); break;
        case MustBe::there:
        case MustBe::not_negative:
        case MustBe::above_zero:
        case MustBe::within:
        case MustBe::labels:
        case MustBe::selector: break;
    }
}

void check_rule(const FieldRule& rule, const json::value* value, const std::string& field,
                Causes& out) {
    if (rule.must == MustBe::there) {
        if (is_absent(value)) { out.required(field, rule.words); }
        return;
    }
    if (value == nullptr || value->is_null()) { return; }
    if (rule.must == MustBe::labels) { return check_label_map(*value, field, out); }
    if (rule.must == MustBe::selector) {
        if (const json::object* selector = value->if_object()) {
            check_selector(*selector, field, out);
        }
        return;
    }
    check_number(rule, *value, field, out);
    check_text(rule, *value, field, out);
}

}  // namespace

void for_each_at(const json::object& object, std::string_view path, std::string_view prefix,
                 const std::function<void(const json::value*, const std::string&)>& visit) {
    const std::size_t dot = path.find('.');
    std::string_view name = path.substr(0, dot);
    const bool is_list = name.ends_with("[]");
    if (is_list) { name.remove_suffix(2); }
    const std::string_view rest =
        dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    const std::string field =
        prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
    const json::value* found = object.if_contains(name);
    if (!is_list) {
        if (rest.empty()) { return visit(found, field); }
        if (found != nullptr && found->is_object()) {
            for_each_at(found->get_object(), rest, field, visit);
        }
        return;
    }
    if (found == nullptr || !found->is_array()) { return; }
    std::size_t index = 0;
    for (const json::value& one : found->get_array()) {
        const std::string place = fmt::format("{}[{}]", field, index++);
        if (rest.empty()) {
            visit(&one, place);
        } else if (one.is_object()) {
            for_each_at(one.get_object(), rest, place, visit);
        }
    }
}

void check_rules(std::span<const FieldRule> rules, const json::object& object,
                 std::string_view prefix, Causes& out) {
    for (const FieldRule& rule : rules) {
        for_each_at(object, rule.path, prefix,
                    [&](const json::value* value, const std::string& field) {
                        check_rule(rule, value, field, out);
                    });
    }
}

const json::object& map_in(const json::object& object, std::string_view path) {
    static const json::object none;
    const json::object* found = kube::object_at(object, path);
    return found == nullptr ? none : *found;
}

const json::array& list_in(const json::object& object, std::string_view path) {
    static const json::array none;
    const json::array* found = kube::array_at(object, path);
    return found == nullptr ? none : *found;
}

std::string amount_text(const json::value& amount) {
    return amount.is_string() ? std::string(amount.get_string()) : json::serialize(amount);
}

std::optional<std::int64_t> milli_of(const json::value& amount) {
    const std::string text = amount_text(amount);
    const bool is_negative = text.starts_with('-');
    const auto value = parse_quantity_milli(std::string_view(text).substr(is_negative ? 1 : 0));
    if (!value) { return std::nullopt; }
    return is_negative ? -*value : *value;
}

void check_label_map(const json::value& labels, const std::string& field, Causes& out) {
    if (!labels.is_object()) { return; }
    for (const auto& [key, value] : labels.get_object()) {
        out.wrong(field, json::value(key), check_qualified_name(key));
        if (value.is_string()) { out.wrong(field, value, check_label_value(value.get_string())); }
    }
}

void check_annotation_map(const json::value& annotations, const std::string& field, Causes& out) {
    constexpr std::size_t bytes_max = std::size_t{256} << 10;
    if (!annotations.is_object()) { return; }
    std::size_t bytes = 0;
    for (const auto& [key, value] : annotations.get_object()) {
        std::string lower(key);
        std::ranges::transform(lower, lower.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        });
        out.wrong(field, json::value(key), check_qualified_name(lower));
        bytes += key.size() + (value.is_string() ? value.get_string().size() : 0);
    }
    if (bytes > bytes_max) { out.too_long(field, bytes_max); }
}

void check_selector(const json::object& selector, const std::string& field, Causes& out) {
    if (const json::value* labels = selector.if_contains("matchLabels")) {
        check_label_map(*labels, field + ".matchLabels", out);
    }
    const json::value* expressions = selector.if_contains("matchExpressions");
    if (expressions == nullptr || !expressions->is_array()) { return; }
    std::size_t index = 0;
    for (const json::value& one : expressions->get_array()) {
        const std::string place = fmt::format("{}.matchExpressions[{}]", field, index++);
        if (!one.is_object()) { continue; }
        const json::value* op = one.get_object().if_contains("operator");
        const json::value* values = one.get_object().if_contains("values");
        const std::string_view what =
            op != nullptr && op->is_string() ? std::string_view(op->get_string()) : "";
        if (what == "In" || what == "NotIn") {
            if (is_absent(values)) {
                out.required(place + ".values",
                             "must be specified when `operator` is 'In' or 'NotIn'");
            }
        } else if (what == "Exists" || what == "DoesNotExist") {
            if (!is_absent(values)) {
                out.forbidden(place + ".values",
                              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
            }
        } else {
            out.wrong(place + ".operator", json::value(what), "not a valid selector operator");
        }
        if (const json::value* key = one.get_object().if_contains("key");
            key != nullptr && key->is_string()) {
            out.wrong(place + ".key", *key, check_qualified_name(key->get_string()));
        }
    }
}

void check_share(const json::value& value, const std::string& field, Causes& out) {
    if (value.is_int64()) {
        if (value.get_int64() < 0) {
            out.wrong(field, value, "must be greater than or equal to 0");
        }
        return;
    }
    if (!value.is_string()) { return; }
    const std::string_view text = value.get_string();
    const bool is_percent = text.size() > 1 && text.ends_with('%') &&
                            std::ranges::all_of(text.substr(0, text.size() - 1),
                                                [](char c) { return c >= '0' && c <= '9'; });
    if (!is_percent) { out.wrong(field, value, percent_rule); }
}

}  // namespace muster::lab
