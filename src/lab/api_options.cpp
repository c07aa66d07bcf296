// The options of requests that stand in the query, and what is wrong with them.
#include "lab/api_ask.h"
#include "lab/causes.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace muster::lab {

namespace json = boost::json;

namespace {

std::string_view text_at(const RequestPath& path, std::string_view key) {
    const auto found = path.query.find(key);
    return found == path.query.end() ? std::string_view() : std::string_view(found->second);
}

void check_manager(std::string_view manager, Causes& out) {
    constexpr std::size_t bytes_max = 128;
    if (manager.size() > bytes_max) { out.too_long("fieldManager", bytes_max); }
    std::size_t position = 0;
    for (const char c : manager) {
        if (c >= 0 && (c < ' ' || c == 0x7f)) {
            out.wrong("fieldManager", json::value(manager),
                      fmt::format("invalid character U+{:04X} (at position {})",
                                  static_cast<unsigned>(c), position));
        }
        ++position;
    }
}

/// Numbers of the query are read before anything else.
Outcome<> check_integer(const RequestPath& path, std::string_view key) {
    const std::string_view text = text_at(path, key);
    if (text.empty()) { return {}; }
    std::int64_t number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong == std::errc() && end == text.data() + text.size()) { return {}; }
    return bad_request(fmt::format("strconv.ParseInt: parsing {}: invalid syntax",
                                   json::serialize(json::value(text))));
}

}  // namespace

Outcome<> check_options(std::string_view kind, const RequestPath& path, bool is_apply) {
    Causes out;
    if (const std::string_view dry = text_at(path, "dryRun"); !dry.empty() && dry != "All") {
        constexpr std::array<std::string_view, 1> all{"All"};
        out.unsupported("dryRun", json::array{dry}, all);
    }
    const std::string_view manager = text_at(path, "fieldManager");
    if (is_apply && manager.empty()) {
        out.required("fieldManager", "is required for apply patch");
    }
    check_manager(manager, out);
    if (const std::string_view validation = text_at(path, "fieldValidation");
        !validation.empty() && validation != "Ignore" && validation != "Warn" &&
        validation != "Strict") {
        constexpr std::array<std::string_view, 4> supported{"", "Ignore", "Strict", "Warn"};
        out.unsupported("fieldValidation", json::value(validation), supported);
    }
    if (kind == "PatchOptions" && !is_apply && !text_at(path, "force").empty()) {
        out.forbidden("force", "may not be specified for non-apply patch");
    }
    if (out.empty()) { return {}; }
    return invalid_options(kind, out.take());
}

Outcome<> check_list_options(const RequestPath& path, bool is_watch) {
    for (const std::string_view key : {"limit", "timeoutSeconds"}) {
        if (auto done = check_integer(path, key); !done) { return done; }
    }
    Causes out;
    const std::string_view version = text_at(path, "resourceVersion");
    const std::string_view match = text_at(path, "resourceVersionMatch");
    const std::string_view initial = text_at(path, "sendInitialEvents");
    const bool has_initial = !initial.empty();
    if (is_watch) {
        if (has_initial && match.empty()) {
            out.forbidden("resourceVersionMatch",
                          "sendInitialEvents requires setting resourceVersionMatch to "
                          "NotOlderThan");
        } else if (!has_initial && !match.empty()) {
            out.forbidden("resourceVersionMatch",
                          "resourceVersionMatch is forbidden for watch unless sendInitialEvents "
                          "is provided");
        } else if (has_initial && match != "NotOlderThan") {
            out.forbidden("resourceVersionMatch",
                          "sendInitialEvents requires setting resourceVersionMatch to "
                          "NotOlderThan");
            constexpr std::array<std::string_view, 1> only{"NotOlderThan"};
            out.unsupported("resourceVersionMatch", json::value(match), only);
        }
    } else {
        if (has_initial) {
            out.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
        }
        if (!match.empty() && version.empty()) {
            out.forbidden("resourceVersionMatch",
                          "resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if (!match.empty() && !text_at(path, "continue").empty()) {
            out.forbidden("resourceVersionMatch",
                          "resourceVersionMatch is forbidden when continue is provided");
        }
        if (!match.empty() && match != "Exact" && match != "NotOlderThan") {
            constexpr std::array<std::string_view, 3> supported{"Exact", "NotOlderThan", ""};
            out.unsupported("resourceVersionMatch", json::value(match), supported);
        }
        if (match == "Exact" && version == "0") {
            out.forbidden("resourceVersionMatch",
                          "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
    }
    if (out.empty()) { return {}; }
    return invalid_options("ListOptions", out.take());
}

}  // namespace muster::lab
