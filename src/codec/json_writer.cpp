#include "codec/json_writer.h"

#include <fmt/core.h>

#include <cstddef>

namespace muster {

namespace {

/// Length of the UTF-8 sequence at the front, 0 when it is none.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = byte(0) < 0x80             ? 1
                               : (byte(0) & 0xe0) == 0xc0 ? 2
                               : (byte(0) & 0xf0) == 0xe0 ? 3
                               : (byte(0) & 0xf8) == 0xf0 ? 4
                                                          : 0;
    if (length == 0 || length > text.size()) { return 0; }
    std::uint32_t code = length == 1 ? byte(0) : byte(0) & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) { return 0; }
        code = code << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least[length] || code > 0x10ffff || is_surrogate ? 0 : length;
}

}  // namespace

std::string json_text(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        const char byte = text.front();
        if (length == 0) {
            out += "\xef\xbf\xbd";
        } else if (byte == '"' || byte == '\\') {
            out += '\\';
            out += byte;
        } else if (static_cast<unsigned char>(byte) < 0x20) {
            out += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : fmt::format("\\u{:04x}", byte);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out + '"';
}

void JsonWriter::separate() {
    if (is_behind_key_) {
        is_behind_key_ = false;
        return;
    }
    if (has_value_.empty()) { return; }
    if (has_value_.back()) { out_ += ','; }
    has_value_.back() = true;
}

JsonWriter& JsonWriter::begin_object() {
    separate();
    out_ += '{';
    has_value_.push_back(false);
    return *this;
}

JsonWriter& JsonWriter::end_object() {
    out_ += '}';
    has_value_.pop_back();
    return *this;
}

JsonWriter& JsonWriter::begin_list() {
    separate();
    out_ += '[';
    has_value_.push_back(false);
    return *this;
}

JsonWriter& JsonWriter::end_list() {
    out_ += ']';
    has_value_.pop_back();
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    separate();
    out_ += json_text(name) + ':';
    is_behind_key_ = true;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(json_text(text)); }

JsonWriter& JsonWriter::value(std::int64_t number) { return raw(std::to_string(number)); }

JsonWriter& JsonWriter::value(bool is_true) { return raw(is_true ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
}

}  // namespace muster
