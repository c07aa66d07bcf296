// One line of scenario text cut into words. Quotes protect blanks and separators: in
// `label."a=b"=c` the first bare `=` is the second one, and `"n[1-2]"` is no range.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Text whose every byte is known to be bare or quoted.
struct Word {
    std::string text;
    std::vector<bool> quoted;  // one per byte of `text`
    bool is_quoted = false;    // began with a quote; tells "" from nothing

    /// Where the first bare `byte` stands, or npos.
    [[nodiscard]] std::size_t find(char byte) const;
    [[nodiscard]] Word part(std::size_t begin, std::size_t end = std::string::npos) const;
    /// Cut at every bare `separator`; empty parts are kept.
    [[nodiscard]] std::vector<Word> split(char separator) const;
    /// Bare text only: a keyword never is a quoted word.
    [[nodiscard]] bool is(std::string_view keyword) const;
};

/// The words of a line up to a bare `#` that begins one.
Result<std::vector<Word>> read_words(std::string_view line);

/// The text as one word, or as a part of one: bare when nothing in it needs protection.
std::string quote(std::string_view text);

/// `n[1-3,7]` → n1 n2 n3 n7; `n[08-10]` keeps its zeros; without brackets the word itself.
/// Over `count_max` names in all is an error.
Result<std::vector<std::string>> expand_names(const Word& word, std::size_t count_max);

/// `a,b[1-2]` → a b1 b2: names and ranges between bare commas.
Result<std::vector<std::string>> expand_list(const Word& word, std::size_t count_max);

}  // namespace muster
