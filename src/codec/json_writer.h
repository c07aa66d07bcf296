// JSON in one canonical form: keys in the order of writing, no blanks, integers and text only.
// The same calls give the same bytes, which is what plans are compared by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

class JsonWriter {
public:
    JsonWriter& begin_object();
    JsonWriter& end_object();
    JsonWriter& begin_list();
    JsonWriter& end_list();
    JsonWriter& key(std::string_view name);
    JsonWriter& value(std::string_view text);
    JsonWriter& value(std::int64_t number);
    JsonWriter& value(bool is_true);
    JsonWriter& null();
    /// A value that is JSON already.
    JsonWriter& raw(std::string_view json);

    JsonWriter& member(std::string_view name, std::string_view text) {
        return key(name).value(text);
    }
    JsonWriter& member(std::string_view name, const char* text) {
        return key(name).value(std::string_view(text));
    }
    JsonWriter& member(std::string_view name, std::int64_t number) {
        return key(name).value(number);
    }
    JsonWriter& member(std::string_view name, bool is_true) { return key(name).value(is_true); }

    [[nodiscard]] const std::string& text() const { return out_; }
    std::string take() { return std::move(out_); }

private:
    void separate();

    std::string out_;
    std::vector<bool> has_value_;  // of every open object or list
    bool is_behind_key_ = false;
};

/// The text in quotes, escaped; bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

}  // namespace muster
