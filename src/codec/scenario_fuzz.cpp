// Any bytes: no crash; what was read is what is written, and writing it again changes nothing.
#include "codec/scenario.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto scenario = muster::read_scenario("fuzz", text);
    if (!scenario) {
        MUSTER_ASSERT(scenario.error().message.starts_with("fuzz:"));
        return 0;
    }
    constexpr std::size_t commands_max = 2'000;  // ranges make much of little
    if (scenario->commands.size() > commands_max) { return 0; }

    const std::string written = muster::write_scenario(*scenario);
    const auto again = muster::read_scenario("again", written);
    MUSTER_ASSERT(again.has_value());
    MUSTER_ASSERT(again->policy == scenario->policy);
    MUSTER_ASSERT(again->commands.size() == scenario->commands.size());
    for (std::size_t i = 0; i < scenario->commands.size(); ++i) {
        MUSTER_ASSERT(again->commands[i].action == scenario->commands[i].action);
    }
    return 0;
}
