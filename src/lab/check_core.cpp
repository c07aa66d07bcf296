#include "base/text.h"
#include "lab/check_kinds.h"
#include "lab/field_rules.h"
#include "lab/kind_rules.h"
#include "lab/metadata.h"
#include "lab/names.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::size_t data_bytes_max = std::size_t{1} << 20;

void check_pod(const json::object& object, Causes& out) {
    const json::object& spec = map_in(object, "spec");
    out.add(check_pod_spec(spec, "spec"));
    const bool is_new = text_at(object, "metadata.resourceVersion").empty();
    if (is_new && !list_in(spec, "ephemeralContainers").empty()) {
        out.forbidden("spec.ephemeralContainers", "cannot be set on create");
    }
}

/// What base64 stands for.
std::size_t decoded_size(const json::value& value) {
    if (!value.is_string()) { return 0; }
    const std::string_view text = value.get_string();
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    return text.size() / 4 * 3 - std::min(padding, text.size());
}

void check_config_map(const json::object& object, Causes& out) {
    std::size_t bytes = 0;
    const json::object& texts = map_in(object, "data");
    const json::object& binaries = map_in(object, "binaryData");
    for (const auto& [key, value] : texts) {
        const std::string field = fmt::format("data[{}]", std::string_view(key));
        out.wrong(field, json::value(key), check_config_key(key));
        if (binaries.contains(key)) {
            out.wrong(field, json::value(key), "duplicate of key present in binaryData");
        }
        bytes += value.is_string() ? value.get_string().size() : 0;
    }
    for (const auto& [key, value] : binaries) {
        out.wrong(fmt::format("binaryData[{}]", std::string_view(key)), json::value(key),
                  check_config_key(key));
        bytes += decoded_size(value);
    }
    // The place has no name: the whole is too long.
    if (bytes > data_bytes_max) { out.too_long("[]", data_bytes_max); }
}

/// The keys that a type of secret has.
void check_secret(const json::object& object, Causes& out) {
    const json::object& data = map_in(object, "data");
    std::size_t bytes = 0;
    for (const auto& [key, value] : data) {
        out.wrong(fmt::format("data[{}]", std::string_view(key)), json::value(key),
                  check_config_key(key));
        bytes += decoded_size(value);
    }
    if (bytes > data_bytes_max) { out.too_long("data", data_bytes_max); }
    const std::string_view type = text_at(object, "type");
    const auto require = [&](std::string_view key) {
        if (!data.contains(key)) { out.required(fmt::format("data[{}]", key)); }
    };
    if (type == "kubernetes.io/service-account-token" &&
        kube::annotation_of(object, "kubernetes.io/service-account.name").empty()) {
        out.required("metadata.annotations[kubernetes.io/service-account.name]");
    } else if (type == "kubernetes.io/dockerconfigjson") {
        require(".dockerconfigjson");
    } else if (type == "kubernetes.io/dockercfg") {
        require(".dockercfg");
    } else if (type == "kubernetes.io/tls") {
        require("tls.crt");
        require("tls.key");
    } else if (type == "kubernetes.io/ssh-auth") {
        require("ssh-privatekey");
    } else if (type == "kubernetes.io/basic-auth" && !data.contains("username") &&
               !data.contains("password")) {
        require("password");
        require("username");
    }
}

bool is_address(std::string_view text) {
    const auto parts = split(text, '.');
    const bool is_v4 =
        parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) {
            return !part.empty() && part.size() <= 3 &&
                   std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; }) &&
                   std::stoi(std::string(part)) < 256;
        });
    return is_v4 || (text.find(':') != std::string_view::npos &&
                     text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos);
}

bool is_range(std::string_view text) {
    const std::size_t slash = text.find('/');
    return slash != std::string_view::npos && is_address(text.substr(0, slash));
}

void check_service_ports(const json::object& spec, Causes& out) {
    const json::array& ports = list_in(spec, "ports");
    const std::string_view type = text_at(spec, "type");
    std::set<std::string_view> names;
    std::vector<std::pair<std::int64_t, std::string_view>> taken;
    std::size_t index = 0;
    for (const json::value& one : ports) {
        const std::string place = fmt::format("spec.ports[{}]", index++);
        if (!one.is_object()) { continue; }
        const json::object& port = one.get_object();
        const std::string_view name = text_at(port, "name");
        if (name.empty() && ports.size() > 1) {
            out.required(place + ".name");
        } else if (!name.empty()) {
            out.wrong(place + ".name", json::value(name), check_dns_label(name));
            if (!names.insert(name).second) { out.duplicate(place + ".name", json::value(name)); }
        }
        const json::value* target = port.if_contains("targetPort");
        if (target != nullptr && target->is_int64() &&
            (target->get_int64() < 1 || target->get_int64() > 65'535)) {
            out.wrong(place + ".targetPort", *target, "must be between 1 and 65535, inclusive");
        } else if (target != nullptr && target->is_string()) {
            out.wrong(place + ".targetPort", *target, check_port_name(target->get_string()));
        }
        const std::int64_t on_nodes = int_at(port, "nodePort");
        if (on_nodes != 0 && type == "ClusterIP") {
            out.forbidden(place + ".nodePort", "may not be used when `type` is 'ClusterIP'");
        } else if (on_nodes != 0 && (on_nodes < 30'000 || on_nodes > 32'767)) {
            out.wrong(place + ".nodePort", json::value(on_nodes),
                      "provided port is not in the valid range. The range of valid ports is "
                      "30000-32767");
        }
        const std::pair<std::int64_t, std::string_view> key{int_at(port, "port"),
                                                            text_at(port, "protocol")};
        if (std::ranges::find(taken, key) != taken.end()) {
            out.duplicate(place, json::object{{"port", key.first}, {"protocol", key.second}});
        }
        taken.push_back(key);
    }
}

void check_service(const json::object& object, Causes& out) {
    constexpr std::array<FieldRule, 6> rules{{
        {"type", MustBe::one_of, "ClusterIP ExternalName LoadBalancer NodePort"},
        {"sessionAffinity", MustBe::one_of, "ClientIP None"},
        {"selector", MustBe::labels},
        {"ports[].port", MustBe::within, "1-65535"},
        {"ports[].protocol", MustBe::one_of, "SCTP TCP UDP"},
        {"externalTrafficPolicy", MustBe::one_of, "Cluster Local"},
    }};
    const json::object& spec = map_in(object, "spec");
    check_rules(rules, spec, "spec", out);
    const std::string_view type = text_at(spec, "type");
    const std::string_view address = text_at(spec, "clusterIP");
    if (type == "ExternalName") {
        if (text_at(spec, "externalName").empty()) { out.required("spec.externalName"); }
    } else if (list_in(spec, "ports").empty() && address != "None") {
        out.required("spec.ports");
    }
    if (!address.empty() && address != "None" && !is_address(address)) {
        out.wrong("spec.clusterIPs[0]", json::value(address),
                  "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
    check_service_ports(spec, out);
}

void check_node(const json::object& object, Causes& out) {
    constexpr std::array<std::string_view, 3> effects{"NoSchedule", "PreferNoSchedule",
                                                      "NoExecute"};
    std::set<std::pair<std::string_view, std::string_view>> seen;
    std::size_t index = 0;
    for (const json::value& one : list_in(object, "spec.taints")) {
        const std::string place = fmt::format("metadata.taints[{}]", index++);
        if (!one.is_object()) { continue; }
        const std::string_view key = text_at(one.get_object(), "key");
        const std::string_view effect = text_at(one.get_object(), "effect");
        const std::string_view value = text_at(one.get_object(), "value");
        out.wrong(place + ".key", json::value(key), check_qualified_name(key));
        out.wrong(place + ".value", json::value(value), check_label_value(value));
        if (effect.empty()) {
            out.required(place + ".effect");
        } else if (std::ranges::find(effects, effect) == effects.end()) {
            out.unsupported(place + ".effect", json::value(effect), effects);
        }
        if (!seen.emplace(key, effect).second) {
            json::object internal{{"Key", key}, {"Value", value}, {"Effect", effect}};
            internal["TimeAdded"] = nullptr;
            out.duplicate(place, internal);
            // What follows a value is its explanation.
            std::vector<ApiCause> all = out.take();
            all.back().message += ": taints must be unique by key and effect pair";
            out.add(std::move(all));
        }
    }
    index = 0;
    for (const json::value& one : list_in(object, "spec.podCIDRs")) {
        if (one.is_string() && !is_range(one.get_string())) {
            out.wrong(fmt::format("spec.podCIDRs[{}]", index), one,
                      "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
        }
        ++index;
    }
}

void check_event(const json::object& object, Causes& out) {
    const std::string_view about = text_at(object, "involvedObject.namespace");
    const std::string_view own = text_at(object, "metadata.namespace");
    const bool is_right = about == own || (about.empty() && own == "default");
    if (!is_right) {
        out.wrong("involvedObject.namespace", json::value(about), "does not match event.namespace");
    }
}

/// Within one limit, what must not be over what.
void check_limit(const json::object& limit, const std::string& place, Causes& out) {
    struct Order {
        std::string_view low, high, low_words, high_words, at;
    };
    constexpr std::array<Order, 5> orders{{
        {"min", "max", "min", "max", "min"},
        {"min", "defaultRequest", "min", "default request", "defaultRequest"},
        {"defaultRequest", "max", "default request", "max", "defaultRequest"},
        {"min", "default", "min", "default", "default"},
        {"default", "max", "default", "max", "default"},
    }};
    for (const Order& order : orders) {
        const json::object& high = map_in(limit, order.high);
        for (const auto& [name, amount] : map_in(limit, order.low)) {
            const json::value* most = high.if_contains(name);
            const auto a = milli_of(amount);
            const auto b = most == nullptr ? a : milli_of(*most);
            if (!a || !b || *a <= *b) { continue; }
            // Of the smaller one, its own, or of the other: as it was written.
            const bool is_low =
                order.at == "min" ||
                (order.at == "default" ? order.low != order.at : order.low == order.at);
            const json::value& value = is_low ? amount : *most;
            out.wrong(fmt::format("{}.{}[{}]", place, order.at, std::string_view(name)),
                      json::value(amount_text(value)),
                      fmt::format("{} value {} is greater than {} value {}", order.low_words,
                                  amount_text(amount), order.high_words, amount_text(*most)));
        }
    }
}

void check_limits(const json::object& object, Causes& out) {
    constexpr std::array<std::string_view, 3> types{"Container", "Pod", "PersistentVolumeClaim"};
    std::size_t index = 0;
    for (const json::value& one : list_in(object, "spec.limits")) {
        const std::string place = fmt::format("spec.limits[{}]", index++);
        if (!one.is_object()) { continue; }
        const json::object& limit = one.get_object();
        const std::string_view type = text_at(limit, "type");
        if (std::ranges::find(types, type) == types.end() &&
            type.find('/') == std::string_view::npos) {
            out.wrong(place + ".type", json::value(type),
                      "must be a standard limit type or fully qualified");
        }
        if (type == "Pod") {
            for (const std::string_view key : {"default", "defaultRequest"}) {
                if (!map_in(limit, key).empty()) {
                    out.forbidden(fmt::format("{}.{}", place, key),
                                  "may not be specified when `type` is 'Pod'");
                }
            }
        }
        check_limit(limit, place, out);
    }
}

bool is_same_at(const json::object& a, const json::object& b, std::string_view path) {
    const json::value* left = value_at(a, path);
    const json::value* right = value_at(b, path);
    return (left == nullptr) == (right == nullptr) && (left == nullptr || *left == *right);
}

void check_immutable_data(const json::object& now, const json::object& before,
                          std::initializer_list<std::string_view> keys, Causes& out) {
    if (!kube::flag_at(before, "immutable")) { return; }
    constexpr std::string_view why = "field is immutable when `immutable` is set";
    if (!kube::flag_at(now, "immutable")) { out.forbidden("immutable", why); }
    for (const std::string_view key : keys) {
        if (!is_same_at(now, before, key)) { out.forbidden(std::string(key), why); }
    }
}

}  // namespace

void check_fixed(const json::object& now, const json::object& before, std::string_view path,
                 Causes& out) {
    if (is_same_at(now, before, path)) { return; }
    const json::value* value = value_at(now, path);
    out.wrong(std::string(path), value == nullptr ? json::value(nullptr) : *value,
              "field is immutable");
}

void check_core(const ResourceType& type, const json::object& object, Causes& out) {
    if (type.plural == "pods") { return check_pod(object, out); }
    if (type.plural == "configmaps") { return check_config_map(object, out); }
    if (type.plural == "secrets") { return check_secret(object, out); }
    if (type.plural == "services") { return check_service(object, out); }
    if (type.plural == "nodes") { return check_node(object, out); }
    if (type.plural == "events") { return check_event(object, out); }
    if (type.plural == "resourcequotas") { return check_quota(object, out); }
    if (type.plural == "limitranges") { return check_limits(object, out); }
}

void check_core_update(const ResourceType& type, const json::object& now,
                       const json::object& before, Causes& out) {
    if (type.plural == "pods") { return out.add(check_pod_update(now, before)); }
    if (type.plural == "configmaps") {
        check_immutable_data(now, before, {"data", "binaryData"}, out);
    } else if (type.plural == "secrets") {
        check_fixed(now, before, "type", out);
        check_immutable_data(now, before, {"data"}, out);
    } else if (type.plural == "services") {
        const std::string_view had = text_at(before, "spec.clusterIP");
        const std::string_view has = text_at(now, "spec.clusterIP");
        if (!had.empty() && had != has && text_at(now, "spec.type") != "ExternalName" &&
            text_at(before, "spec.type") != "ExternalName") {
            const json::value* all = value_at(now, "spec.clusterIPs");
            out.wrong("spec.clusterIPs[0]", all == nullptr ? json::value(nullptr) : *all,
                      "may not change once set");
        }
    } else if (type.plural == "resourcequotas") {
        check_fixed(now, before, "spec.scopes", out);
    } else if (type.plural == "nodes") {
        if (!text_at(before, "spec.podCIDR").empty() &&
            (!is_same_at(now, before, "spec.podCIDR") ||
             !is_same_at(now, before, "spec.podCIDRs"))) {
            out.forbidden("spec.podCIDRs",
                          "node updates may not change podCIDR except from \"\" to valid");
        }
        if (!text_at(before, "spec.providerID").empty() &&
            !is_same_at(now, before, "spec.providerID")) {
            out.wrong("spec.providerID", json::value(nullptr), "field cannot be modified once set");
        }
    }
}

}  // namespace muster::lab
