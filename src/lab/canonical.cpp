#include "lab/canonical.h"

#include "kube/objects.h"
#include "lab/values.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace muster::lab {

namespace json = boost::json;

namespace {

// NOLINTNEXTLINE(bugprone-reserved-identifier)
__extension__ using Wide = __int128;

constexpr Wide nano = 1'000'000'000;
constexpr Wide amount_max = Wide{INT64_MAX} * nano;

struct Suffix {
    std::string_view text;
    int power;  // of ten, or of 1024
};
constexpr std::array<Suffix, 10> decimal{{{"n", -9},
                                          {"u", -6},
                                          {"m", -3},
                                          {"", 0},
                                          {"k", 3},
                                          {"M", 6},
                                          {"G", 9},
                                          {"T", 12},
                                          {"P", 15},
                                          {"E", 18}}};
constexpr std::array<Suffix, 6> binary{
    {{"Ki", 1}, {"Mi", 2}, {"Gi", 3}, {"Ti", 4}, {"Pi", 5}, {"Ei", 6}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits with at most one point: the number without the point, and how many digits follow it.
struct Digits {
    Wide number = 0;
    int behind = 0;
};

std::optional<Digits> read_digits(std::string_view text) {
    Digits out;
    bool has_point = false;
    bool has_digit = false;
    for (const char c : text) {
        if (c == '.') {
            if (std::exchange(has_point, true)) { return std::nullopt; }
            continue;
        }
        has_digit = true;
        // What is smaller than any amount counts for nothing; what is larger is cut off.
        if (has_point && out.behind >= 18) { continue; }
        if (out.number > amount_max) { return std::nullopt; }
        out.number = out.number * 10 + (c - '0');
        out.behind += has_point ? 1 : 0;
    }
    if (!has_digit) { return std::nullopt; }
    return out;
}

Wide power_of(Wide base, int exponent) {
    Wide out = 1;
    for (int i = 0; i < exponent && out < amount_max; ++i) { out *= base; }
    return out;
}

/// number × 10^power in units of a billionth, rounded up, as amounts are.
std::optional<Wide> in_nano(Wide number, int power) {
    const int shift = power + 9;
    if (shift < 0) {
        const Wide step = power_of(10, -shift);
        return number / step + (number % step != 0 ? 1 : 0);
    }
    const Wide factor = power_of(10, shift);
    if (number != 0 && factor > amount_max * 10 / number) { return amount_max; }
    return std::min(number * factor, amount_max);
}

std::string digits_of(Wide number) {
    std::string out;
    do {
        out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    } while ((number /= 10) != 0);
    return out;
}

std::string decimal_text(Wide in_nanos, bool has_exponent) {
    int power = -9;
    while (in_nanos != 0 && in_nanos % 1'000 == 0 && power < 18) {
        in_nanos /= 1'000;
        power += 3;
    }
    if (in_nanos == 0) { return "0"; }
    if (has_exponent) {
        return power == 0 ? digits_of(in_nanos) : fmt::format("{}e{}", digits_of(in_nanos), power);
    }
    const auto suffix = std::ranges::find(decimal, power, &Suffix::power);
    return digits_of(in_nanos) + std::string(suffix->text);
}

std::string binary_text(Wide number) {
    int power = 0;
    while (number != 0 && number % 1'024 == 0 && power < 6) {
        number /= 1'024;
        ++power;
    }
    return digits_of(number) +
           (power == 0 ? std::string()
                       : std::string(binary[static_cast<std::size_t>(power) - 1].text));
}

/// Fields that a type holds as plain values: nothing and no are the same to it.
bool is_plain_nothing(std::string_view name, const json::value& value) {
    constexpr std::array<std::string_view, 6> flags{"hostNetwork",   "hostPID", "hostIPC",
                                                    "unschedulable", "stdin",   "tty"};
    constexpr std::array<std::string_view, 3> numbers{"minReadySeconds", "hostPort",
                                                      "initialDelaySeconds"};
    if (value.is_bool()) {
        return !value.get_bool() && std::ranges::find(flags, name) != flags.end();
    }
    return value.is_int64() && value.get_int64() == 0 &&
           std::ranges::find(numbers, name) != numbers.end();
}

bool is_nothing(std::string_view name, const json::value& value, const Schema& schema) {
    if (value.is_null()) { return true; }
    if (const json::string* text = value.if_string()) {
        return text->empty() && name != "timeZone";  // which is told apart from none
    }
    if (const json::array* list = value.if_array()) {
        return list->empty() && name != "managedFields";  // empty, it resets them
    }
    if (const json::object* object = value.if_object()) {
        return object->empty() && schema.additional().has_value();
    }
    return is_plain_nothing(name, value);
}

void canonical_value(json::value& value, const Schema& schema);

void canonical_object(json::object& object, const Schema& schema) {
    const bool is_map = schema.additional().has_value();
    std::vector<std::string> dropped;
    for (auto& member : object) {
        const auto inner = is_map ? schema.additional() : schema.property(member.key());
        if (!inner) { continue; }
        canonical_value(member.value(), *inner);
        if (!is_map && is_nothing(member.key(), member.value(), *inner)) {
            dropped.emplace_back(member.key());
        } else if (is_map && member.value().is_null() && inner->type() == Schema::Type::string) {
            member.value() = "";
        }
    }
    if (dropped.empty()) { return; }
    const std::vector<std::string> required = schema.required();
    drop_fields(object, [&](std::string_view name) {
        return std::ranges::find(dropped, name) != dropped.end() &&
               (std::ranges::find(required, name) == required.end() || object.at(name).is_null());
    });
}

void canonical_value(json::value& value, const Schema& schema) {
    if (json::object* object = value.if_object()) {
        canonical_object(*object, schema);
    } else if (json::array* list = value.if_array()) {
        const auto items = schema.items();
        if (!items) { return; }
        for (json::value& item : *list) { canonical_value(item, *items); }
    } else if (schema.is_quantity() && (value.is_string() || is_number(value))) {
        const std::string text = value.is_string()   ? std::string(value.get_string())
                                 : value.is_double() ? fmt::format("{}", value.get_double())
                                                     : json::serialize(value);
        if (auto amount = canonical_quantity(text)) { value = *amount; }
    } else if (value.is_string() && schema.format() == "date-time") {
        const std::int64_t time = kube::read_time(value.get_string());
        if (time < 0) { return; }
        if (schema.name() == "MicroTime") {
            if (value.get_string().size() != sizeof("2026-01-01T00:00:00.000000Z") - 1) {
                value = kube::micro_time_text(time);
            }
        } else {
            value = kube::time_text(time);
        }
    }
}

}  // namespace

std::optional<std::string> canonical_quantity(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    std::string_view rest = text;
    if (is_negative || text.starts_with('+')) { rest.remove_prefix(1); }
    const auto end = std::ranges::find_if(rest, [](char c) { return !is_digit(c) && c != '.'; });
    const auto length = static_cast<std::size_t>(end - rest.begin());
    const auto digits = read_digits(rest.substr(0, length));
    if (!digits) { return std::nullopt; }
    const std::string_view suffix = rest.substr(length);
    const std::string sign = is_negative && digits->number != 0 ? "-" : "";
    if (const auto unit = std::ranges::find(binary, suffix, &Suffix::text); unit != binary.end()) {
        const Wide factor = power_of(1'024, unit->power);
        const Wide scaled =
            digits->number > amount_max / factor ? amount_max : digits->number * factor;
        const Wide below = power_of(10, digits->behind);
        const Wide whole = scaled / below;
        if (scaled % below != 0) {
            const auto exact = in_nano(scaled, -digits->behind);
            return exact ? std::optional(sign + decimal_text(*exact, false)) : std::nullopt;
        }
        return sign + (whole < 1'024 ? decimal_text(whole * nano, false) : binary_text(whole));
    }
    if (const auto unit = std::ranges::find(decimal, suffix, &Suffix::text);
        unit != decimal.end()) {
        const auto amount = in_nano(digits->number, unit->power - digits->behind);
        return amount ? std::optional(sign + decimal_text(*amount, false)) : std::nullopt;
    }
    if (!suffix.starts_with('e') && !suffix.starts_with('E')) { return std::nullopt; }
    std::string_view exponent = suffix.substr(1);
    const bool is_small = exponent.starts_with('-');
    if (is_small || exponent.starts_with('+')) { exponent.remove_prefix(1); }
    if (exponent.empty() || exponent.size() > 2 || !std::ranges::all_of(exponent, is_digit)) {
        return std::nullopt;
    }
    int power = 0;
    for (const char c : exponent) { power = power * 10 + (c - '0'); }
    const auto amount = in_nano(digits->number, (is_small ? -power : power) - digits->behind);
    return amount ? std::optional(sign + decimal_text(*amount, true)) : std::nullopt;
}

void canonicalise(json::value& object, const Schema& schema) { canonical_value(object, schema); }

}  // namespace muster::lab
