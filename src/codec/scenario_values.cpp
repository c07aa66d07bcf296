#include "codec/scenario_values.h"

#include "base/text.h"
#include "codec/plan_names.h"
#include "model/limits.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::scenario {

namespace {

constexpr std::int64_t mebibyte = 1 << 20;

tl::unexpected<Error> bad_value(const Attribute& attribute, std::string_view expected) {
    return fail(Code::invalid, fmt::format("{}='{}'; expected {}", attribute.key.text,
                                           attribute.value.text, expected));
}

/// A quantity by `parse`, within 0…`high`; errors name the key.
Result<std::int64_t> read_quantity(const Attribute& attribute, std::int64_t high,
                                   Result<std::int64_t> value) {
    if (!value) { return tl::unexpected(std::move(value.error()).wrap(attribute.key.text)); }
    if (*value < 0 || *value > high) {
        return fail(Code::limit, fmt::format("{}='{}' is out of range", attribute.key.text,
                                             attribute.value.text));
    }
    return value;
}

Result<TaintEffect> read_effect(const Word& word) {
    const auto effect = value_of<TaintEffect>(word.text);
    if (!effect) {
        return fail(Code::invalid,
                    fmt::format("unknown effect '{}'; expected one of: {}", word.text,
                                fmt::join(names_of<TaintEffect>(), ", ")));
    }
    return *effect;
}

Result<LabelMatch> read_match(const Word& word) {
    LabelMatch match;
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
        MUSTER_TRY(key, read_name("label", word.part(0, equals)));
        match.key = key;
        match.values = {word.part(equals + 1).text};
        return match;
    }
    const std::vector<Word> parts = word.split(':');
    const auto op = parts.size() < 2 ? std::nullopt : value_of<MatchOp>(parts[1].text);
    if (!op || parts.size() > 3) {
        return fail(
            Code::invalid,
            fmt::format("'{}' is no label match; expected key=value or key:OP[:values] with "
                        "OP one of: {}",
                        word.text, fmt::join(names_of<MatchOp>(), ", ")));
    }
    MUSTER_TRY(key, read_name("label", parts[0]));
    match.key = key;
    match.op = *op;
    if (parts.size() == 3) {
        for (const Word& value : parts[2].split(',')) { match.values.push_back(value.text); }
    }
    return match;
}

}  // namespace

bool Attribute::has_prefix(std::string_view prefix) const {
    return !key.is_quoted && key.text.size() > prefix.size() + 1 && key.text.starts_with(prefix) &&
           key.text[prefix.size()] == '.';
}

std::string Attribute::behind(std::string_view prefix) const {
    return key.text.substr(prefix.size() + 1);
}

Result<std::vector<Attribute>> read_attributes(std::span<const Word> words,
                                               std::initializer_list<std::string_view> repeatable) {
    std::vector<Attribute> out;
    std::vector<std::string_view> seen;
    for (const Word& word : words) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0) {
            return fail(Code::invalid, fmt::format("'{}'; expected key=value", word.text));
        }
        out.push_back({word.part(0, equals), word.part(equals + 1)});
    }
    for (const Attribute& attribute : out) {
        const bool may_repeat = std::ranges::any_of(repeatable, [&](std::string_view key) {
            return attribute.is(key) || attribute.has_prefix(key);
        });
        if (!may_repeat) { seen.push_back(attribute.key.text); }
    }
    std::ranges::sort(seen);
    const auto twice = std::ranges::adjacent_find(seen);
    if (twice != seen.end()) {
        return fail(Code::invalid, fmt::format("key '{}' stands twice; expected once", *twice));
    }
    return out;
}

tl::unexpected<Error> unknown_key(const Attribute& attribute, std::string_view expected) {
    return fail(Code::invalid,
                fmt::format("unknown key '{}'; expected one of: {}", attribute.key.text, expected));
}

tl::unexpected<Error> name_is_wrong(std::string_view what, std::string_view name,
                                    bool is_replacing) {
    if (is_replacing) {
        return fail(Code::invalid, fmt::format("no {} '{}' to replace", what, name));
    }
    return fail(Code::invalid,
                fmt::format("{} '{}' is there already; expected set or replace", what, name));
}

Result<std::int64_t> read_count(const Attribute& attribute, std::int64_t low, std::int64_t high) {
    return parse_int(attribute.key.text, attribute.value.text, low, high);
}

Result<std::int64_t> read_cpu(const Attribute& attribute) {
    return read_quantity(attribute, milli_cpu_max, parse_quantity_milli(attribute.value.text));
}

Result<std::int64_t> read_memory(const Attribute& attribute) {
    return read_quantity(attribute, memory_bytes_max, parse_quantity(attribute.value.text));
}

Result<std::int64_t> read_fleet_memory(const Attribute& attribute) {
    return read_quantity(attribute, std::int64_t{1} << 60, parse_quantity(attribute.value.text));
}

Result<std::int64_t> read_mib(const Attribute& attribute) {
    MUSTER_TRY(bytes, read_quantity(attribute, gpu_memory_mib_max * mebibyte,
                                    parse_quantity(attribute.value.text)));
    if (bytes % mebibyte != 0) {
        return bad_value(attribute, "whole MiB, such as 80Gi or 46068Mi");
    }
    return bytes / mebibyte;
}

Result<std::int64_t> read_milli(const Attribute& attribute, std::int64_t milli_max) {
    return read_quantity(attribute, milli_max, parse_quantity_milli(attribute.value.text));
}

Result<std::int64_t> read_duration(std::string_view text) {
    constexpr std::pair<std::string_view, std::int64_t> units[] = {
        {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
    constexpr std::int64_t number_max = std::int64_t{1} << 52;  // in milliseconds: real dates too
    const std::size_t digits = text.find_first_not_of("0123456789");
    for (const auto& [unit, milliseconds] : units) {
        if (digits != std::string_view::npos && text.substr(digits) == unit) {
            MUSTER_TRY(number,
                       parse_int("duration", text.substr(0, digits), 0, number_max / milliseconds));
            return number * milliseconds;
        }
    }
    return fail(
        Code::invalid,
        fmt::format("'{}' is no duration; expected a number and one of: ms, s, m, h, d", text));
}

Result<bool> read_flag(const Attribute& attribute) {
    if (attribute.value.is("yes")) { return true; }
    if (attribute.value.is("no")) { return false; }
    return bad_value(attribute, "yes or no");
}

Result<std::string> read_name(std::string_view what, const Word& word) {
    if (word.text.empty()) { return fail(Code::invalid, fmt::format("{} is empty", what)); }
    if (word.text.size() > name_bytes_max) {
        return fail(Code::limit, fmt::format("{} has {} bytes; expected at most {}", what,
                                             word.text.size(), name_bytes_max));
    }
    return word.text;
}

Result<std::vector<std::string>> read_names(std::string_view what, const Word& word) {
    std::vector<std::string> names;
    for (const Word& item : word.split(',')) {
        MUSTER_TRY(name, read_name(what, item));
        names.push_back(std::move(name));
    }
    return names;
}

Result<Taint> read_taint(const Word& word) {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos) {
        return fail(Code::invalid,
                    fmt::format("taint '{}'; expected key=value:Effect or key:Effect", word.text));
    }
    Taint taint;
    const Word head = word.part(0, colon);
    const std::size_t equals = head.find('=');
    MUSTER_TRY(key, read_name("taint", head.part(0, equals)));
    taint.key = key;
    if (equals != std::string::npos) { taint.value = head.part(equals + 1).text; }
    MUSTER_TRY(effect, read_effect(word.part(colon + 1)));
    taint.effect = effect;
    return taint;
}

Result<Toleration> read_toleration(const Word& word) {
    Toleration toleration;
    const std::size_t colon = word.find(':');
    if (colon != std::string::npos) {
        MUSTER_TRY(effect, read_effect(word.part(colon + 1)));
        toleration.is_any_effect = false;
        toleration.effect = effect;
    }
    const Word head = word.part(0, colon);
    const std::size_t equals = head.find('=');
    toleration.op = equals == std::string::npos ? TolerationOp::exists : TolerationOp::equal;
    if (head.is("*")) { return toleration; }
    for (const auto& [sign, op] :
         {std::pair('>', TolerationOp::greater), std::pair('<', TolerationOp::less)}) {
        const std::size_t at = head.find(sign);
        if (equals != std::string::npos || at == std::string::npos) { continue; }
        MUSTER_TRY(compared, read_name("toleration", head.part(0, at)));
        toleration.key = compared;
        toleration.value = head.part(at + 1).text;
        toleration.op = op;
        return toleration;
    }
    MUSTER_TRY(key, read_name("toleration", head.part(0, equals)));
    toleration.key = key;
    if (equals != std::string::npos) { toleration.value = head.part(equals + 1).text; }
    return toleration;
}

Result<std::vector<LabelMatch>> read_matches(const Word& word) {
    std::vector<LabelMatch> matches;
    if (word.text.empty()) { return matches; }
    for (const Word& item : word.split('&')) {
        MUSTER_TRY(match, read_match(item));
        matches.push_back(std::move(match));
    }
    return matches;
}

void set_amount(std::vector<Amount>& amounts, std::string name, std::int64_t count) {
    const auto found = std::ranges::find(amounts, name, &Amount::name);
    if (found != amounts.end()) {
        found->count = count;
    } else {
        amounts.push_back({std::move(name), count});
    }
}

void set_label(std::vector<Label>& labels, std::string key, std::string value) {
    const auto found = std::ranges::find(labels, key, &Label::key);
    if (found != labels.end()) {
        found->value = std::move(value);
    } else {
        labels.push_back({std::move(key), std::move(value)});
    }
}

std::string write_milli(std::int64_t milli) {
    return milli % 1000 == 0 ? fmt::format("{}", milli / 1000) : fmt::format("{}m", milli);
}

std::string write_bytes(std::int64_t bytes) {
    constexpr std::string_view suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    std::size_t i = 0;
    for (; bytes != 0 && bytes % 1024 == 0 && i + 1 < std::size(suffixes); ++i) { bytes /= 1024; }
    return fmt::format("{}{}", bytes, suffixes[i]);
}

std::string write_names(std::span<const std::string> names) {
    std::string out;
    for (const std::string& name : names) {
        if (!out.empty()) { out += ','; }
        out += quote(name);
    }
    return out;
}

std::string write_taint(const Taint& taint) {
    std::string out = quote(taint.key);
    if (!taint.value.empty()) { out += '=' + quote(taint.value); }
    return out + ':' + std::string(name_of(taint.effect));
}

std::string write_toleration(const Toleration& toleration) {
    std::string out = toleration.key.empty() ? "*" : quote(toleration.key);
    if (toleration.op == TolerationOp::equal) { out += '=' + quote(toleration.value); }
    if (toleration.op == TolerationOp::greater) { out += '>' + quote(toleration.value); }
    if (toleration.op == TolerationOp::less) { out += '<' + quote(toleration.value); }
    if (!toleration.is_any_effect) { out += ':' + std::string(name_of(toleration.effect)); }
    return out;
}

std::string write_matches(std::span<const LabelMatch> matches) {
    std::string out;
    for (const LabelMatch& match : matches) {
        if (!out.empty()) { out += '&'; }
        out += fmt::format("{}:{}", quote(match.key), name_of(match.op));
        if (!match.values.empty()) { out += ':' + write_names(match.values); }
    }
    return out;
}

}  // namespace muster::scenario
