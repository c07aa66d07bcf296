#include "lab/field_set.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr int depth_max = 256;  // of one set; bounds the recursion

std::string write_number(double number) { return fmt::format("{:.15g}", number); }

/// The JSON parser may miss a number by its last bit, so that one that is written and read again
/// would be another. With the digits that every double keeps it is the same.
double round_to_text(double number) {
    const std::string text = write_number(number);
    double out = std::numeric_limits<double>::infinity();  // when the text is too large
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
}

/// As Go writes it: also what is special in HTML is escaped.
std::string write_text(std::string_view text) {
    std::string out;
    for (const char c : json::serialize(json::value(text))) {
        if (c == '<' || c == '>' || c == '&') {
            out += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
            out += c;
        }
    }
    return out;
}

std::string write_scalar(const FieldScalar& scalar) {
    if (const auto* text = std::get_if<std::string>(&scalar)) { return write_text(*text); }
    if (const auto* whole = std::get_if<std::int64_t>(&scalar)) {
        return fmt::format("{}", *whole);
    }
    if (const auto* flag = std::get_if<bool>(&scalar)) { return *flag ? "true" : "false"; }
    return write_number(std::get<double>(scalar));
}

std::string write_step(const FieldStep& step) {
    switch (step.kind) {
        case FieldStep::Kind::field: return "f:" + step.name;
        case FieldStep::Kind::value: return "v:" + write_scalar(step.key.front().second);
        case FieldStep::Kind::index: return "i:" + write_scalar(step.key.front().second);
        case FieldStep::Kind::key: break;
    }
    std::string out = "k:{";
    for (const auto& [name, value] : step.key) {
        if (out.size() > 3) { out += ','; }
        out += write_text(name) + ':' + write_scalar(value);
    }
    return out + '}';
}

Result<FieldStep> read_key(std::string_view text) {
    boost::system::error_code wrong;
    const json::value value = json::parse(text, wrong);
    const json::object* fields = wrong ? nullptr : value.if_object();
    if (fields == nullptr) { return fail(Code::invalid, "a key must be a JSON object"); }
    FieldStep step{.kind = FieldStep::Kind::key, .name = {}, .key = {}};
    for (const auto& [name, part] : *fields) {
        const std::optional<FieldScalar> scalar = field_scalar(part);
        if (!scalar) { return fail(Code::invalid, "a key must consist of scalars"); }
        step.key.emplace_back(std::string(name), *scalar);
    }
    std::sort(step.key.begin(), step.key.end(),
              [](const auto& left, const auto& right) { return left.first < right.first; });
    return step;
}

Result<FieldStep> read_item(std::string_view text) {
    boost::system::error_code wrong;
    const json::value value = json::parse(text, wrong);
    const std::optional<FieldScalar> scalar = wrong ? std::nullopt : field_scalar(value);
    if (!scalar) { return fail(Code::invalid, "an item of a set must be a scalar in JSON"); }
    return FieldStep::item(*scalar);
}

Result<FieldStep> read_index(std::string_view text) {
    std::int64_t index = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (wrong != std::errc() || end != text.data() + text.size() || index < 0) {
        return fail(Code::invalid, "an index must be a number");
    }
    return FieldStep::at(static_cast<std::size_t>(index));
}

/// None for a kind of step that a later version may know.
Result<std::optional<FieldStep>> read_step(std::string_view text) {
    if (text.size() < 2 || text[1] != ':') {
        return fail(Code::invalid, fmt::format("path element \"{}\": expected KIND:CONTENT", text));
    }
    const std::string_view content = text.substr(2);
    Result<FieldStep> step;
    switch (text[0]) {
        case 'f': return FieldStep::field(content);
        case 'k': step = read_key(content); break;
        case 'v': step = read_item(content); break;
        case 'i': step = read_index(content); break;
        default: return std::optional<FieldStep>();
    }
    if (!step) {
        return tl::unexpected(
            std::move(step).error().wrap(fmt::format("path element \"{}\"", text)));
    }
    return std::optional<FieldStep>(*std::move(step));
}

/// What is inside; `is_member` is whether it says that it is one itself.
Result<FieldSet> read_set(const json::value& value, int depth, bool& is_member) {
    const json::object* object = value.if_object();
    if (object == nullptr) { return fail(Code::invalid, "fields: expected an object"); }
    if (depth > depth_max) { return fail(Code::limit, "fields: too deep"); }
    FieldSet out;
    is_member = false;
    for (const auto& [key, below] : *object) {
        if (key == ".") {
            is_member = true;
            continue;
        }
        MUSTER_TRY(step, read_step(key));
        if (!step) { continue; }
        bool is_child_member = false;
        MUSTER_TRY(inside, read_set(below, depth + 1, is_child_member));
        if (const FieldSet::Node* before = out.find(*step)) {  // written in two ways
            is_child_member = is_child_member || before->is_member;
            inside = inside.unite(before->inside);
        }
        out.put(*step, is_child_member, std::move(inside));
    }
    if (out.is_empty()) { is_member = true; }
    return out;
}

}  // namespace

std::optional<FieldScalar> field_scalar(const json::value& value) {
    if (const json::string* text = value.if_string()) { return std::string(*text); }
    if (const bool* flag = value.if_bool()) { return *flag; }
    if (const std::int64_t* whole = value.if_int64()) { return *whole; }
    double number = 0;
    if (const std::uint64_t* large = value.if_uint64()) {
        if (*large <= std::uint64_t{INT64_MAX}) { return static_cast<std::int64_t>(*large); }
        number = static_cast<double>(*large);
    } else if (const double* real = value.if_double()) {
        number = *real;
    } else {
        return std::nullopt;
    }
    constexpr double whole_end = 9223372036854775808.0;  // 2^63, the first that is too large
    number = round_to_text(number);
    if (!std::isfinite(number)) { return std::nullopt; }
    if (number == std::trunc(number) && number >= -whole_end && number < whole_end) {
        return static_cast<std::int64_t>(number);
    }
    return number;
}

Result<FieldSet> FieldSet::parse(const json::value& fields) {
    bool is_member = false;
    return read_set(fields, 0, is_member);
}

json::value FieldSet::write() const {
    json::object out;
    out.reserve(nodes_.size() + 1);
    for (const auto& [step, node] : nodes_) {
        json::value inside = node.inside.write();
        if (!node.is_member || node.inside.is_empty()) {
            out[write_step(step)] = std::move(inside);
            continue;
        }
        json::object with_self;
        with_self["."] = json::object();
        for (auto& [key, below] : inside.get_object()) { with_self[key] = std::move(below); }
        out[write_step(step)] = std::move(with_self);
    }
    return out;
}

}  // namespace muster::lab
