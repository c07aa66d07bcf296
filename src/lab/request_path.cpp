#include "lab/request_path.h"

#include <algorithm>

namespace muster::lab {

namespace {

int digit_of(char c) {
    if (c >= '0' && c <= '9') { return c - '0'; }
    if (c >= 'a' && c <= 'f') { return c - 'a' + 10; }
    if (c >= 'A' && c <= 'F') { return c - 'A' + 10; }
    return -1;
}

/// Cuts off what stands before the separator, and the separator.
std::string_view cut(std::string_view& text, char separator) {
    const std::string_view head = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), head.size() + 1));
    return head;
}

}  // namespace

std::optional<std::string> decode_percent(std::string_view text, bool is_query) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && is_query) {
            out += ' ';
        } else if (text[i] != '%') {
            out += text[i];
        } else {
            if (i + 2 >= text.size()) { return std::nullopt; }
            const int high = digit_of(text[i + 1]);
            const int low = digit_of(text[i + 2]);
            if (high < 0 || low < 0) { return std::nullopt; }
            out += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return out;
}

std::optional<RequestPath> parse_target(std::string_view target) {
    RequestPath out;
    std::string_view path = cut(target, '?');
    while (!path.empty()) {
        const std::string_view part = cut(path, '/');
        if (part.empty()) { continue; }
        auto decoded = decode_percent(part, false);
        if (!decoded) { return std::nullopt; }
        out.parts.push_back(std::move(*decoded));
    }
    std::string_view query = cut(target, '#');
    while (!query.empty()) {
        std::string_view pair = cut(query, '&');
        if (pair.empty()) { continue; }
        auto key = decode_percent(cut(pair, '='), true);
        auto value = decode_percent(pair, true);
        if (!key || !value) { return std::nullopt; }
        out.query.try_emplace(std::move(*key), std::move(*value));
    }
    return out;
}

std::vector<std::string> query_values(std::string_view target, std::string_view key) {
    std::vector<std::string> out;
    cut(target, '?');
    std::string_view query = cut(target, '#');
    while (!query.empty()) {
        std::string_view pair = cut(query, '&');
        const auto name = decode_percent(cut(pair, '='), true);
        auto value = decode_percent(pair, true);
        if (name && *name == key && value) { out.push_back(std::move(*value)); }
    }
    return out;
}

std::optional<ResourcePath> resource_path(const std::vector<std::string>& parts) {
    ResourcePath out;
    std::size_t at = 0;
    const auto has = [&](std::size_t count) { return parts.size() >= at + count; };
    if (has(2) && parts[0] == "api") {
        out.version = parts[1];
        at = 2;
    } else if (has(3) && parts[0] == "apis") {
        out.group = parts[1];
        out.version = parts[2];
        at = 3;
    } else {
        return std::nullopt;
    }
    if (has(1) && parts[at] == "watch") {
        out.is_watch = true;
        ++at;
    }
    if (!has(1)) { return std::nullopt; }
    // "namespaces/team/pods" is about pods; "namespaces/team" and "namespaces/team/status" are not.
    const bool is_inside = parts[at] == "namespaces" && has(3) && parts[at + 2] != "status" &&
                           parts[at + 2] != "finalize";
    if (is_inside) {
        out.space = parts[at + 1];
        at += 2;
    }
    out.plural = parts[at++];
    if (has(1)) { out.name = parts[at++]; }
    if (has(1)) { out.subresource = parts[at++]; }
    if (at != parts.size()) { return std::nullopt; }
    return out;
}

}  // namespace muster::lab
