// Bytes written as text with 64 letters (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

std::string encode_base64(std::string_view bytes);
/// Line breaks are passed over. None when it is anything else.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace muster
