#include "base/log.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {

namespace {

constexpr std::size_t value_bytes_max = 2'000;

/// In quotes when it would not read back as one word.
std::string written(std::string_view text) {
    text = text.substr(0, value_bytes_max);
    const bool is_word = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '=' && c != '\\' &&
               c != '\x7f';
    });
    if (is_word) { return std::string(text); }
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace

std::string log_line(std::string_view time, std::string_view level, std::string_view message,
                     std::initializer_list<LogField> fields) {
    std::string out = fmt::format("time={} level={} msg={}", time, level, written(message));
    for (const LogField& field : fields) {
        out += fmt::format(" {}={}", field.key, written(field.value));
    }
    return out + '\n';
}

void Log::line(std::string_view level, std::string_view message,
               std::initializer_list<LogField> fields) const {
    if (write_) { write_(log_line(time_(), level, message, fields)); }
}

void Log::error(std::string_view message, std::initializer_list<LogField> fields) const {
    line("error", message, fields);
}
void Log::warn(std::string_view message, std::initializer_list<LogField> fields) const {
    line("warn", message, fields);
}
void Log::info(std::string_view message, std::initializer_list<LogField> fields) const {
    line("info", message, fields);
}

}  // namespace muster
