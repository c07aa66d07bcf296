// Namespaces, events, services, and what is stored for pods to use.
#include "base/text.h"
#include "lab/table.h"
#include "lab/table_kinds.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace muster::lab {

namespace json = boost::json;

namespace {

json::array namespace_cells(const json::object& object, std::int64_t now) {
    return {own_name(object), text_of(object, "status.phase"), own_age(object, now)};
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    return text;
}

/// Events of both groups: what one calls `involvedObject`, `message`, `source` is `regarding`,
/// `note`, `deprecatedSource` in the other.
std::string either(const json::object& event, std::string_view one, std::string_view other) {
    const std::string text = text_of(event, one);
    return text.empty() ? text_of(event, other) : text;
}

std::string event_age(const json::object& event, std::string_view core, std::string_view newer,
                      std::int64_t now) {
    if (time_of(event, core)) { return age_of(event, core, now); }
    return age_of(event, newer, now);
}

json::array event_cells(const json::object& event, std::int64_t now) {
    const std::string first =
        time_of(event, "firstTimestamp") || time_of(event, "deprecatedFirstTimestamp")
            ? event_age(event, "firstTimestamp", "deprecatedFirstTimestamp", now)
            : age_of(event, "eventTime", now);
    std::string last = first;
    std::int64_t count = std::max<std::int64_t>(
        {integer_of(event, "count"), integer_of(event, "deprecatedCount"), 1});
    if (!map_of(event, "series").empty()) {
        last = age_of(event, "series.lastObservedTime", now);
        count = integer_of(event, "series.count");
    } else if (time_of(event, "lastTimestamp") || time_of(event, "deprecatedLastTimestamp")) {
        last = event_age(event, "lastTimestamp", "deprecatedLastTimestamp", now);
    }
    std::string target = lower_case(either(event, "involvedObject.kind", "regarding.kind"));
    if (const std::string name = either(event, "involvedObject.name", "regarding.name");
        !name.empty()) {
        target += "/" + name;
    }
    std::string source = either(event, "source.component", "deprecatedSource.component");
    if (source.empty()) { source = either(event, "reportingComponent", "reportingController"); }
    std::string host = either(event, "source.host", "deprecatedSource.host");
    if (host.empty()) { host = text_of(event, "reportingInstance"); }
    if (!host.empty()) { source += ", " + host; }
    const std::string message = either(event, "message", "note");
    return {last,
            text_of(event, "type"),
            text_of(event, "reason"),
            target,
            either(event, "involvedObject.fieldPath", "regarding.fieldPath"),
            source,
            std::string(trim(message)),
            first,
            count,
            own_name(event)};
}

json::array config_map_cells(const json::object& object, std::int64_t now) {
    return {own_name(object), map_of(object, "data").size() + map_of(object, "binaryData").size(),
            own_age(object, now)};
}

json::array secret_cells(const json::object& object, std::int64_t now) {
    return {own_name(object), text_of(object, "type"), map_of(object, "data").size(),
            own_age(object, now)};
}

json::array plain_cells(const json::object& object, std::int64_t now) {
    return {own_name(object), own_age(object, now)};
}

/// Kinds for which Kubernetes has no printer show the time itself.
/// Its versions, and which of them is stored: "v1(storage),v1beta1".
json::array definition_cells(const json::object& object, std::int64_t) {
    std::string versions;
    for (const json::value& one : list_of(object, "spec.versions")) {
        if (!one.is_object()) { continue; }
        versions +=
            fmt::format("{}{}{}", versions.empty() ? "" : ",", text_of(one.get_object(), "name"),
                        flag_of(one.get_object(), "storage") ? "(storage)" : "");
    }
    std::string names;
    for (const json::value& one : list_of(object, "spec.names.shortNames")) {
        if (!one.is_string()) { continue; }
        names += fmt::format("{}{}", names.empty() ? "" : ",", std::string_view(one.get_string()));
    }
    return {own_name(object),
            text_of(object, "spec.scope"),
            versions,
            text_of(object, "metadata.creationTimestamp"),
            text_of(object, "spec.group"),
            text_of(object, "spec.names.kind"),
            names,
            is_condition_true(object, "Established")};
}

json::array created_cells(const json::object& object, std::int64_t) {
    return {own_name(object), text_of(object, "metadata.creationTimestamp")};
}

std::string ports_text(const json::object& service) {
    std::vector<std::string> out;
    for (const json::value& one : list_of(service, "spec.ports")) {
        if (!one.is_object()) { continue; }
        const json::object& port = one.get_object();
        const std::int64_t node_port = integer_of(port, "nodePort");
        const std::string at = node_port > 0 ? fmt::format(":{}", node_port) : "";
        out.push_back(
            fmt::format("{}{}/{}", integer_of(port, "port"), at, text_of(port, "protocol", "TCP")));
    }
    return out.empty() ? "<none>" : fmt::format("{}", fmt::join(out, ","));
}

std::string external_address(const json::object& service) {
    const std::string type = text_of(service, "spec.type");
    if (type == "ExternalName") { return text_of(service, "spec.externalName"); }
    std::vector<std::string> out;
    if (type == "LoadBalancer") {
        std::set<std::string> balancers;
        for (const json::value& one : list_of(service, "status.loadBalancer.ingress")) {
            if (!one.is_object()) { continue; }
            balancers.insert(
                text_of(one.get_object(), "ip", text_of(one.get_object(), "hostname")));
        }
        out.assign(balancers.begin(), balancers.end());
    } else if (type != "ClusterIP" && type != "NodePort") {
        return "<unknown>";
    }
    for (const json::value& one : list_of(service, "spec.externalIPs")) {
        if (one.is_string()) { out.emplace_back(one.get_string()); }
    }
    if (out.empty()) { return type == "LoadBalancer" ? "<pending>" : "<none>"; }
    return fmt::format("{}", fmt::join(out, ","));
}

json::array service_cells(const json::object& service, std::int64_t now) {
    const json::array& addresses = list_of(service, "spec.clusterIPs");
    const bool has_address = !addresses.empty() && addresses[0].is_string();
    return {own_name(service),
            text_of(service, "spec.type"),
            has_address ? std::string(addresses[0].get_string()) : "<none>",
            external_address(service),
            ports_text(service),
            own_age(service, now),
            labels_text(map_of(service, "spec.selector"))};
}

/// "pods: 2/10, requests.cpu: 1/4" and the same of what begins with "limits.".
json::array quota_cells(const json::object& quota, std::int64_t now) {
    const json::object& hard = map_of(quota, "status.hard");
    const json::object& used = map_of(quota, "status.used");
    std::set<std::string> names;
    for (const auto& [name, value] : hard) { names.emplace(name); }
    std::vector<std::string> requests;
    std::vector<std::string> limits;
    for (const std::string& name : names) {
        const auto amount = [&](const json::object& amounts) -> std::string {
            const json::value* found = amounts.if_contains(name);
            if (found == nullptr) { return "0"; }
            return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
        };
        auto& column = name.starts_with("limits.") ? limits : requests;
        column.push_back(fmt::format("{}: {}/{}", name, amount(used), amount(hard)));
    }
    return {own_name(quota), fmt::format("{}", fmt::join(requests, ", ")),
            fmt::format("{}", fmt::join(limits, ", ")), own_age(quota, now)};
}

constexpr TableColumn created_column{.name = "Created At", .type = "date"};

const std::vector<TableColumn>& event_columns() {
    static const std::vector<TableColumn> all = {
        {.name = "Last Seen"},
        {.name = "Type"},
        {.name = "Reason"},
        {.name = "Object"},
        {.name = "Subobject", .priority = 1},
        {.name = "Source", .priority = 1},
        {.name = "Message"},
        {.name = "First Seen", .priority = 1},
        {.name = "Count", .priority = 1},
        {.name = "Name", .format = "name", .priority = 1},
    };
    return all;
}

}  // namespace

std::span<const KindTable> core_tables() {
    static const std::vector<KindTable> all = {
        {"", "Namespace", {name_column, {.name = "Status"}, age_column}, namespace_cells},
        {"", "Event", event_columns(), event_cells},
        {"events.k8s.io", "Event", event_columns(), event_cells},
        {"", "ConfigMap", {name_column, {.name = "Data"}, age_column}, config_map_cells},
        {"", "Secret", {name_column, {.name = "Type"}, {.name = "Data"}, age_column}, secret_cells},
        {"", "ServiceAccount", {name_column, age_column}, plain_cells},
        {"", "LimitRange", {name_column, created_column}, created_cells},
        {"apiextensions.k8s.io",
         "CustomResourceDefinition",
         {name_column,
          {.name = "Scope"},
          {.name = "Versions"},
          created_column,
          {.name = "Group", .priority = 1},
          {.name = "Kind", .priority = 1},
          {.name = "ShortNames", .priority = 1},
          {.name = "Established", .type = "boolean", .priority = 1}},
         definition_cells},
        {"",
         "Service",
         {name_column,
          {.name = "Type"},
          {.name = "Cluster-IP"},
          {.name = "External-IP"},
          {.name = "Port(s)"},
          age_column,
          selector_column},
         service_cells},
        {"",
         "ResourceQuota",
         {name_column, {.name = "Request"}, {.name = "Limit"}, age_column},
         quota_cells},
    };
    return all;
}

}  // namespace muster::lab
