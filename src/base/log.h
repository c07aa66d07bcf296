// Lines for operators: a constant message, and fields beside it as key=value. What is secret, and
// whole objects, do not belong there.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

struct LogField {
    LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
    LogField(std::string_view name, std::int64_t number)
        : key(name),
          value(std::to_string(number)) {}

    std::string key;
    std::string value;
};

class Log {
public:
    /// `write` has a whole line, `time` is the present as text.
    Log(std::function<void(const std::string&)> write, std::function<std::string()> time)
        : write_(std::move(write)),
          time_(std::move(time)) {}
    /// Says nothing.
    Log() = default;

    /// Someone must act; the loop will act; a state changed.
    void error(std::string_view message, std::initializer_list<LogField> fields = {}) const;
    void warn(std::string_view message, std::initializer_list<LogField> fields = {}) const;
    void info(std::string_view message, std::initializer_list<LogField> fields = {}) const;

private:
    void line(std::string_view level, std::string_view message,
              std::initializer_list<LogField> fields) const;

    std::function<void(const std::string&)> write_;
    std::function<std::string()> time_;
};

/// `time=… level=info msg="gang bound" gang=team/train tasks=6`
std::string log_line(std::string_view time, std::string_view level, std::string_view message,
                     std::initializer_list<LogField> fields);

}  // namespace muster
