#include "lab/api_ask.h"
#include "lab/metadata.h"
#include "lab/watch.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <charconv>

namespace muster::lab {

namespace json = boost::json;

namespace {

std::optional<std::uint64_t> read_number(std::string_view text) {
    std::uint64_t out = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (wrong != std::errc() || end != text.data() + text.size()) { return std::nullopt; }
    return out;
}

std::string unreadable_version(std::string_view text) {
    return fmt::format(
        "resourceVersion: Invalid value: {0}: strconv.ParseUint: parsing {0}: invalid "
        "syntax",
        json::serialize(json::value(text)));
}

/// Where a list that was cut goes on: the version it began at and the last key it gave.
struct Continue {
    std::uint64_t version = 0;
    Key after;
};

std::string write_continue(const Continue& token) {
    return fmt::format("{}~{}~{}", token.version, token.after.first, token.after.second);
}

std::optional<Continue> read_continue(std::string_view text) {
    const std::size_t first = text.find('~');
    const std::size_t second = first == std::string_view::npos ? first : text.find('~', first + 1);
    if (second == std::string_view::npos) { return std::nullopt; }
    const auto version = read_number(text.substr(0, first));
    if (!version) { return std::nullopt; }
    return Continue{.version = *version,
                    .after = {std::string(text.substr(first + 1, second - first - 1)),
                              std::string(text.substr(second + 1))}};
}

/// The objects of one answer.
struct Page {
    std::vector<const Stored*> objects;
    Key last;
    std::int64_t left = 0;  // behind it
};

Page page_of(const ObjectStore::Objects& all, const std::string& space, const Wanted& wanted,
             const Key* after, std::size_t limit) {
    Page page;
    auto one = after != nullptr ? all.upper_bound(*after)
               : space.empty()  ? all.begin()
                                : all.lower_bound({space, std::string()});
    for (; one != all.end() && (space.empty() || one->first.first == space); ++one) {
        if (!wanted.is_all() && !wanted.takes(one->first, one->second)) { continue; }
        if (limit > 0 && page.objects.size() == limit) {
            ++page.left;
            if (!wanted.is_all()) { break; }  // how many is not told then
            continue;
        }
        page.objects.push_back(&one->second);
        page.last = one->first;
    }
    return page;
}

}  // namespace

/// A version that a reader wants at least: it has to be a number, and one that was given out.
Outcome<> Api::check_version(std::string_view text) const {
    if (text.empty()) { return {}; }
    const auto version = read_number(text);
    if (!version) {
        return bad_request(fmt::format("invalid resource version: {}", unreadable_version(text)));
    }
    if (*version <= store_.version()) { return {}; }
    ApiError error{.code = 504,
                   .reason = "Timeout",
                   .message = fmt::format("Timeout: Too large resource version: {}, current: {}",
                                          *version, store_.version())};
    error.causes.push_back({.reason = "ResourceVersionTooLarge",
                            .message = "Too large resource version",
                            .field = ""});
    error.retry_after_s = 1;
    return tl::unexpected(std::move(error));
}

Outcome<net::HttpResponse> Api::get(Ask& ask) {
    const std::string_view version = ask.query("resourceVersion");
    if (!version.empty() && !read_number(version)) {
        return internal_error(unreadable_version(version));
    }
    if (auto done = check_version(version); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    auto object = find(ask);
    if (!object) { return tl::unexpected(std::move(object.error())); }
    const View view = view_of(ask.request.header("Accept"));
    if (auto done = check_view(view, *ask.type, false); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    return answer(200, seen_as(registry_, *ask.type, *object, view, ask.query("includeObject"),
                               options_.now()));
}

Outcome<net::HttpResponse> Api::list(Ask& ask) {
    const View view = view_of(ask.request.header("Accept"));
    if (auto done = check_view(view, *ask.type, true); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    if (const std::string_view include = ask.query("includeObject");
        view.is_table && !include.empty() && include != "Metadata" && include != "Object" &&
        include != "None") {
        return bad_request(
            fmt::format("Unable to convert to Table as requested: includeObject: "
                        "Invalid value: {}: must be 'Metadata', 'Object', 'None', "
                        "or empty",
                        json::serialize(json::value(include))));
    }
    auto wanted = read_wanted(*ask.type, ask.query("labelSelector"), ask.query("fieldSelector"));
    if (!wanted) { return tl::unexpected(std::move(wanted.error())); }
    if (auto done = check_list_options(ask.path, false); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    const std::string_view version_text = ask.query("resourceVersion");
    std::optional<Continue> from;
    if (const std::string_view token = ask.query("continue"); !token.empty()) {
        if (!version_text.empty() && version_text != "0") {
            return bad_request("specifying resource version is not allowed when using continue");
        }
        from = read_continue(token);
        if (!from) {
            return bad_request(
                "invalid continue token: continue key is not valid: it was not "
                "made here");
        }
    }
    if (auto done = check_version(version_text); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    // What a server has at hand is given whole.
    const bool is_cut = version_text != "0";
    const auto limit = is_cut ? read_number(ask.query("limit")).value_or(0) : 0;
    // Of the past nothing is kept for lists.
    const bool is_exact = ask.query("resourceVersionMatch") == "Exact" && !from;
    if (is_exact && version_text != std::to_string(store_.version())) {
        return gone("The resourceVersion for the provided list is too old.");
    }
    const Page page = page_of(store_.all(ask.storage), ask.at.space, *wanted,
                              from ? &from->after : nullptr, static_cast<std::size_t>(limit));
    const std::uint64_t version = from ? from->version : store_.version();
    json::object metadata{{"resourceVersion", std::to_string(version)}};
    if (page.left > 0) {
        metadata["continue"] = write_continue({.version = version, .after = page.last});
        if (wanted->is_all()) { metadata["remainingItemCount"] = page.left; }
    }
    if (view.is_table || view.is_metadata) {
        std::vector<json::value> parsed;
        parsed.reserve(page.objects.size());
        for (const Stored* stored : page.objects) { parsed.push_back(json::parse(*stored->text)); }
        if (view.is_metadata) {
            json::array items;
            for (const json::value& one : parsed) {
                items.push_back(metadata_only(one.get_object()));
            }
            return answer(200, {{"kind", "PartialObjectMetadataList"},
                                {"apiVersion", "meta.k8s.io/v1"},
                                {"metadata", std::move(metadata)},
                                {"items", std::move(items)}});
        }
        std::vector<const json::object*> rows;
        for (const json::value& one : parsed) { rows.push_back(&one.get_object()); }
        json::object table =
            table_seen(registry_, *ask.type, rows, ask.query("includeObject"), options_.now());
        table["metadata"] = std::move(metadata);
        return answer(200, table);
    }
    if (ask.type->is_custom && !metadata.contains("continue")) { metadata["continue"] = ""; }
    std::string body =
        fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{},"items":[)",
                    ask.type->kind, ask.type->api_version(), json::serialize(metadata));
    // The list says what its items are, unless they are of a kind that a definition brought.
    const std::string known = ask.type->is_custom
                                  ? std::string()
                                  : fmt::format(R"({{"kind":"{}","apiVersion":"{}",)",
                                                ask.type->kind, ask.type->api_version());
    bool is_first = true;
    for (const Stored* stored : page.objects) {
        if (!is_first) { body += ','; }
        is_first = false;
        std::string_view text = *stored->text;
        if (!known.empty() && text.starts_with(known)) {
            text.remove_prefix(known.size());
            body += '{';
        }
        body += text;
    }
    body += "]}\n";
    return net::HttpResponse{.status = 200,
                             .headers = {{"Content-Type", "application/json"}},
                             .body = std::move(body),
                             .stream = nullptr};
}

Outcome<net::HttpResponse> Api::watch(Ask& ask) {
    std::string fields(ask.query("fieldSelector"));
    if (!ask.at.name.empty()) { fields = fmt::format("metadata.name={}", ask.at.name); }
    auto wanted = read_wanted(*ask.type, ask.query("labelSelector"), fields);
    if (!wanted) { return tl::unexpected(std::move(wanted.error())); }
    if (auto done = check_list_options(ask.path, true); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    WatchOptions options{.type = *ask.type,
                         .storage = ask.storage,
                         .space = ask.at.space,
                         .wanted = std::move(*wanted),
                         .view = view_of(ask.request.header("Accept")),
                         .include = std::string(ask.query("includeObject")),
                         .from = 0,
                         .with_initial = ask.query("sendInitialEvents") != "false",
                         .tells_end_of_initial = ask.is_asked("sendInitialEvents"),
                         .with_bookmarks = ask.is_asked("allowWatchBookmarks"),
                         .end_ms = 0};
    const std::string_view version_text = ask.query("resourceVersion");
    const auto version = version_text.empty() ? 0 : read_number(version_text);
    if (!version) { return internal_error(unreadable_version(version_text)); }
    if (!options.with_initial) { options.from = store_.version(); }
    if (*version != 0 && !options.tells_end_of_initial) {
        options.from = *version;
        options.with_initial = false;
        if (*version <= store_.version() && !store_.position_after(ask.storage, *version)) {
            return gone(
                fmt::format("too old resource version: {} ({})", *version, store_.version()));
        }
    }
    constexpr std::uint64_t default_seconds = 1'800;
    constexpr std::uint64_t seconds_max = 86'400;
    const auto seconds = read_number(ask.query("timeoutSeconds"));
    options.end_ms =
        static_cast<std::int64_t>(std::min(seconds.value_or(default_seconds), seconds_max)) * 1'000;
    return net::HttpResponse{.status = 200,
                             .headers = {{"Content-Type", "application/json"}},
                             .body = {},
                             .stream = make_watch(*this, std::move(options))};
}

}  // namespace muster::lab
