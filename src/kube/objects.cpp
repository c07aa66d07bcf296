#include "kube/objects.h"

#include "base/text.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <chrono>
#include <limits>

namespace muster::kube {

namespace json = boost::json;

namespace {

std::string_view key_in(const json::object& object, std::string_view path, std::string_view key) {
    const json::object* map = object_at(object, path);
    const json::value* value = map ? map->if_contains(key) : nullptr;
    const json::string* text = value ? value->if_string() : nullptr;
    return text ? std::string_view(*text) : std::string_view();
}

/// Two digits and more at `at`; -1 when there are none.
std::int64_t digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) { return -1; }
    const auto number = parse_int(text.substr(at, count));
    return number ? *number : -1;
}

void send(Transport& transport, Call call, Transport::Done done) {
    if (!done) {
        done = [](const Result<Answer>&) {};
    }
    transport.call(std::move(call), std::move(done));
}

}  // namespace

const json::value* value_at(const json::object& object, std::string_view path) {
    const json::object* at = &object;
    while (true) {
        const std::size_t dot = path.find('.');
        const json::value* value = at->if_contains(path.substr(0, dot));
        if (value == nullptr || dot == std::string_view::npos) { return value; }
        at = value->if_object();
        if (at == nullptr) { return nullptr; }
        path.remove_prefix(dot + 1);
    }
}

json::object object_of(std::string_view text) {
    boost::system::error_code error;
    json::value value = json::parse(text, error);
    return error || !value.is_object() ? json::object{} : std::move(value.get_object());
}

const json::object* object_at(const json::object& object, std::string_view path) {
    const json::value* value = value_at(object, path);
    return value ? value->if_object() : nullptr;
}

const json::array* array_at(const json::object& object, std::string_view path) {
    const json::value* value = value_at(object, path);
    return value ? value->if_array() : nullptr;
}

std::string_view text_at(const json::object& object, std::string_view path) {
    const json::value* value = value_at(object, path);
    const json::string* text = value ? value->if_string() : nullptr;
    return text ? std::string_view(*text) : std::string_view();
}

std::int64_t int_at(const json::object& object, std::string_view path, std::int64_t otherwise) {
    const json::value* value = value_at(object, path);
    if (value == nullptr) { return otherwise; }
    if (const std::int64_t* number = value->if_int64()) { return *number; }
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t* number = value->if_uint64();
    return number && *number <= most ? static_cast<std::int64_t>(*number) : otherwise;
}

bool flag_at(const json::object& object, std::string_view path, bool otherwise) {
    const json::value* value = value_at(object, path);
    const bool* flag = value ? value->if_bool() : nullptr;
    return flag ? *flag : otherwise;
}

ObjectName name_of(const json::object& object) {
    return {std::string(text_at(object, "metadata.namespace")),
            std::string(text_at(object, "metadata.name"))};
}

std::string_view uid_of(const json::object& object) { return text_at(object, "metadata.uid"); }

std::string_view label_of(const json::object& object, std::string_view key) {
    return key_in(object, "metadata.labels", key);
}

std::string_view annotation_of(const json::object& object, std::string_view key) {
    return key_in(object, "metadata.annotations", key);
}

bool is_leaving(const json::object& object) {
    return !text_at(object, "metadata.deletionTimestamp").empty();
}

ObjectName object_name(std::string_view text) {
    const std::size_t slash = text.find('/');
    return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

bool may_be_taken_later(const Result<Answer>& answer) {
    return !answer || answer->status == 409 || answer->status == 429 || answer->status >= 500;
}

std::string_view condition_of(const json::object& object, std::string_view type) {
    const json::array* conditions = array_at(object, "status.conditions");
    if (conditions == nullptr) { return {}; }
    for (const json::value& one : *conditions) {
        const json::object* condition = one.if_object();
        if (condition && text_at(*condition, "type") == type) {
            return text_at(*condition, "status");
        }
    }
    return {};
}

json::object owner_reference(const json::object& owner) {
    return {{"apiVersion", text_at(owner, "apiVersion")},
            {"kind", text_at(owner, "kind")},
            {"name", text_at(owner, "metadata.name")},
            {"uid", uid_of(owner)},
            {"controller", true},
            {"blockOwnerDeletion", true}};
}

const json::object* controller_of(const json::object& object) {
    const json::array* owners = array_at(object, "metadata.ownerReferences");
    if (owners == nullptr) { return nullptr; }
    for (const json::value& one : *owners) {
        const json::object* owner = one.if_object();
        if (owner && flag_at(*owner, "controller")) { return owner; }
    }
    return nullptr;
}

std::string time_text(std::int64_t milliseconds) {
    using namespace std::chrono;
    const sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(milliseconds)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(floor<seconds>(time - day));
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string refusal_of(std::string_view target, const Answer& answer) {
    constexpr std::size_t said_bytes_max = 500;
    std::string out = fmt::format("{} was answered with {}", target, answer.status);
    boost::system::error_code error;
    const json::value body = json::parse(answer.body, error);
    const json::object* status = error ? nullptr : body.if_object();
    const std::string_view said = status != nullptr ? text_at(*status, "message") : "";
    if (!said.empty()) { out += fmt::format(": {}", said.substr(0, said_bytes_max)); }
    return out;
}

std::string micro_time_text(std::int64_t milliseconds) {
    std::string out = time_text(milliseconds);
    const std::int64_t part = ((milliseconds % 1000) + 1000) % 1000;
    out.insert(out.size() - 1, fmt::format(".{:03}000", part));
    return out;
}

namespace {

/// "2026-11-29T10:00:00+02:00".
std::int64_t read_ahead_of_utc(std::string_view text) {
    constexpr std::size_t offset_bytes = 6;
    if (text.size() < 19 + offset_bytes) { return -1; }
    const std::string_view offset = text.substr(text.size() - offset_bytes);
    const std::int64_t hours = digits(offset, 1, 2);
    const std::int64_t minutes = digits(offset, 4, 2);
    const bool is_offset = (offset[0] == '+' || offset[0] == '-') && offset[3] == ':' &&
                           hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60;
    if (!is_offset) { return -1; }
    text.remove_suffix(offset_bytes);
    const std::int64_t there = read_time(std::string(text) + "Z");
    const std::int64_t ahead = (hours * 60 + minutes) * 60'000;
    if (there < 0) { return -1; }
    return offset[0] == '+' ? there - ahead : there + ahead;
}

}  // namespace

std::int64_t read_time(std::string_view text) {
    using namespace std::chrono;
    if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
        text[13] != ':' || text[16] != ':') {
        return -1;
    }
    if (text.back() != 'Z') { return read_ahead_of_utc(text); }
    const year_month_day date(year(static_cast<int>(digits(text, 0, 4))),
                              month(static_cast<unsigned>(digits(text, 5, 2))),
                              day(static_cast<unsigned>(digits(text, 8, 2))));
    const std::int64_t hour = digits(text, 11, 2);
    const std::int64_t minute = digits(text, 14, 2);
    const std::int64_t second = digits(text, 17, 2);
    const bool is_clock =
        hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61;
    if (!date.ok() || !is_clock || static_cast<int>(date.year()) < 0) { return -1; }
    std::int64_t part = 0;
    if (text[19] == '.') {
        part = digits(std::string(text.substr(20, text.size() - 21)) + "00", 0, 3);
        if (part < 0) { return -1; }
    } else if (text.size() != 20) {
        return -1;
    }
    const std::int64_t start = sys_days(date).time_since_epoch().count();
    return (((start * 24 + hour) * 60 + minute) * 60 + second) * 1000 + part;
}

Call create_call(const Resource& resource, std::string_view space, const json::object& object) {
    return {.method = "POST", .target = path_of(resource, space), .body = json::serialize(object)};
}

Call replace_call(const Resource& resource, const json::object& object, std::string_view rest) {
    const auto [space, name] = name_of(object);
    return {.method = "PUT",
            .target = path_of(resource, space, name, rest),
            .body = json::serialize(object)};
}

Call patch_call(const PatchTarget& target, const json::object& patch) {
    return {.method = "PATCH",
            .target = path_of(target.resource, target.name.first, target.name.second, target.rest),
            .content_type = target.kind == PatchKind::merge
                                ? "application/merge-patch+json"
                                : "application/strategic-merge-patch+json",
            .body = json::serialize(patch)};
}

Call delete_call(const Resource& resource, const ObjectName& name, const Deletion& how) {
    json::object options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
    if (how.grace >= 0) { options["gracePeriodSeconds"] = how.grace; }
    if (!how.propagation.empty()) { options["propagationPolicy"] = how.propagation; }
    if (!how.uid.empty()) { options["preconditions"] = json::object{{"uid", how.uid}}; }
    return {.method = "DELETE",
            .target = path_of(resource, name.first, name.second),
            .body = json::serialize(options)};
}

void create_object(Transport& transport, const Resource& resource, std::string_view space,
                   const json::object& object, Transport::Done done) {
    send(transport, create_call(resource, space, object), std::move(done));
}

void patch_object(Transport& transport, const PatchTarget& target, const json::object& patch,
                  Transport::Done done) {
    send(transport, patch_call(target, patch), std::move(done));
}

void delete_object(Transport& transport, const Resource& resource, const ObjectName& name,
                   const Deletion& how, Transport::Done done) {
    send(transport, delete_call(resource, name, how), std::move(done));
}

}  // namespace muster::kube
