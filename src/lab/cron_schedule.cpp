#include "lab/cron_schedule.h"

#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <string>

namespace muster::lab {

namespace {

constexpr std::array<std::string_view, 12> month_names{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> day_names{"SUN", "MON", "TUE", "WED",
                                                    "THU", "FRI", "SAT"};
constexpr std::int64_t minute_length = 60'000;
constexpr std::int64_t day_minutes = 24 * 60;
constexpr int days_ahead_max = 8 * 366;  // a leap year may be eight years away

struct FieldRange {
    std::string_view what;
    std::int64_t low = 0;
    std::int64_t high = 0;
};

Result<std::int64_t> read_number(const FieldRange& range, std::string_view text) {
    std::string upper;
    for (const char c : text) {
        upper += static_cast<char>(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
    }
    if (range.what == "month") {
        for (std::size_t i = 0; i < month_names.size(); ++i) {
            if (upper == month_names[i]) { return static_cast<std::int64_t>(i) + 1; }
        }
    }
    if (range.what == "day of week") {
        for (std::size_t i = 0; i < day_names.size(); ++i) {
            if (upper == day_names[i]) { return static_cast<std::int64_t>(i); }
        }
    }
    constexpr std::int64_t any = 1'000'000;
    const auto number = parse_int(range.what, text, 0, any);
    if (!number) {
        return fail(Code::invalid,
                    fmt::format("failed to parse int from {0}: strconv.Atoi: parsing \"{0}\": "
                                "invalid syntax",
                                text));
    }
    return *number;
}

/// "*", "*/5", "3", "3/5", "1-4", "1-9/2"
Result<std::uint64_t> read_part(const FieldRange& range, std::string_view part) {
    const std::size_t slash = part.find('/');
    const std::string_view span = part.substr(0, slash);
    std::int64_t step = 1;
    if (slash != std::string_view::npos) {
        MUSTER_TRY(given, parse_int("step", part.substr(slash + 1), 1, range.high));
        step = given;
    }
    std::int64_t first = range.low;
    std::int64_t last = range.high;
    if (span != "*" && span != "?") {
        const std::size_t dash = span.find('-');
        MUSTER_TRY(low, read_number(range, span.substr(0, dash)));
        first = low;
        if (dash != std::string_view::npos) {
            MUSTER_TRY(high, read_number(range, span.substr(dash + 1)));
            last = high;
        } else if (slash == std::string_view::npos) {
            last = first;
        }
    }
    if (first < range.low) {
        return fail(Code::invalid, fmt::format("beginning of range ({}) below minimum ({}): {}",
                                               first, range.low, part));
    }
    if (last > range.high) {
        return fail(Code::invalid, fmt::format("end of range ({}) above maximum ({}): {}", last,
                                               range.high, part));
    }
    if (first > last) {
        return fail(Code::invalid, fmt::format("beginning of range ({}) beyond end of range ({}): "
                                               "{}",
                                               first, last, part));
    }
    std::uint64_t bits = 0;
    for (std::int64_t i = first; i <= last; i += step) { bits |= std::uint64_t{1} << i; }
    return bits;
}

Result<std::uint64_t> read_field(const FieldRange& range, std::string_view text) {
    std::uint64_t bits = 0;
    for (const std::string_view part : split(text, ',')) {
        MUSTER_TRY(more, read_part(range, part));
        bits |= more;
    }
    return bits;
}

std::string_view long_form(std::string_view text) {
    if (text == "@yearly" || text == "@annually") { return "0 0 1 1 *"; }
    if (text == "@monthly") { return "0 0 1 * *"; }
    if (text == "@weekly") { return "0 0 * * 0"; }
    if (text == "@daily" || text == "@midnight") { return "0 0 * * *"; }
    if (text == "@hourly") { return "0 * * * *"; }
    return text;
}

bool has_bit(std::uint64_t bits, std::int64_t number) { return ((bits >> number) & 1) != 0; }

bool is_day(const CronSchedule& schedule, std::chrono::sys_days day) {
    const std::chrono::year_month_day date(day);
    if (!has_bit(schedule.months, static_cast<unsigned>(date.month()))) { return false; }
    const bool day_fits = has_bit(schedule.days, static_cast<unsigned>(date.day()));
    const bool weekday_fits = has_bit(schedule.weekdays, std::chrono::weekday(day).c_encoding());
    const bool is_both = !schedule.is_any_day && !schedule.is_any_weekday;
    return is_both ? day_fits || weekday_fits : day_fits && weekday_fits;
}

}  // namespace

Result<CronSchedule> parse_cron(std::string_view text) {
    const std::vector<std::string_view> fields = words(long_form(trim(text)));
    if (fields.size() != 5) {
        return fail(Code::invalid, fmt::format("expected exactly 5 fields, found {}: [{}]",
                                               fields.size(), fmt::join(fields, " ")));
    }
    CronSchedule out;
    MUSTER_TRY(minutes, read_field({.what = "minute", .low = 0, .high = 59}, fields[0]));
    MUSTER_TRY(hours, read_field({.what = "hour", .low = 0, .high = 23}, fields[1]));
    MUSTER_TRY(days, read_field({.what = "day of month", .low = 1, .high = 31}, fields[2]));
    MUSTER_TRY(months, read_field({.what = "month", .low = 1, .high = 12}, fields[3]));
    MUSTER_TRY(weekdays, read_field({.what = "day of week", .low = 0, .high = 6}, fields[4]));
    out.minutes = minutes;
    out.hours = hours;
    out.days = days;
    out.months = months;
    out.weekdays = weekdays;
    out.is_any_day = fields[2][0] == '*' || fields[2][0] == '?';
    out.is_any_weekday = fields[4][0] == '*' || fields[4][0] == '?';
    return out;
}

std::int64_t next_time(const CronSchedule& schedule, std::int64_t milliseconds) {
    if (milliseconds < 0) { milliseconds = 0; }
    const std::int64_t start = milliseconds / minute_length + 1;
    std::int64_t minute = start % day_minutes;
    std::int64_t day = start / day_minutes;
    for (int i = 0; i < days_ahead_max; ++i, ++day, minute = 0) {
        if (!is_day(schedule, std::chrono::sys_days(std::chrono::days(day)))) { continue; }
        for (; minute < day_minutes; ++minute) {
            if (has_bit(schedule.hours, minute / 60) && has_bit(schedule.minutes, minute % 60)) {
                return (day * day_minutes + minute) * minute_length;
            }
        }
    }
    return -1;
}

}  // namespace muster::lab
