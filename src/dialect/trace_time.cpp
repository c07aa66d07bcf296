#include "dialect/trace_time.h"

#include "base/text.h"
#include "dialect/job_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace muster::dialect {

namespace {

bool is_digits(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char byte) { return byte >= '0' && byte <= '9'; });
}

/// "", "Z", ".123Z"
bool is_fraction_and_zone(std::string_view text) {
    if (text.ends_with('Z')) { text.remove_suffix(1); }
    return text.empty() || (text.front() == '.' && is_digits(text.substr(1)));
}

}  // namespace

Result<std::int64_t> parse_civil_time(std::string_view text) {
    constexpr std::string_view form = "dddd-dd-dd dd:dd:dd";
    const auto wrong = [&] {
        return fail(
            Code::invalid,
            fmt::format("found '{:.40}'; expected a time such as 2017-10-01 00:00:00", text));
    };
    if (text.size() < form.size()) { return wrong(); }
    for (std::size_t i = 0; i < form.size(); ++i) {
        const char byte = text[i];
        const bool is_right = form[i] == 'd'   ? byte >= '0' && byte <= '9'
                              : form[i] == ' ' ? byte == ' ' || byte == 'T'
                                               : byte == form[i];
        if (!is_right) { return wrong(); }
    }
    if (!is_fraction_and_zone(text.substr(form.size()))) { return wrong(); }
    const auto number = [&](std::size_t at, std::size_t length) {
        int value = 0;
        for (const char byte : text.substr(at, length)) { value = value * 10 + (byte - '0'); }
        return value;
    };
    const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                           std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    const int hour = number(11, 2);
    const int minute = number(14, 2);
    const int second = number(17, 2);
    if (!date.ok() || hour > 23 || minute > 59 || second > 59) { return wrong(); }
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

Result<std::int64_t> parse_decimal_seconds(std::string_view text) {
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const bool is_good =
        is_digits(whole) && (point == std::string_view::npos || is_digits(text.substr(point + 1)));
    const auto seconds = is_good ? parse_int(whole) : fail(Code::invalid, "");
    if (!seconds || *seconds > trace_seconds_max) {
        return fail(Code::invalid, fmt::format("found '{:.40}'; expected seconds, 0 to {}", text,
                                               trace_seconds_max));
    }
    return *seconds;
}

}  // namespace muster::dialect
