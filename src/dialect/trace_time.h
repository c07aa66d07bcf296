// Times as traces write them, to whole seconds.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace muster::dialect {

/// "2017-10-09 07:01:55", or RFC 3339 ("2017-10-09T07:01:55Z", with or without a fraction), UTC;
/// in seconds since 1970. Other zones are refused.
Result<std::int64_t> parse_civil_time(std::string_view text);

/// "66.0", "66": a decimal number of at least 0, its fraction cut.
Result<std::int64_t> parse_decimal_seconds(std::string_view text);

}  // namespace muster::dialect
