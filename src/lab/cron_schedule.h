// The schedule of a CronJob: five fields ("*/15 8-18 * * MON-FRI") or "@hourly" and its like, in
// UTC. "@every" and time zones are refused.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace muster::lab {

/// Bit n stands for the number n.
struct CronSchedule {
    std::uint64_t minutes = 0;
    std::uint64_t hours = 0;
    std::uint64_t days = 0;  // of the month, from 1
    std::uint64_t months = 0;
    std::uint64_t weekdays = 0;  // Sunday is 0
    bool is_any_day = true;      // the field is a star: then only weekdays count, and the reverse
    bool is_any_weekday = true;

    bool operator==(const CronSchedule&) const = default;
};

Result<CronSchedule> parse_cron(std::string_view text);
/// The first time after `milliseconds`; -1 when there is none in the next eight years.
std::int64_t next_time(const CronSchedule& schedule, std::int64_t milliseconds);

}  // namespace muster::lab
