#include "lab/quantity.h"

#include "base/text.h"
#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

using Suffixes = std::array<std::pair<std::string_view, std::int64_t>, 6>;

constexpr Suffixes binary{{{"Ei", std::int64_t{1} << 60},
                           {"Pi", std::int64_t{1} << 50},
                           {"Ti", std::int64_t{1} << 40},
                           {"Gi", std::int64_t{1} << 30},
                           {"Mi", std::int64_t{1} << 20},
                           {"Ki", std::int64_t{1} << 10}}};
constexpr Suffixes decimal{{{"E", 1'000'000'000'000'000'000},
                            {"P", 1'000'000'000'000'000},
                            {"T", 1'000'000'000'000},
                            {"G", 1'000'000'000},
                            {"M", 1'000'000},
                            {"k", 1'000}}};

bool is_sidecar(const json::object& container) {
    return text_at(container, "restartPolicy") == "Always";
}

}  // namespace

std::optional<Quantity> read_quantity(const json::value& value) {
    std::string text;
    if (const json::string* its = value.if_string()) {
        text = std::string_view(*its);
    } else if (value.is_int64() || value.is_uint64()) {
        text = json::serialize(value);
    } else if (value.is_double()) {
        text = fmt::format("{}", value.get_double());
    } else {
        return std::nullopt;
    }
    const auto milli = parse_quantity_milli(text);
    if (!milli) { return std::nullopt; }
    return Quantity{.milli = *milli, .is_binary = text.ends_with('i')};
}

std::string text_of(const Quantity& quantity) {
    if (quantity.milli % 1'000 != 0) { return fmt::format("{}m", quantity.milli); }
    const std::int64_t whole = quantity.milli / 1'000;
    for (const auto& [suffix, unit] : quantity.is_binary ? binary : decimal) {
        if (whole >= unit && whole % unit == 0) {
            return fmt::format("{}{}", whole / unit, suffix);
        }
    }
    return std::to_string(whole);
}

void add(Quantity& sum, const Quantity& more) {
    if (sum.milli == 0) { sum.is_binary = more.is_binary; }
    sum.milli = more.milli > INT64_MAX - sum.milli ? INT64_MAX : sum.milli + more.milli;
}

void take(Quantity& sum, const Quantity& less) {
    sum.milli = std::max<std::int64_t>(0, sum.milli - less.milli);
}

ResourceList read_list(const json::value* list) {
    ResourceList out;
    if (list == nullptr || !list->is_object()) { return out; }
    for (const auto& [name, value] : list->get_object()) {
        if (const auto amount = read_quantity(value)) { out.emplace(name, *amount); }
    }
    return out;
}

void add(ResourceList& sum, const ResourceList& more) {
    for (const auto& [name, amount] : more) { add(sum[name], amount); }
}

void raise(ResourceList& list, const ResourceList& other) {
    for (const auto& [name, amount] : other) {
        const auto [at, is_new] = list.try_emplace(name, amount);
        if (!is_new && at->second < amount) { at->second = amount; }
    }
}

json::object list_of(const ResourceList& list) {
    json::object out;
    for (const auto& [name, amount] : list) { out[name] = text_of(amount); }
    return out;
}

std::string text_of(const ResourceList& list) {
    std::string out;
    for (const auto& [name, amount] : list) {
        out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, text_of(amount));
    }
    return out;
}

ResourceList pod_amounts(const json::object& pod_spec, std::string_view which) {
    const std::string path = fmt::format("resources.{}", which);
    const auto containers_of = [&](std::string_view list) {
        const json::array* found = kube::array_at(pod_spec, list);
        static const json::array none;
        return found == nullptr ? &none : found;
    };
    ResourceList sidecars;
    ResourceList peak;  // of the init containers, each beside the sidecars before it
    for (const json::value& one : *containers_of("initContainers")) {
        if (!one.is_object()) { continue; }
        const ResourceList its = read_list(value_at(one.get_object(), path));
        ResourceList moment = sidecars;
        add(moment, its);
        raise(peak, moment);
        if (is_sidecar(one.get_object())) { sidecars = std::move(moment); }
    }
    ResourceList out;
    for (const json::value& one : *containers_of("containers")) {
        if (one.is_object()) { add(out, read_list(value_at(one.get_object(), path))); }
    }
    add(out, sidecars);
    raise(out, peak);
    // What is said of the pod as a whole stands before what its containers come to.
    for (const auto& [name, amount] : read_list(value_at(pod_spec, path))) { out[name] = amount; }
    for (const auto& [name, amount] : read_list(pod_spec.if_contains("overhead"))) {
        if (which == "requests" || out.contains(name)) { add(out[name], amount); }
    }
    return out;
}

}  // namespace muster::lab
