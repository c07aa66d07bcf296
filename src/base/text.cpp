#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace muster {

namespace {

constexpr std::int64_t int64_max = INT64_MAX;

std::string quote(std::string_view text) {
    constexpr std::size_t shown_max = 60;
    if (text.size() <= shown_max) { return fmt::format("'{}'", text); }
    return fmt::format("'{}…' ({} bytes)", text.substr(0, shown_max), text.size());
}

/// A decimal number times 10^-scale, plus its suffix factor; all exact in 128 bits.
struct Quantity {
    __int128 numerator = 0;  // value = numerator / denominator
    __int128 denominator = 1;
};

struct Suffix {
    std::string_view text;
    __int128 multiply;
    __int128 divide;
};

constexpr __int128 power(__int128 base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

constexpr Suffix suffixes[] = {
    {"", 1, 1},
    {"n", 1, power(1000, 3)},
    {"u", 1, power(1000, 2)},
    {"m", 1, 1000},
    {"k", 1000, 1},
    {"M", power(1000, 2), 1},
    {"G", power(1000, 3), 1},
    {"T", power(1000, 4), 1},
    {"P", power(1000, 5), 1},
    {"E", power(1000, 6), 1},
    {"Ki", 1024, 1},
    {"Mi", power(1024, 2), 1},
    {"Gi", power(1024, 3), 1},
    {"Ti", power(1024, 4), 1},
    {"Pi", power(1024, 5), 1},
    {"Ei", power(1024, 6), 1},
};

Result<Quantity> parse(std::string_view text) {
    const auto bad = [&] {
        return fail(Code::invalid,
                    fmt::format("{} is not a quantity; expected a number with an optional suffix "
                                "such as m, k, M, G, Ki, Mi, Gi",
                                quote(text)));
    };
    constexpr int digits_max = 18;
    Quantity out;
    std::size_t at = 0;
    int digits = 0;
    bool is_fraction = false;
    bool any = false;
    if (at < text.size() && text[at] == '+') { ++at; }
    for (; at < text.size(); ++at) {
        if (text[at] == '.') {
            if (is_fraction) { return bad(); }
            is_fraction = true;
            continue;
        }
        if (text[at] < '0' || text[at] > '9') { break; }
        any = true;
        if (out.numerator == 0 && text[at] == '0' && !is_fraction) { continue; }
        if (++digits > digits_max) { return bad(); }
        out.numerator = out.numerator * 10 + (text[at] - '0');
        if (is_fraction) { out.denominator *= 10; }
    }
    if (!any) { return bad(); }
    std::string_view rest = text.substr(at);
    // "1Ei" is a suffix, "1E3" an exponent.
    if (rest.size() > 1 && (rest[0] == 'e' || rest[0] == 'E') && rest[1] != 'i') {
        const bool has_plus = rest[1] == '+';
        if (has_plus && rest.substr(2).starts_with('-')) { return bad(); }
        const auto exponent = parse_int(rest.substr(has_plus ? 2 : 1));
        constexpr int exponent_max = 18;
        if (!exponent || *exponent > exponent_max || *exponent < -exponent_max) { return bad(); }
        for (std::int64_t i = 0; i < *exponent; ++i) { out.numerator *= 10; }
        for (std::int64_t i = 0; i > *exponent; --i) { out.denominator *= 10; }
        return out;
    }
    for (const Suffix& suffix : suffixes) {
        if (rest != suffix.text) { continue; }
        if (out.numerator > (static_cast<__int128>(1) << 126) / suffix.multiply) { return bad(); }
        out.numerator *= suffix.multiply;
        out.denominator *= suffix.divide;
        return out;
    }
    return bad();
}

Result<std::int64_t> scaled(std::string_view text, std::int64_t scale) {
    MUSTER_TRY(quantity, parse(text));
    if (quantity.numerator > (static_cast<__int128>(1) << 126) / scale) {
        return fail(Code::limit, fmt::format("{} is too large", quote(text)));
    }
    const __int128 value =
        (quantity.numerator * scale + quantity.denominator - 1) / quantity.denominator;
    if (value > int64_max) {
        return fail(Code::limit, fmt::format("{} is too large", quote(text)));
    }
    return static_cast<std::int64_t>(value);
}

}  // namespace

Result<std::int64_t> parse_int(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
        return fail(Code::limit,
                    fmt::format("{} is out of range for a 64-bit number", quote(text)));
    }
    if (error != std::errc{} || end != text.data() + text.size()) {
        return fail(Code::invalid, fmt::format("{} is not a whole number", quote(text)));
    }
    return value;
}

Result<std::int64_t> parse_int(std::string_view what, std::string_view text, std::int64_t low,
                               std::int64_t high) {
    auto value = parse_int(text);
    if (!value) { return tl::unexpected(std::move(value.error()).wrap(what)); }
    if (*value < low || *value > high) {
        return fail(Code::invalid, fmt::format("{}: {} is out of range; expected {} to {}", what,
                                               *value, low, high));
    }
    return value;
}

Result<std::int64_t> parse_quantity_milli(std::string_view text) { return scaled(text, 1000); }

Result<std::int64_t> parse_quantity(std::string_view text) { return scaled(text, 1); }

std::string_view trim(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> fields;
    for (std::size_t start = 0;;) {
        const std::size_t end = text.find(separator, start);
        fields.push_back(text.substr(start, end - start));
        if (end == std::string_view::npos) { return fields; }
        start = end + 1;
    }
}

std::vector<std::string_view> words(std::string_view text) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    std::vector<std::string_view> found;
    found.reserve(std::min<std::size_t>(text.size() / 2 + 1, 32));
    for (auto at = text.begin();;) {
        at = std::find_if_not(at, text.end(), is_blank);
        if (at == text.end()) { return found; }
        const auto end = std::find_if(at, text.end(), is_blank);
        found.push_back(text.substr(static_cast<std::size_t>(at - text.begin()),
                                    static_cast<std::size_t>(end - at)));
        at = end;
    }
}

}  // namespace muster
