#include "codec/limits.h"
#include "codec/tree.h"

#include <boost/json/basic_parser_impl.hpp>
#include <fmt/core.h>

#include <algorithm>

namespace muster {

namespace json = boost::json;

namespace {

/// Turns the parser's events into the builder's. Text may come in parts.
struct Handler {
    static constexpr std::size_t max_object_size = SIZE_MAX;
    static constexpr std::size_t max_array_size = SIZE_MAX;
    static constexpr std::size_t max_key_size = SIZE_MAX;
    static constexpr std::size_t max_string_size = SIZE_MAX;

    TreeBuilder builder{false};
    std::string part;

    bool goes_on(json::error_code& ec) const {
        if (builder.has_failed()) { ec = json::error::syntax; }
        return !builder.has_failed();
    }
    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_object_begin(json::error_code& ec) { return builder.begin(true, 0), goes_on(ec); }
    bool on_object_end(std::size_t, json::error_code& ec) { return builder.end(), goes_on(ec); }
    bool on_array_begin(json::error_code& ec) { return builder.begin(false, 0), goes_on(ec); }
    bool on_array_end(std::size_t, json::error_code& ec) { return builder.end(), goes_on(ec); }
    bool on_key_part(json::string_view text, std::size_t, json::error_code&) {
        part.append(text.data(), text.size());
        return true;
    }
    bool on_string_part(json::string_view text, std::size_t, json::error_code&) {
        part.append(text.data(), text.size());
        return true;
    }
    bool on_key(json::string_view text, std::size_t, json::error_code&) {
        builder.key(whole({text.data(), text.size()}), 0);
        part.clear();
        return true;
    }
    bool on_string(json::string_view text, std::size_t, json::error_code&) {
        builder.string(whole({text.data(), text.size()}), 0);
        part.clear();
        return true;
    }
    bool on_number_part(json::string_view, json::error_code&) { return true; }
    bool on_int64(std::int64_t value, json::string_view, json::error_code&) {
        return builder.integer(value, 0), true;
    }
    bool on_uint64(std::uint64_t value, json::string_view, json::error_code&) {
        return builder.natural(value, 0), true;
    }
    bool on_double(double value, json::string_view, json::error_code&) {
        return builder.real(value, 0), true;
    }
    bool on_bool(bool value, json::error_code&) { return builder.boolean(value, 0), true; }
    bool on_null(json::error_code&) { return builder.null(0), true; }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

    std::string_view whole(std::string_view text) {
        if (part.empty()) { return text; }
        part += text;
        return part;
    }
};

Result<TreePtr> parse_one(std::string_view file, std::string_view text, std::size_t& at) {
    json::parse_options options;
    options.max_depth = nesting_max + 1;
    json::basic_parser<Handler> parser(options);
    json::error_code ec;
    const std::size_t used = parser.write_some(false, text.data() + at, text.size() - at, ec);
    if (parser.handler().builder.has_failed()) { return parser.handler().builder.finish(file); }
    if (ec) {
        const std::size_t end = std::min(at + used, text.size());
        const auto line =
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
        const std::string what =
            ec == json::error::incomplete ? "the text ends inside a value" : ec.message();
        return fail(Code::invalid,
                    fmt::format("{}:{}: byte {}: not JSON: {}", file, line, end, what));
    }
    at += used;
    return parser.handler().builder.finish(file);
}

}  // namespace

Result<std::vector<TreePtr>> parse_json(std::string_view file, std::string_view text) {
    std::vector<TreePtr> documents;
    for (std::size_t at = 0;;) {
        at = text.find_first_not_of(" \t\r\n", at);
        if (at == std::string_view::npos) { return documents; }
        MUSTER_TRY(tree, parse_one(file, text, at));
        documents.push_back(std::move(tree));
    }
}

}  // namespace muster
