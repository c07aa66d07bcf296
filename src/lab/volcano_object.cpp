#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace muster::lab::volcano {

namespace json = boost::json;

const json::value* find(const json::object& object, Path path) {
    const json::object* at = &object;
    const json::value* found = nullptr;
    for (const std::string_view key : path) {
        if (at == nullptr) { return nullptr; }
        found = at->if_contains(key);
        if (found == nullptr) { return nullptr; }
        at = found->if_object();
    }
    return found;
}

const json::object* object_at(const json::object& object, Path path) {
    const json::value* found = find(object, path);
    return found == nullptr ? nullptr : found->if_object();
}

const json::array* array_at(const json::object& object, Path path) {
    const json::value* found = find(object, path);
    return found == nullptr ? nullptr : found->if_array();
}

std::string_view text_at(const json::object& object, Path path, std::string_view otherwise) {
    const json::value* found = find(object, path);
    const json::string* text = found == nullptr ? nullptr : found->if_string();
    return text == nullptr || text->empty() ? otherwise : std::string_view(*text);
}

std::int64_t integer_at(const json::object& object, Path path, std::int64_t otherwise) {
    const json::value* found = find(object, path);
    const std::int64_t* number = found == nullptr ? nullptr : found->if_int64();
    return number == nullptr ? otherwise : *number;
}

json::object& child(json::object& object, std::string_view key) {
    json::value& value = object[key];
    return value.is_object() ? value.get_object() : value.emplace_object();
}

json::array& children(json::object& object, std::string_view key) {
    json::value& value = object[key];
    return value.is_array() ? value.get_array() : value.emplace_array();
}

Owner owner_of(const json::object& object) {
    const json::array* owners = array_at(object, {"metadata", "ownerReferences"});
    if (owners == nullptr) { return {}; }
    for (const json::value& value : *owners) {
        const json::object* owner = value.if_object();
        if (owner == nullptr || text_at(*owner, {"kind"}) != "Job" ||
            !text_at(*owner, {"apiVersion"}).starts_with("batch.volcano.sh/")) {
            continue;
        }
        return {.name = std::string(text_at(*owner, {"name"})),
                .uid = std::string(text_at(*owner, {"uid"}))};
    }
    return {};
}

json::array owned_by(const json::object& job) {
    // What comes out of a list need not say what it is.
    return {json::object{{"apiVersion", "batch.volcano.sh/v1alpha1"},
                         {"kind", "Job"},
                         {"name", text_at(job, {"metadata", "name"})},
                         {"uid", uid_of(job)},
                         {"controller", true},
                         {"blockOwnerDeletion", true}}};
}

std::int64_t time_of(std::string_view text) {
    return std::max<std::int64_t>(kube::read_time(text), 0);
}

std::string duration_text(std::int64_t milliseconds) {
    const std::int64_t seconds = std::max<std::int64_t>(milliseconds, 0) / 1000;
    std::string out;
    if (seconds >= 3600) { out += fmt::format("{}h", seconds / 3600); }
    if (seconds >= 60) { out += fmt::format("{}m", seconds / 60 % 60); }
    return out + fmt::format("{}s", seconds % 60);
}

std::int64_t duration_of(std::string_view text) {
    double total = 0;
    while (!text.empty()) {
        double count = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
        if (error != std::errc() || !(count >= 0) || count > 1e9) { return 0; }
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.starts_with("ms")) {
            total += count;
            text.remove_prefix(2);
            continue;
        }
        if (text.empty()) { return 0; }
        switch (text.front()) {
            case 'h': total += count * 3'600'000; break;
            case 'm': total += count * 60'000; break;
            case 's': total += count * 1'000; break;
            default: return 0;
        }
        text.remove_prefix(1);
    }
    return static_cast<std::int64_t>(std::llround(std::min(total, 1e15)));
}

kube::Call post(const kube::Resource& resource, std::string_view space,
                const json::object& object) {
    return {.method = "POST",
            .target = kube::path_of(resource, space),
            .body = json::serialize(object)};
}

kube::Call put(const kube::Resource& resource, const json::object& object, std::string_view rest) {
    return {.method = "PUT",
            .target = kube::path_of(resource, text_at(object, {"metadata", "namespace"}),
                                    text_at(object, {"metadata", "name"}), rest),
            .body = json::serialize(object)};
}

kube::Call merge(const kube::Resource& resource, const kube::ObjectName& name,
                 const json::object& patch, std::string_view rest) {
    return {.method = "PATCH",
            .target = kube::path_of(resource, name.first, name.second, rest),
            .content_type = "application/merge-patch+json",
            .body = json::serialize(patch)};
}

kube::Call remove(const kube::Resource& resource, const kube::ObjectName& name,
                  std::string_view uid) {
    const json::object options{{"apiVersion", "v1"},
                               {"kind", "DeleteOptions"},
                               {"preconditions", {{"uid", uid}}},
                               {"propagationPolicy", "Background"}};
    return {.method = "DELETE",
            .target = kube::path_of(resource, name.first, name.second),
            .body = json::serialize(options)};
}

kube::Resource jobs_resource() { return {"batch.volcano.sh", "v1alpha1", "jobs"}; }
kube::Resource pod_groups_resource() { return {"scheduling.volcano.sh", "v1beta1", "podgroups"}; }
kube::Resource queues_resource() { return {"scheduling.volcano.sh", "v1beta1", "queues"}; }
kube::Resource commands_resource() { return {"bus.volcano.sh", "v1alpha1", "commands"}; }
kube::Resource pods_resource() { return core_resource("pods"); }
kube::Resource core_resource(std::string_view plural) { return {"", "v1", std::string(plural)}; }

}  // namespace muster::lab::volcano
