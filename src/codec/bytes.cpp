#include "codec/bytes.h"

#include <fmt/core.h>

namespace muster {

std::uint64_t ByteReader::long_number(std::uint64_t high) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint64_t part = byte();
        if (has_failed()) { return 0; }
        if (shift == 63 && part > 1) { break; }
        value |= (part & 0x7f) << shift;
        if (part >= 0x80) { continue; }
        if (part == 0 && shift > 0) {
            refuse("a number is longer than it needs to be");
            return 0;
        }
        return within(value, high);
    }
    refuse("a number is over 64 bits");
    return 0;
}

void ByteReader::refuse(std::string_view what) {
    if (!has_failed()) { fault_ = fmt::format("byte {}: {}", at_, what); }
    at_ = bytes_.size();
}

Result<> ByteReader::end() {
    if (!has_failed() && at_ < bytes_.size()) {
        refuse(fmt::format("{} bytes behind the end", bytes_.size() - at_));
    }
    if (has_failed()) { return fail(Code::corrupt, fault_); }
    return {};
}

}  // namespace muster
