#include "codec/words.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace muster {

namespace {

int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') { return digit - '0'; }
    if (digit >= 'a' && digit <= 'f') { return digit - 'a' + 10; }
    return -1;
}

/// The byte that the escape at `at` (behind the backslash) stands for; moves `at` behind it.
Result<char> read_escape(std::string_view line, std::size_t& at) {
    const char kind = at < line.size() ? line[at++] : '\0';
    switch (kind) {
        case '"': return '"';
        case '\\': return '\\';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'x': {
            const int high = at < line.size() ? hex_value(line[at]) : -1;
            const int low = at + 1 < line.size() ? hex_value(line[at + 1]) : -1;
            if (high < 0 || low < 0) { break; }
            at += 2;
            return static_cast<char>(high * 16 + low);
        }
        default: break;
    }
    return fail(Code::invalid,
                "unknown escape in a quoted text; expected \\\" \\\\ \\n \\r \\t or "
                "\\x and two of 0-9a-f");
}

bool is_bare(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '-' ||
           byte == '/' || byte == '+';
}

}  // namespace

std::size_t Word::find(char byte) const {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == byte && !quoted[i]) { return i; }
    }
    return std::string::npos;
}

Word Word::part(std::size_t begin, std::size_t end) const {
    end = std::min(end, text.size());
    Word out;
    out.text = text.substr(begin, end - begin);
    out.quoted.assign(quoted.begin() + static_cast<std::ptrdiff_t>(begin),
                      quoted.begin() + static_cast<std::ptrdiff_t>(end));
    out.is_quoted = begin == 0 ? is_quoted : !out.quoted.empty() && out.quoted.front();
    return out;
}

std::vector<Word> Word::split(char separator) const {
    std::vector<Word> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == separator && !quoted[i])) {
            parts.push_back(part(begin, i));
            begin = i + 1;
        }
    }
    return parts;
}

bool Word::is(std::string_view keyword) const { return !is_quoted && text == keyword; }

Result<std::vector<Word>> read_words(std::string_view line) {
    std::vector<Word> out;
    bool is_inside = false;  // in a word
    bool is_quote = false;   // in a quoted part of it
    for (std::size_t at = 0; at < line.size();) {
        const char byte = line[at];
        if (is_quote) {
            ++at;
            if (byte == '"') {
                is_quote = false;
                continue;
            }
            char value = byte;
            if (byte == '\\') {
                MUSTER_TRY(escaped, read_escape(line, at));
                value = escaped;
            }
            out.back().text.push_back(value);
            out.back().quoted.push_back(true);
            continue;
        }
        ++at;
        if (byte == ' ' || byte == '\t') {
            is_inside = false;
            continue;
        }
        if (!is_inside) {
            if (byte == '#') { break; }
            out.emplace_back();
            out.back().is_quoted = byte == '"';
            is_inside = true;
        }
        if (byte == '"') {
            is_quote = true;
            continue;
        }
        if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) {
            return fail(Code::invalid,
                        fmt::format("control byte 0x{:02x} outside of quotes", byte));
        }
        out.back().text.push_back(byte);
        out.back().quoted.push_back(false);
    }
    if (is_quote) { return fail(Code::invalid, "a quoted text does not end; expected '\"'"); }
    return out;
}

std::string quote(std::string_view text) {
    bool needs_quotes = text.empty();
    for (const char byte : text) { needs_quotes |= !is_bare(byte); }
    if (!needs_quotes) { return std::string(text); }
    std::string out = "\"";
    for (const char byte : text) {
        const auto value = static_cast<unsigned char>(byte);
        if (byte == '"' || byte == '\\') {
            out += '\\';
            out += byte;
        } else if (byte == '\n') {
            out += "\\n";
        } else if (value < 0x20 || value == 0x7f) {
            out += fmt::format("\\x{:02x}", value);
        } else {
            out += byte;
        }
    }
    return out + '"';
}

Result<std::vector<std::string>> expand_names(const Word& word, std::size_t count_max) {
    const std::size_t open = word.find('[');
    if (open == std::string::npos) { return std::vector<std::string>{word.text}; }
    const std::size_t close = word.find(']');
    const auto bad = [&](std::string_view why) {
        return fail(
            Code::invalid,
            fmt::format("'{}': {}; expected a range such as n[1-4] or n[1-4,7]", word.text, why));
    };
    if (close == std::string::npos || close < open) { return bad("']' is missing"); }
    const std::string prefix = word.text.substr(0, open);
    const std::string suffix = word.text.substr(close + 1);
    if (word.part(close + 1).find('[') != std::string::npos) { return bad("two ranges"); }

    std::vector<std::string> names;
    constexpr std::int64_t number_max = 1'000'000'000;
    for (const Word& item : word.part(open + 1, close).split(',')) {
        const std::size_t dash = item.find('-');
        const std::string first = item.text.substr(0, dash);
        const std::string last = dash == std::string::npos ? first : item.text.substr(dash + 1);
        const auto low = parse_int("range", first, 0, number_max);
        const auto high = parse_int("range", last, 0, number_max);
        if (first.size() > 10 || last.size() > 10) { return bad("too many digits"); }
        if (!low) { return bad(low.error().message); }
        if (!high) { return bad(high.error().message); }
        if (*low > *high) { return bad("it falls"); }
        if (static_cast<std::size_t>(*high - *low) >= count_max - names.size()) {
            return fail(Code::limit, fmt::format("'{}' is over {} names", word.text, count_max));
        }
        for (std::int64_t number = *low; number <= *high; ++number) {
            names.push_back(fmt::format("{}{:0{}}{}", prefix, number, first.size(), suffix));
        }
    }
    return names;
}

Result<std::vector<std::string>> expand_list(const Word& word, std::size_t count_max) {
    std::vector<std::string> names;
    std::size_t begin = 0;
    bool is_range = false;
    for (std::size_t i = 0; i <= word.text.size(); ++i) {
        const bool is_end = i == word.text.size();
        if (!is_end && word.quoted[i]) { continue; }
        if (!is_end && word.text[i] == '[') { is_range = true; }
        if (!is_end && word.text[i] == ']') { is_range = false; }
        if (!is_end && (is_range || word.text[i] != ',')) { continue; }
        const Word item = word.part(begin, i);
        if (item.text.empty()) {
            return fail(Code::invalid, fmt::format("'{}' has an empty name", word.text));
        }
        if (names.size() >= count_max) {
            return fail(Code::limit, fmt::format("'{}' is over {} names", word.text, count_max));
        }
        MUSTER_TRY(more, expand_names(item, count_max - names.size()));
        names.insert(names.end(), more.begin(), more.end());
        begin = i + 1;
    }
    return names;
}

}  // namespace muster
