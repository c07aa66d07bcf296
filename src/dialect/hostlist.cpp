#include "dialect/hostlist.h"

#include "base/text.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <cstdint>
#include <utility>

namespace muster::dialect {

namespace {

constexpr std::int64_t number_max = 999'999'999;

tl::unexpected<Error> refuse(std::string_view text, std::string_view expected) {
    return fail(Code::invalid, fmt::format("found \"{:.64}\", expected {}", text, expected));
}

tl::unexpected<Error> too_many(std::size_t names_max) {
    return fail(Code::limit,
                fmt::format("found more than {} names, expected at most that", names_max));
}

struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::size_t width = 1;
};

Result<Range> read_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const std::string_view low_text = text.substr(0, dash);
    const std::string_view high_text =
        dash == std::string_view::npos ? low_text : text.substr(dash + 1);
    const auto low = parse_int("number", low_text, 0, number_max);
    const auto high = parse_int("number", high_text, 0, number_max);
    const bool is_plain = low_text.find_first_not_of("0123456789") == std::string_view::npos;
    if (!low || !high || !is_plain || *low > *high) {
        return refuse(text, "a number or a range like 001-018");
    }
    return Range{*low, *high, low_text.size()};
}

/// Names that go on behind each of `names`.
Result<std::vector<std::string>> multiply(const std::vector<std::string>& names,
                                          std::string_view brackets, std::size_t names_max) {
    std::vector<std::string> grown;
    for (const std::string_view part : split(brackets, ',')) {
        MUSTER_TRY(range, read_range(part));
        const auto numbers = static_cast<std::size_t>(range.high - range.low) + 1;
        if (numbers > names_max || numbers * names.size() + grown.size() > names_max) {
            return too_many(names_max);
        }
        for (const std::string& name : names) {
            for (std::int64_t number = range.low; number <= range.high; ++number) {
                grown.push_back(fmt::format("{}{:0{}}", name, number, range.width));
            }
        }
    }
    return grown;
}

/// One entry: text and brackets in turn, "gpu[1-2]x[0-3]".
Result<std::vector<std::string>> expand_entry(std::string_view entry, std::size_t names_max) {
    std::vector<std::string> names{""};
    for (std::string_view rest = entry; !rest.empty();) {
        const std::size_t open = rest.find('[');
        const std::string_view text = rest.substr(0, open);
        if (text.find_first_of("] \t") != std::string_view::npos) {
            return refuse(entry, "a name without blanks or stray brackets");
        }
        for (std::string& name : names) { name += text; }
        if (open == std::string_view::npos) { break; }
        const std::size_t close = rest.find(']', open);
        if (close == std::string_view::npos) { return refuse(entry, "a ] for each ["); }
        MUSTER_TRY(grown, multiply(names, rest.substr(open + 1, close - open - 1), names_max));
        names = std::move(grown);
        rest.remove_prefix(close + 1);
    }
    for (const std::string& name : names) {
        if (name.empty()) { return refuse(entry, "a name"); }
        if (name.size() > name_bytes_max) {
            return refuse(name, fmt::format("a name of at most {} bytes", name_bytes_max));
        }
    }
    return names;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t names_max) {
    std::vector<std::string> all;
    bool is_open = false;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const bool is_end = i == text.size();
        if (!is_end) {
            is_open = text[i] == '[' || (is_open && text[i] != ']');
            if (text[i] != ',' || is_open) { continue; }
        }
        MUSTER_TRY(names, expand_entry(trim(text.substr(start, i - start)), names_max));
        if (all.size() + names.size() > names_max) { return too_many(names_max); }
        all.insert(all.end(), std::make_move_iterator(names.begin()),
                   std::make_move_iterator(names.end()));
        start = i + 1;
    }
    return all;
}

}  // namespace muster::dialect
