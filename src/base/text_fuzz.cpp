// Any bytes: no crash, no overflow, and what was read is what is printed.
#include "base/text.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);

    if (const auto value = muster::parse_int(text)) {
        MUSTER_ASSERT(muster::parse_int(std::to_string(*value)) == *value);
    }

    const auto milli = muster::parse_quantity_milli(text);
    const auto whole = muster::parse_quantity(text);
    if (milli) {
        MUSTER_ASSERT(*milli >= 0);
        MUSTER_ASSERT(whole.has_value());
        MUSTER_ASSERT(*whole <= *milli);
        MUSTER_ASSERT(*whole >= *milli / 1000);
    }

    MUSTER_ASSERT(muster::trim(text).size() <= size);
    std::size_t commas = 0;
    for (const char byte : text) { commas += byte == ','; }
    MUSTER_ASSERT(muster::split(text, ',').size() == commas + 1);
    for (const std::string_view word : muster::words(text)) { MUSTER_ASSERT(!word.empty()); }
    return 0;
}
