#include "lab/discovery.h"

#include "base/text.h"
#include "lab/verbs.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;

namespace {

template <class Texts>
json::array texts(const Texts& all) {
    json::array out;
    for (const auto& one : all) { out.emplace_back(std::string_view(one)); }
    return out;
}

/// In the order in which they first come.
std::vector<std::string_view> groups_of(Served served) {
    std::vector<std::string_view> out;
    for (const ResourceType& type : served) {
        if (std::ranges::find(out, type.group) == out.end()) { out.emplace_back(type.group); }
    }
    return out;
}

std::vector<std::string_view> versions_of(Served served, std::string_view group) {
    std::vector<std::string_view> out;
    for (const ResourceType& type : served) {
        if (type.group == group && std::ranges::find(out, type.version) == out.end()) {
            out.emplace_back(type.version);
        }
    }
    return out;
}

std::string group_version(std::string_view group, std::string_view version) {
    return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

json::object group_entry(Served served, std::string_view group) {
    json::array versions;
    for (const std::string_view version : versions_of(served, group)) {
        versions.emplace_back(
            json::object{{"groupVersion", group_version(group, version)}, {"version", version}});
    }
    const json::value preferred = versions.empty() ? json::value() : versions.front();
    return {{"name", group}, {"versions", std::move(versions)}, {"preferredVersion", preferred}};
}

json::object resource_entry(const ResourceType& type) {
    json::object out{{"name", type.plural},
                     {"singularName", type.singular},
                     {"namespaced", type.is_namespaced},
                     {"kind", type.kind},
                     {"verbs", texts(verbs_of(type))}};
    if (!type.short_names.empty()) { out["shortNames"] = texts(type.short_names); }
    if (!type.categories.empty()) { out["categories"] = texts(type.categories); }
    return out;
}

json::object subresource_entry(const ResourceType& type, std::string_view subresource) {
    const ResourceKind kind = kind_of_subresource(type, subresource);
    json::object out{{"name", fmt::format("{}/{}", type.plural, subresource)},
                     {"singularName", ""},
                     {"namespaced", type.is_namespaced}};
    if (kind.group != type.group || kind.version != type.version) {
        out["group"] = kind.group;
        out["version"] = kind.version;
    }
    out["kind"] = kind.kind;
    out["verbs"] = texts(verbs_of_subresource(subresource));
    return out;
}

/// Its group and version are told only where they are others than those of the document.
json::object response_kind(const ResourceType& type, const ResourceKind& kind) {
    const bool is_own = kind.group == type.group && kind.version == type.version;
    return {{"group", is_own ? "" : kind.group},
            {"version", is_own ? "" : kind.version},
            {"kind", kind.kind}};
}

json::object aggregated_resource(const ResourceType& type) {
    json::object out{{"resource", type.plural},
                     {"responseKind", response_kind(type, {type.group, type.version, type.kind})},
                     {"scope", type.is_namespaced ? "Namespaced" : "Cluster"},
                     {"singularResource", type.singular}};
    if (!type.short_names.empty()) { out["shortNames"] = texts(type.short_names); }
    if (!type.categories.empty()) { out["categories"] = texts(type.categories); }
    json::array subresources;
    for (const std::string& one : type.subresources) {
        subresources.emplace_back(
            json::object{{"responseKind", response_kind(type, kind_of_subresource(type, one))},
                         {"subresource", one},
                         {"verbs", texts(verbs_of_subresource(one))}});
    }
    if (!subresources.empty()) { out["subresources"] = std::move(subresources); }
    out["verbs"] = texts(verbs_of(type));
    return out;
}

/// "37" → "36": the oldest that goes together with it.
std::string one_less(std::string_view number) {
    const auto value = parse_int("minor version", number, 0, INT32_MAX);
    return std::to_string(value && *value > 0 ? *value - 1 : 0);
}

}  // namespace

json::object version_info(std::string_view kubernetes) {
    const std::vector<std::string_view> parts = split(kubernetes, '.');
    const std::string_view major = parts[0];
    const std::string_view minor = parts.size() > 1 ? parts[1] : std::string_view("0");
    return {{"major", major},
            {"minor", minor},
            {"emulationMajor", major},
            {"emulationMinor", minor},
            {"minCompatibilityMajor", major},
            {"minCompatibilityMinor", one_less(minor)},
            {"gitVersion", fmt::format("v{}+muster", kubernetes)},
            {"gitCommit", ""},
            {"gitTreeState", ""},
            {"buildDate", "1970-01-01T00:00:00Z"},
            {"goVersion", ""},
            {"compiler", ""},
            {"platform", ""}};
}

json::object api_versions() {
    return {{"kind", "APIVersions"},
            {"versions", texts(std::vector<std::string_view>{"v1"})},
            {"serverAddressByClientCIDRs", json::array()}};
}

json::object api_groups(Served served) {
    json::array groups;
    for (const std::string_view group : groups_of(served)) {
        if (!group.empty()) { groups.emplace_back(group_entry(served, group)); }
    }
    return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

json::object api_group(Served served, std::string_view group) {
    if (group.empty() || versions_of(served, group).empty()) { return {}; }
    json::object out{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
    for (auto& [key, value] : group_entry(served, group)) { out[key] = value; }
    return out;
}

json::object api_resources(Served served, std::string_view group, std::string_view version) {
    json::array resources;
    for (const ResourceType& type : served) {
        if (type.group != group || type.version != version) { continue; }
        resources.emplace_back(resource_entry(type));
        for (const std::string& one : type.subresources) {
            resources.emplace_back(subresource_entry(type, one));
        }
    }
    if (resources.empty()) { return {}; }
    json::object out{{"kind", "APIResourceList"}};
    if (!group.empty()) { out["apiVersion"] = "v1"; }  // the core group's document has none
    out["groupVersion"] = group_version(group, version);
    out["resources"] = std::move(resources);
    return out;
}

json::object aggregated(Served served, bool is_core) {
    json::array items;
    for (const std::string_view group : groups_of(served)) {
        if (group.empty() != is_core) { continue; }
        json::array versions;
        for (const std::string_view version : versions_of(served, group)) {
            json::array resources;
            for (const ResourceType& type : served) {
                if (type.group != group || type.version != version) { continue; }
                resources.emplace_back(aggregated_resource(type));
            }
            versions.emplace_back(json::object{{"freshness", "Current"},
                                               {"resources", std::move(resources)},
                                               {"version", version}});
        }
        json::object metadata;
        if (!is_core) { metadata["name"] = group; }
        items.emplace_back(
            json::object{{"metadata", std::move(metadata)}, {"versions", std::move(versions)}});
    }
    return {{"kind", "APIGroupDiscoveryList"},
            {"apiVersion", "apidiscovery.k8s.io/v2"},
            {"metadata", json::object()},
            {"items", std::move(items)}};
}

json::object openapi_index(Served served) {
    json::object paths;
    for (const ResourceType& type : served) {
        const std::string path = (type.group.empty() ? "api/" : "apis/") + type.api_version();
        paths[path] = json::object{{"serverRelativeURL", "/openapi/v3/" + path}};
    }
    return {{"paths", std::move(paths)}};
}

}  // namespace muster::lab
