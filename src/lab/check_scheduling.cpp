#include "lab/check_kinds.h"
#include "lab/field_rules.h"
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

void check_priority(const json::object& object, Causes& out) {
    constexpr std::int64_t value_max = 1'000'000'000;
    const std::string_view name = name_of(object);
    if (name == "system-node-critical" || name == "system-cluster-critical") { return; }
    if (name.starts_with("system-")) {
        out.forbidden("metadata.name",
                      fmt::format("priority class names with 'system-' prefix are reserved for "
                                  "system use only. error: {} is not a known system priority class",
                                  name));
    }
    if (int_at(object, "value") > value_max) {
        out.forbidden("value", fmt::format("maximum allowed value of a user defined priority is {}",
                                           value_max));
    }
    constexpr std::array<FieldRule, 1> rules{{
        {"preemptionPolicy", MustBe::one_of, "PreemptLowerPriority Never"},
    }};
    check_rules(rules, object, "", out);
}

void check_policy(const json::object& owner, const std::string& path, Causes& out) {
    const json::object& policy = map_in(owner, "schedulingPolicy");
    const std::string place = path + ".schedulingPolicy";
    const bool is_basic = policy.contains("basic");
    const bool is_gang = policy.contains("gang");
    if (!is_basic && !is_gang) {
        out.wrong(place, json::value(""), "must specify one of: `basic`, `gang`");
    } else if (is_basic && is_gang) {
        out.wrong(place, json::value("{basic, gang}"),
                  "must specify exactly one of: `basic`, `gang`");
    }
    if (!is_gang) { return; }
    const json::value* count = value_at(policy, "gang.minCount");
    if (count == nullptr || (count->is_int64() && count->get_int64() == 0)) {
        out.required(place + ".gang.minCount");
    } else if (count->is_int64() && count->get_int64() < 0) {
        out.wrong(place + ".gang.minCount", *count, "must be greater than or equal to 1");
    }
}

void check_upstream_workload(const json::object& object, Causes& out) {
    const json::array& templates = list_in(object, "spec.podGroupTemplates");
    if (templates.empty() && list_in(object, "spec.compositePodGroupTemplates").empty()) {
        out.wrong("spec", json::value(""),
                  "must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`");
    }
    std::set<std::string_view> names;
    std::size_t index = 0;
    for (const json::value& one : templates) {
        const std::string place = fmt::format("spec.podGroupTemplates[{}]", index++);
        if (!one.is_object()) { continue; }
        const std::string_view name = text_at(one.get_object(), "name");
        if (name.empty()) {
            out.required(place + ".name");
        } else {
            out.wrong(place + ".name", json::value(name), check_dns_label(name));
        }
        if (!names.insert(name).second) { out.duplicate(place, one); }
        check_policy(one.get_object(), place, out);
    }
}

void check_budget(const json::object& object, Causes& out) {
    constexpr std::array<FieldRule, 2> rules{{
        {"selector", MustBe::selector},
        {"unhealthyPodEvictionPolicy", MustBe::one_of, "AlwaysAllow IfHealthyBudget"},
    }};
    const json::object& spec = map_in(object, "spec");
    check_rules(rules, spec, "spec", out);
    const json::value* least = spec.if_contains("minAvailable");
    const json::value* most = spec.if_contains("maxUnavailable");
    if (least != nullptr && most != nullptr) {
        out.wrong("spec", spec, "minAvailable and maxUnavailable cannot be both set");
    }
    for (const auto& [key, value] : {std::pair{"minAvailable", least}, {"maxUnavailable", most}}) {
        if (value == nullptr) { continue; }
        const std::string field = fmt::format("spec.{}", key);
        check_share(*value, field, out);
        const std::string_view text =
            value->is_string() ? std::string_view(value->get_string()) : std::string_view();
        if (text.ends_with('%') && text.size() > 3 && text != "100%" && text[0] != '0') {
            out.wrong(field, *value, "must not be greater than 100%");
        }
    }
}

void check_request(const json::object& request, const std::string& place, Causes& out) {
    const std::string_view name = text_at(request, "name");
    if (name.empty()) {
        out.required(place + ".name");
    } else {
        out.wrong(place + ".name", json::value(name), check_dns_label(name));
    }
    const json::object* exactly = kube::object_at(request, "exactly");
    const bool has_choice = !list_in(request, "firstAvailable").empty();
    if (exactly == nullptr && !has_choice) {
        out.required(place, "exactly one of `exactly` or `firstAvailable` is required");
    }
    if (exactly == nullptr) { return; }
    const std::string at = place + ".exactly";
    const std::string_view device_class = text_at(*exactly, "deviceClassName");
    if (device_class.empty()) {
        out.required(at + ".deviceClassName");
    } else {
        out.wrong(at + ".deviceClassName", json::value(device_class),
                  check_subdomain(device_class));
    }
    const std::string_view mode = text_at(*exactly, "allocationMode");
    constexpr std::array<std::string_view, 2> modes{"All", "ExactCount"};
    if (std::ranges::find(modes, mode) == modes.end()) {
        out.unsupported(at + ".allocationMode", json::value(mode), modes);
    } else if (mode == "ExactCount" && int_at(*exactly, "count") <= 0) {
        out.wrong(at + ".count", json::value(int_at(*exactly, "count")),
                  "must be greater than zero");
    }
}

void check_claim(const json::object& spec, const std::string& path, Causes& out) {
    std::set<std::string_view> names;
    std::size_t index = 0;
    for (const json::value& one : list_in(spec, "devices.requests")) {
        const std::string place = fmt::format("{}.devices.requests[{}]", path, index++);
        if (!one.is_object()) { continue; }
        if (!names.insert(text_at(one.get_object(), "name")).second) { out.duplicate(place, one); }
        check_request(one.get_object(), place, out);
    }
}

void check_slice(const json::object& spec, Causes& out) {
    constexpr std::array<FieldRule, 4> rules{{
        {"driver", MustBe::there},
        {"driver", MustBe::dns_subdomain},
        {"pool.resourceSliceCount", MustBe::above_zero, "must be greater than zero"},
        {"devices[].name", MustBe::dns_label},
    }};
    check_rules(rules, spec, "spec", out);
    const json::object& pool = map_in(spec, "pool");
    if (text_at(pool, "name").empty()) { out.required("spec.pool.name"); }
    if (!pool.contains("resourceSliceCount")) {
        out.wrong("spec.pool.resourceSliceCount", json::value(0), "must be greater than zero");
    }
    const int nodes = (text_at(spec, "nodeName").empty() ? 0 : 1) +
                      (spec.contains("nodeSelector") ? 1 : 0) +
                      (kube::flag_at(spec, "allNodes") ? 1 : 0) +
                      (kube::flag_at(spec, "perDeviceNodeSelection") ? 1 : 0);
    if (nodes == 0) {
        out.required("spec",
                     "exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                     "`perDeviceNodeSelection` is required");
    }
}

void check_device_class(const json::object& spec, Causes& out) {
    std::size_t index = 0;
    for (const json::value& one : list_in(spec, "selectors")) {
        const std::string place = fmt::format("spec.selectors[{}].cel", index++);
        if (one.is_object() && kube::object_at(one.get_object(), "cel") == nullptr) {
            out.required(place);
        }
    }
}

}  // namespace

void check_scheduling(const ResourceType& type, const json::object& object, Causes& out) {
    const json::object& spec = map_in(object, "spec");
    if (type.plural == "priorityclasses") { return check_priority(object, out); }
    if (type.plural == "podgroups") { return check_policy(spec, "spec", out); }
    if (type.plural == "workloads") { return check_upstream_workload(object, out); }
    if (type.plural == "poddisruptionbudgets") { return check_budget(object, out); }
    if (type.plural == "leases") {
        constexpr std::array<FieldRule, 2> rules{{
            {"leaseDurationSeconds", MustBe::above_zero},
            {"leaseTransitions", MustBe::not_negative},
        }};
        return check_rules(rules, spec, "spec", out);
    }
    if (type.plural == "resourceclaims") { return check_claim(spec, "spec", out); }
    if (type.plural == "resourceclaimtemplates") {
        return check_claim(map_in(spec, "spec"), "spec.spec", out);
    }
    if (type.plural == "resourceslices") { return check_slice(spec, out); }
    if (type.plural == "deviceclasses") { return check_device_class(spec, out); }
}

void check_scheduling_update(const ResourceType& type, const json::object& now,
                             const json::object& before, Causes& out) {
    if (type.plural == "priorityclasses") {
        if (int_at(now, "value") != int_at(before, "value")) {
            out.forbidden("value", "may not be changed in an update.");
        }
        check_fixed(now, before, "preemptionPolicy", out);
    } else if (type.plural == "resourceclaims") {
        if (map_in(now, "spec") != map_in(before, "spec")) {
            out.wrong("spec", json::value(nullptr), "field is immutable");
        }
    } else if (type.plural == "resourceclaimtemplates") {
        check_fixed(now, before, "spec", out);
    } else if (type.plural == "workloads") {
        const json::array& had = list_in(before, "spec.podGroupTemplates");
        const json::array& has = list_in(now, "spec.podGroupTemplates");
        const auto is_in = [](const json::array& list, const json::value& item) {
            return std::ranges::any_of(list, [&](const json::value& one) {
                return one.is_object() && item.is_object() &&
                       text_at(one.get_object(), "name") == text_at(item.get_object(), "name");
            });
        };
        if (std::ranges::any_of(had, [&](const json::value& one) { return !is_in(has, one); })) {
            out.forbidden("spec.podGroupTemplates", "item may not be removed");
        }
        for (std::size_t i = 0; i < has.size(); ++i) {
            if (!is_in(had, has[i])) {
                out.forbidden(fmt::format("spec.podGroupTemplates[{}]", i),
                              "item may not be added");
            }
        }
    }
}

}  // namespace muster::lab
