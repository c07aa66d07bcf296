// Canonical bytes: one encoding for each value, so that equal values are equal bytes. Numbers are
// LEB128 (signed ones zigzag), texts have their length in front. docs/decisions/0006.
#pragma once

#include "base/result.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

class ByteWriter {
public:
    void byte(std::uint8_t value) {
        if (size_ == out_.size()) { grow(size_ + 1); }
        out_[size_++] = static_cast<char>(value);
    }
    void number(std::uint64_t value) {
        constexpr std::size_t longest = 10;
        if (out_.size() - size_ < longest) { grow(size_ + longest); }
        char* at = out_.data() + size_;
        for (; value >= 0x80; value >>= 7) { *at++ = static_cast<char>(value | 0x80); }
        *at++ = static_cast<char>(value);
        size_ = static_cast<std::size_t>(at - out_.data());
    }
    void signed_number(std::int64_t value) {
        number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
    }
    void text(std::string_view value) {
        number(value.size());
        if (value.size() > out_.size() - size_) { grow(size_ + value.size()); }
        std::copy(value.begin(), value.end(), out_.begin() + static_cast<std::ptrdiff_t>(size_));
        size_ += value.size();
    }

    /// As long as what was written, and no longer: it may be kept for good.
    std::string take() { return {out_.data(), std::exchange(size_, 0)}; }

private:
    void grow(std::size_t least) { out_.resize(std::max<std::size_t>(2 * least, 1'024)); }

    std::string out_;       // room for what is written
    std::size_t size_ = 0;  // that is written
};

/// Reads what a ByteWriter wrote and nothing else. The first fault sticks: from then on every read
/// gives zero or nothing, and the end is reached.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    std::uint8_t byte() {
        if (at_ == bytes_.size()) {
            refuse("it ends too early");
            return 0;
        }
        return static_cast<std::uint8_t>(bytes_[at_++]);
    }
    /// At most `high`, and in its shortest form.
    std::uint64_t number(std::uint64_t high = UINT64_MAX) {
        if (at_ < bytes_.size() && static_cast<std::uint8_t>(bytes_[at_]) < 0x80) {
            return within(static_cast<std::uint8_t>(bytes_[at_++]), high);
        }
        return long_number(high);
    }
    std::int64_t signed_number() {
        const std::uint64_t value = number();
        return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
    }
    /// A length or a count: each item takes at least one byte of what is left.
    std::size_t length() { return static_cast<std::size_t>(number(bytes_.size() - at_)); }
    std::string_view text() {
        const std::size_t size = length();
        if (size > bytes_.size() - at_) {
            refuse("it ends too early");
            return {};
        }
        const std::string_view value = bytes_.substr(at_, size);
        at_ += size;
        return value;
    }

    void refuse(std::string_view what);
    [[nodiscard]] bool has_failed() const { return !fault_.empty(); }
    /// An error unless all was read and made sense.
    [[nodiscard]] Result<> end();

private:
    std::uint64_t long_number(std::uint64_t high);
    std::uint64_t within(std::uint64_t value, std::uint64_t high) {
        if (value <= high) { return value; }
        refuse("a number is out of range");
        return 0;
    }

    std::string_view bytes_;  // a member, for a reader lives within one call
    std::size_t at_ = 0;
    std::string fault_;
};

}  // namespace muster
