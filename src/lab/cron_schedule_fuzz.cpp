#include "lab/cron_schedule.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto schedule = muster::lab::parse_cron(text);
    if (!schedule) { return 0; }
    constexpr std::int64_t now = 1'795'946'400'000;
    const std::int64_t next = muster::lab::next_time(*schedule, now);
    MUSTER_ASSERT(next == -1 || next > now);
    MUSTER_ASSERT(next == -1 || next % 60'000 == 0);
    return 0;
}
