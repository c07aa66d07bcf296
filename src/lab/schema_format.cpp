#include "lab/schema_format.h"

#include <algorithm>
#include <regex>

namespace muster::lab {

struct Pattern::Compiled {
    std::regex regex;
};

namespace {

bool is_in_bounds(std::string_view text) {
    std::size_t open = 0;
    std::size_t deepest = 0;
    for (const char c : text) {
        if (c == '(') { deepest = std::max(deepest, ++open); }
        if (c == ')' && open > 0) { --open; }
    }
    return text.size() <= Pattern::pattern_bytes_max && deepest <= Pattern::groups_max;
}

// libstdc++'s usual way backtracks: exponential time, and a stack frame per byte.
#ifdef __GLIBCXX__
constexpr auto syntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto syntax = std::regex::ECMAScript;
#endif

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// '0' in `shape` is any digit, others are themselves.
bool has_shape(std::string_view text, std::string_view shape) {
    return std::ranges::equal(text, shape, [](char c, char expected) {
        return expected == '0' ? is_digit(c) : c == expected;
    });
}

int number_at(std::string_view text, std::size_t at) {
    return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

bool is_date(std::string_view text) {
    if (!has_shape(text, "0000-00-00")) { return false; }
    const int year = number_at(text, 0) * 100 + number_at(text, 2);
    const int month = number_at(text, 5);
    const int day = number_at(text, 8);
    if (month < 1 || month > 12) { return false; }
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const bool is_short = month == 4 || month == 6 || month == 9 || month == 11;
    const int last = month == 2 ? (is_leap ? 29 : 28) : is_short ? 30 : 31;
    return day >= 1 && day <= last;
}

/// RFC 3339.
bool is_date_time(std::string_view text) {
    constexpr std::size_t seconds_end = 19;
    if (text.size() <= seconds_end || !is_date(text.substr(0, 10)) || text[10] != 'T') {
        return false;
    }
    if (!has_shape(text.substr(11, 8), "00:00:00") || number_at(text, 11) > 23 ||
        number_at(text, 14) > 59 || number_at(text, 17) > 60) {
        return false;
    }
    std::string_view rest = text.substr(seconds_end);
    if (rest.front() == '.') {
        rest.remove_prefix(1);
        const auto end = std::ranges::find_if_not(rest, is_digit);
        if (end == rest.begin()) { return false; }
        rest.remove_prefix(static_cast<std::size_t>(end - rest.begin()));
    }
    return rest == "Z" || has_shape(rest, "+00:00") || has_shape(rest, "-00:00");
}

bool is_base64(std::string_view text) {
    std::size_t bytes = 0;
    std::size_t padding = 0;
    for (const char c : text) {
        if (c == '\n' || c == '\r') { continue; }
        ++bytes;
        if (c == '=') {
            ++padding;
            continue;
        }
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (padding > 0 || (!is_letter && !is_digit(c) && c != '+' && c != '/')) { return false; }
    }
    return bytes % 4 == 0 && padding <= 2;
}

}  // namespace

Pattern::Pattern(std::string_view text) {
    if (!is_in_bounds(text)) { return; }
    try {
        compiled_ = std::make_unique<Compiled>(
            Compiled{.regex = std::regex(text.begin(), text.end(), syntax)});
    } catch (const std::regex_error&) { compiled_ = nullptr; }
}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::matches(std::string_view text) const {
    if (compiled_ == nullptr || text.size() > text_bytes_max) { return true; }
    try {
        return std::regex_search(text.begin(), text.end(), compiled_->regex);
    } catch (const std::regex_error&) { return true; }
}

bool has_format(std::string_view text, std::string_view format) {
    if (format == "byte") { return is_base64(text); }
    if (format == "date-time") { return is_date_time(text); }
    return format != "date" || is_date(text);
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace muster::lab
