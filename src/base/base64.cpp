#include "base/base64.h"

#include <cstdint>

namespace muster {

namespace {

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::string_view three = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            bits = (bits << 8U) | (k < three.size() ? static_cast<unsigned char>(three[k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out += k <= three.size() ? letters[(bits >> (18 - 6 * k)) & 63U] : '=';
        }
    }
    return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
    std::string out;
    std::uint32_t bits = 0;
    std::size_t count = 0;
    std::size_t padding = 0;
    for (const char c : text) {
        if (c == '\n' || c == '\r') { continue; }
        const std::size_t letter = letters.find(c);
        if (c == '=') {
            ++padding;
        } else if (padding > 0 || letter == std::string_view::npos) {
            return std::nullopt;
        }
        bits = (bits << 6U) | (c == '=' ? 0U : static_cast<std::uint32_t>(letter));
        if (++count % 4 != 0) { continue; }
        if (padding > 2) { return std::nullopt; }
        for (std::size_t k = 0; k + padding < 3; ++k) {
            out += static_cast<char>((bits >> (16 - 8 * k)) & 255U);
        }
    }
    if (count % 4 != 0) { return std::nullopt; }
    return out;
}

}  // namespace muster
