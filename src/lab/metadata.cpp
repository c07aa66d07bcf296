#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace muster::lab {

namespace json = boost::json;

const json::value* at(const json::object& object, std::initializer_list<std::string_view> path) {
    const json::object* in = &object;
    const json::value* found = nullptr;
    for (const std::string_view key : path) {
        if (in == nullptr) { return nullptr; }
        found = in->if_contains(key);
        if (found == nullptr) { return nullptr; }
        in = found->if_object();
    }
    return found;
}

std::string_view text_at(const json::object& object, std::initializer_list<std::string_view> path) {
    const json::value* found = at(object, path);
    return found != nullptr && found->is_string() ? std::string_view(found->get_string())
                                                  : std::string_view();
}

std::int64_t number_at(const json::object& object, std::initializer_list<std::string_view> path,
                       std::int64_t otherwise) {
    const json::value* found = at(object, path);
    if (found == nullptr) { return otherwise; }
    if (found->is_int64()) { return found->get_int64(); }
    return found->is_uint64() ? static_cast<std::int64_t>(found->get_uint64()) : otherwise;
}

json::object& object_at(json::object& object, std::string_view key) {
    json::value& found = object[key];
    if (!found.is_object()) { found = json::object(); }
    return found.get_object();
}

json::array& list_at(json::object& object, std::string_view key) {
    json::value& found = object[key];
    if (!found.is_array()) { found = json::array(); }
    return found.get_array();
}

bool has_finalizers(const json::object& object) {
    const json::value* found = at(object, {"metadata", "finalizers"});
    return found != nullptr && found->is_array() && !found->get_array().empty();
}

bool is_leaving(const json::object& object) {
    return !text_at(object, {"metadata", "deletionTimestamp"}).empty();
}

std::string rfc3339(std::int64_t milliseconds) {
    const auto seconds = static_cast<std::time_t>(milliseconds / 1'000);
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

std::int64_t parse_rfc3339(std::string_view text) {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    const std::string copy(text.substr(0, 40));
    if (std::sscanf(copy.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d", &year, &month, &day, &hour, &minute,
                    &second) != 6) {
        return -1;
    }
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                           std::chrono::day(day)};
    if (!date.ok()) { return -1; }
    const auto days = std::chrono::sys_days(date).time_since_epoch().count();
    return ((std::int64_t{days} * 24 + hour) * 60 + minute) * 60'000 + std::int64_t{second} * 1'000;
}

namespace {

bool is_dns_part(std::string_view text) {
    const auto is_inner = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return !text.empty() && text.front() != '-' && text.back() != '-' &&
           std::all_of(text.begin(), text.end(), is_inner);
}

}  // namespace

bool is_dns_label(std::string_view text) { return text.size() <= 63 && is_dns_part(text); }

bool is_dns_subdomain(std::string_view text) {
    if (text.size() > 253) { return false; }
    for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
        if (!is_dns_part(text.substr(0, dot))) { return false; }
        text.remove_prefix(dot + 1);
    }
    return is_dns_part(text);
}

}  // namespace muster::lab
