// What a string must look like: patterns and formats of schemas. Inside of lab/ only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace muster::lab {

/// An ECMAScript expression, matched in time that is polynomial in the text. Longer patterns and
/// texts than the bounds, and what only Kubernetes' own engine reads ("(?i)", "\z"), hold nobody
/// back: they match everything.
class Pattern {
public:
    static constexpr std::size_t pattern_bytes_max = 4'096;
    static constexpr std::size_t groups_max = 64;  // one within the other
    static constexpr std::size_t text_bytes_max = 8'192;

    explicit Pattern(std::string_view text);
    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;
    ~Pattern();

    /// Anywhere in the text, unless the pattern is anchored.
    [[nodiscard]] bool matches(std::string_view text) const;

private:
    struct Compiled;
    std::unique_ptr<Compiled> compiled_;  // null: matches everything
};

/// Of the formats that are known here, "byte" (base64), "date-time" and "date"; others say yes.
[[nodiscard]] bool has_format(std::string_view text, std::string_view format);
/// Characters, not bytes.
[[nodiscard]] std::size_t count_characters(std::string_view text);

}  // namespace muster::lab
