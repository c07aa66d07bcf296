#include "lab/selector.h"

#include "codec/json_writer.h"
#include "lab/selector_parse.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace muster::lab {

namespace json = boost::json;

namespace {

bool holds(const Requirement& requirement, std::optional<std::string_view> value) {
    using enum Requirement::Op;
    const auto is_listed = [&] {
        return std::ranges::find(requirement.values, *value) != requirement.values.end();
    };
    switch (requirement.op) {
        case in: return value && is_listed();
        case not_in: return !value || !is_listed();
        case exists: return value.has_value();
        case not_exists: return !value;
        case greater:
        case less: {
            if (!value || requirement.values.empty()) { return false; }
            const auto left = integer_value(*value);
            const auto right = integer_value(requirement.values.front());
            if (!left || !right) { return false; }
            return requirement.op == greater ? *left > *right : *left < *right;
        }
    }
    return false;
}

/// At commas, but for those behind a backslash.
std::vector<std::string_view> split_terms(std::string_view text) {
    std::vector<std::string_view> out;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == ',') {
            out.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    out.push_back(text.substr(begin));
    return out;
}

Result<std::string> unescape(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ',' || c == '=') {
            return fail(Code::invalid,
                        fmt::format("invalid field selector: unescaped character in value: {}",
                                    static_cast<int>(c)));
        }
        if (c != '\\') {
            out += c;
            continue;
        }
        ++i;
        if (i == text.size() || (text[i] != '\\' && text[i] != ',' && text[i] != '=')) {
            return fail(Code::invalid,
                        fmt::format("invalid field selector: invalid escape sequence: {}",
                                    text.substr(i - 1, 2)));
        }
        out += text[i];
    }
    return out;
}

Result<Requirement> read_expression(const json::object& expression) {
    using enum Requirement::Op;
    const auto text_at = [&](std::string_view key) {
        const json::value* found = expression.if_contains(key);
        return found != nullptr && found->is_string() ? std::string(found->get_string())
                                                      : std::string();
    };
    Requirement out{.key = text_at("key"), .op = in, .values = {}};
    const std::string op = text_at("operator");
    if (op == "NotIn") {
        out.op = not_in;
    } else if (op == "Exists") {
        out.op = exists;
    } else if (op == "DoesNotExist") {
        out.op = not_exists;
    } else if (op != "In") {
        return fail(Code::invalid,
                    fmt::format("{} is not a valid label selector operator", json_text(op)));
    }
    const json::value* values = expression.if_contains("values");
    if (values != nullptr && values->is_array()) {
        for (const json::value& one : values->get_array()) {
            if (one.is_string()) { out.values.emplace_back(one.get_string()); }
        }
    }
    std::ranges::sort(out.values);
    return check_requirement(std::move(out));
}

}  // namespace

Result<Selector> parse_field_selector(std::string_view text) {
    Selector out;
    for (const std::string_view term : split_terms(text)) {
        if (term.empty()) { continue; }
        const std::size_t at = std::min(term.find('='), term.find("!="));
        if (at == std::string_view::npos) {
            return fail(Code::invalid,
                        fmt::format("invalid selector: '{}'; can't understand '{}'", text, term));
        }
        const bool is_not = term[at] == '!';
        const std::string_view rest = term.substr(at);
        const std::size_t size = is_not || rest.starts_with("==") ? 2 : 1;
        MUSTER_TRY(value, unescape(rest.substr(size)));
        out.push_back(Requirement{.key = std::string(term.substr(0, at)),
                                  .op = is_not ? Requirement::Op::not_in : Requirement::Op::in,
                                  .values = {value}});
    }
    return out;
}

Result<Selector> read_label_selector(const json::value& selector) {
    Selector out;
    if (!selector.is_object()) {
        out.push_back(Requirement{});  // in an empty list: never
        return out;
    }
    const json::object& object = selector.get_object();
    const json::value* labels = object.if_contains("matchLabels");
    if (labels != nullptr && labels->is_object()) {
        for (const auto& [key, value] : labels->get_object()) {
            MUSTER_TRY(requirement,
                       check_requirement(Requirement{
                           .key = std::string(key),
                           .op = Requirement::Op::in,
                           .values = {value.is_string() ? std::string(value.get_string())
                                                        : std::string()}}));
            out.push_back(std::move(requirement));
        }
    }
    const json::value* expressions = object.if_contains("matchExpressions");
    if (expressions != nullptr && expressions->is_array()) {
        for (const json::value& one : expressions->get_array()) {
            if (!one.is_object()) { continue; }
            MUSTER_TRY(requirement, read_expression(one.get_object()));
            out.push_back(std::move(requirement));
        }
    }
    return out;
}

bool matches_labels(const Selector& selector, const json::object* labels) {
    return std::ranges::all_of(selector, [&](const Requirement& requirement) {
        const json::value* found =
            labels == nullptr ? nullptr : labels->if_contains(requirement.key);
        if (found == nullptr || !found->is_string()) { return holds(requirement, std::nullopt); }
        return holds(requirement, std::string_view(found->get_string()));
    });
}

bool matches_fields(const Selector& selector,
                    const std::function<std::string(std::string_view)>& value_of) {
    return std::ranges::all_of(selector, [&](const Requirement& requirement) {
        const std::string value = value_of(requirement.key);
        return holds(requirement, value);
    });
}

}  // namespace muster::lab
