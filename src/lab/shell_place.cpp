#include "lab/shell_place.h"

#include "base/text.h"
#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::int64_t devices_max = 1'024;  // of one container

/// "metadata.labels['a.b/c']" and plain paths.
std::string field_of(const json::object& object, std::string_view path) {
    const std::size_t bracket = path.find("['");
    if (bracket == std::string_view::npos || !path.ends_with("']")) {
        if (path == "status.podIPs") { path = "status.podIP"; }
        return std::string(text_at(object, path));
    }
    const json::value* map = value_at(object, path.substr(0, bracket));
    const std::string_view key = path.substr(bracket + 2, path.size() - bracket - 4);
    const json::value* found =
        map == nullptr || !map->is_object() ? nullptr : map->get_object().if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string())
                                                  : std::string();
}

/// None when it is optional and not there; so is what the lab does not look into.
std::optional<std::string> value_of(const json::object& pod, const json::object& variable,
                                    const ConfigLookup& find) {
    if (const json::value* from = value_at(variable, "valueFrom.fieldRef.fieldPath")) {
        return from->is_string() ? field_of(pod, from->get_string()) : std::string();
    }
    if (const json::value* from = value_at(variable, "valueFrom.configMapKeyRef")) {
        if (!from->is_object()) { return std::nullopt; }
        const auto map = find("configmaps", text_at(from->get_object(), "name"));
        const json::value* data = map ? map->if_contains("data") : nullptr;
        if (data == nullptr || !data->is_object()) { return std::nullopt; }
        const json::value* value =
            data->get_object().if_contains(text_at(from->get_object(), "key"));
        if (value == nullptr || !value->is_string()) { return std::nullopt; }
        return std::string(value->get_string());
    }
    if (variable.contains("valueFrom")) { return std::nullopt; }
    return std::string(text_at(variable, "value"));
}

void read_env(ShellPlace& place, const json::object& pod, const json::object& container,
              const ConfigLookup& find) {
    if (const json::array* sources = kube::array_at(container, "envFrom")) {
        for (const json::value& source : *sources) {
            if (!source.is_object()) { continue; }
            const auto map = find("configmaps", text_at(source.get_object(), "configMapRef.name"));
            const json::value* data = map ? map->if_contains("data") : nullptr;
            if (data == nullptr || !data->is_object()) { continue; }
            const std::string prefix(text_at(source.get_object(), "prefix"));
            for (const auto& [key, value] : data->get_object()) {
                if (!value.is_string()) { continue; }
                place.env.insert_or_assign(prefix + std::string(key),
                                           std::string(value.get_string()));
            }
        }
    }
    const json::array* variables = kube::array_at(container, "env");
    if (variables == nullptr) { return; }
    for (const json::value& one : *variables) {
        if (!one.is_object()) { continue; }
        auto value = value_of(pod, one.get_object(), find);
        if (!value) { continue; }
        place.env.insert_or_assign(std::string(text_at(one.get_object(), "name")),
                                   std::move(*value));
    }
}

/// The same for the same pod for as long as it is there, and no other's. Which of its node's GPUs a
/// pod holds is not written anywhere.
std::string uuid_of(std::string_view prefix, std::string_view uid, std::string_view container,
                    std::int64_t number) {
    constexpr std::uint64_t prime = 0x100000001b3;  // FNV-1a
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : fmt::format("{}/{}/{}", uid, container, number)) {
        hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    }
    const std::uint64_t other = (hash ^ 0x5bd1e995U) * prime;
    return fmt::format("{}-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", prefix, hash >> 32U,
                       hash >> 16U & 0xffffU, hash & 0xffffU, other >> 48U,
                       other & 0xffff'ffff'ffffU);
}

void read_devices(ShellPlace& place, const json::object& pod, const json::object& container) {
    const json::value* limits = value_at(container, "resources.limits");
    if (limits == nullptr || !limits->is_object()) { return; }
    constexpr std::string_view whole = "nvidia.com/gpu";
    constexpr std::string_view slice = "nvidia.com/mig-";
    for (const auto& [key, value] : limits->get_object()) {
        const std::string_view resource(key);
        const bool is_slice = resource.starts_with(slice);
        if (resource != whole && !is_slice) { continue; }
        const std::string text =
            value.is_string() ? std::string(value.get_string()) : json::serialize(value);
        const auto count = parse_quantity(text);
        for (std::int64_t i = 0; count && i < std::min(*count, devices_max); ++i) {
            const auto number = static_cast<std::int64_t>(place.devices.size());
            place.devices.push_back(
                {.uuid = uuid_of(is_slice ? "MIG" : "GPU", text_at(pod, "metadata.uid"),
                                 text_at(container, "name"), number),
                 .slice = std::string(is_slice ? resource.substr(slice.size()) : "")});
        }
    }
}

}  // namespace

ShellPlace shell_place(const json::object& pod, const json::object& container,
                       const json::object* node, const ConfigLookup& find) {
    ShellPlace place;
    place.host = text_at(pod, "spec.hostname");
    if (place.host.empty()) { place.host = name_of(pod); }
    place.product = "GPU";
    if (node != nullptr) {
        const auto label = [&](std::string_view key) {
            return field_of(*node, fmt::format("metadata.labels['{}']", key));
        };
        if (std::string product = label("nvidia.com/gpu.product"); !product.empty()) {
            std::ranges::replace(product, '-', ' ');  // a label has no blanks
            place.product = std::move(product);
        }
        place.memory_mib = parse_int(label("nvidia.com/gpu.memory")).value_or(0);
    }
    read_env(place, pod, container, find);
    read_devices(place, pod, container);
    if (!place.devices.empty() && !place.env.contains("NVIDIA_VISIBLE_DEVICES")) {
        std::string all;
        for (const ShellPlace::Device& device : place.devices) {
            all += (all.empty() ? "" : ",") + device.uuid;
        }
        place.env.emplace("NVIDIA_VISIBLE_DEVICES", std::move(all));
    }
    return place;
}

}  // namespace muster::lab
