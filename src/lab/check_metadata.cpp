#include "lab/check_metadata.h"

#include "lab/field_rules.h"
#include "lab/metadata.h"
#include "lab/names.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace muster::lab {

namespace json = boost::json;

namespace {

enum class NameRule : std::uint8_t { subdomain, label, old_label, any };

/// How the names of a kind are made up.
NameRule name_rule_of(const ResourceType& type) {
    const auto is = [&](std::string_view group, std::string_view plural) {
        return type.group == group && type.plural == plural;
    };
    if (is("", "services")) { return NameRule::label; }
    if (is("", "events") || is("policy", "poddisruptionbudgets")) { return NameRule::any; }
    if (is("", "namespaces")) { return NameRule::old_label; }
    if (is("apps", "statefulsets")) { return NameRule::old_label; }
    return NameRule::subdomain;
}

/// Names are counted in characters where other texts are in bytes.
std::vector<std::string> in_characters(std::vector<std::string> wrong) {
    constexpr std::string_view bytes = " bytes";
    for (std::string& one : wrong) {
        if (one.ends_with(bytes)) {
            one.replace(one.size() - bytes.size(), bytes.size(), " characters");
        }
    }
    return wrong;
}

std::vector<std::string> check_name(NameRule rule, std::string_view name) {
    switch (rule) {
        case NameRule::subdomain: return in_characters(check_subdomain(name));
        case NameRule::label: return in_characters(check_dns_label(name));
        case NameRule::any: return {};
        case NameRule::old_label: {
            std::vector<std::string> out;
            constexpr std::size_t characters_max = 63;
            if (name.size() > characters_max) {
                out.push_back(fmt::format("must be no more than {} characters", characters_max));
            }
            if (name.find('.') != std::string_view::npos) {
                out.emplace_back("must not contain dots");
            } else if (const auto wrongs = check_subdomain(name); !wrongs.empty()) {
                // Only the form: the length was told.
                const auto form = check_dns_label(name.substr(0, characters_max));
                out.insert(out.end(), form.begin(), form.end());
            }
            return out;
        }
    }
    return {};
}

/// A prefix may end in a dash: something follows.
std::string without_dash(std::string_view prefix) {
    std::string out(prefix);
    if (out.size() > 1 && out.ends_with('-')) { out.back() = 'a'; }
    return out;
}

void check_finalizers(const json::object& metadata, Causes& out) {
    constexpr std::array<std::string_view, 3> standard{"foregroundDeletion", "kubernetes",
                                                       "orphan"};
    const json::array* finalizers = kube::array_at(metadata, "finalizers");
    if (finalizers == nullptr) { return; }
    std::size_t index = 0;
    bool has_foreground = false;
    bool has_orphan = false;
    for (const json::value& one : *finalizers) {
        const std::string place = fmt::format("metadata.finalizers[{}]", index++);
        if (!one.is_string()) { continue; }
        const std::string_view text = one.get_string();
        out.wrong("metadata.finalizers", one, check_qualified_name(text));
        if (text.find('/') == std::string_view::npos &&
            std::ranges::find(standard, text) == standard.end()) {
            out.wrong(place, one,
                      "name is neither a standard finalizer name nor is it fully qualified");
        }
        has_foreground = has_foreground || text == "foregroundDeletion";
        has_orphan = has_orphan || text == "orphan";
    }
    if (has_foreground && has_orphan) {
        out.wrong("metadata.finalizers", *finalizers,
                  "finalizer orphan and foregroundDeletion cannot be both set");
    }
}

void check_owners(const json::object& metadata, Causes& out) {
    const json::array* owners = kube::array_at(metadata, "ownerReferences");
    if (owners == nullptr) { return; }
    std::size_t index = 0;
    std::string controller;
    for (const json::value& one : *owners) {
        const std::string place = fmt::format("metadata.ownerReferences[{}]", index++);
        if (!one.is_object()) { continue; }
        const json::object& owner = one.get_object();
        if (text_at(owner, "apiVersion").empty()) {
            out.wrong(place + ".apiVersion", json::value(""), "version must not be empty");
        }
        for (const std::string_view key : {"kind", "name", "uid"}) {
            if (text_at(owner, key).empty()) {
                out.required(fmt::format("{}.{}", place, key), "must not be empty");
            }
        }
        if (text_at(owner, "kind") == "Event" && text_at(owner, "apiVersion") == "v1") {
            out.wrong(place, one, "/v1, Kind=Event is disallowed from being an owner");
        }
        if (!kube::flag_at(owner, "controller")) { continue; }
        const std::string name =
            fmt::format("{}/{}", text_at(owner, "kind"), text_at(owner, "name"));
        if (!controller.empty()) {
            out.wrong("metadata.ownerReferences", *owners,
                      fmt::format("Only one reference can have Controller set to true. Found "
                                  "\"true\" in references for {} and {}",
                                  controller, name));
        }
        controller = name;
    }
}

/// What creations and changes are both asked for.
void check_parts(const json::object& metadata, Causes& out) {
    if (const json::value* labels = metadata.if_contains("labels")) {
        check_label_map(*labels, "metadata.labels", out);
    }
    if (const json::value* annotations = metadata.if_contains("annotations")) {
        check_annotation_map(*annotations, "metadata.annotations", out);
    }
    check_finalizers(metadata, out);
    check_owners(metadata, out);
}

}  // namespace

void check_metadata(const ResourceType& type, const json::object& object, Causes& out) {
    const json::object* metadata = kube::object_at(object, "metadata");
    if (metadata == nullptr) { return; }
    const NameRule rule = name_rule_of(type);
    if (const std::string_view prefix = text_at(*metadata, "generateName"); !prefix.empty()) {
        out.wrong("metadata.generateName", json::value(prefix),
                  check_name(rule, without_dash(prefix)));
    }
    const std::string_view name = text_at(*metadata, "name");
    if (name.empty()) {
        out.required("metadata.name", "name or generateName is required");
    } else {
        out.wrong("metadata.name", json::value(name), check_name(rule, name));
    }
    check_parts(*metadata, out);
}

void check_metadata_update(const json::object& now, const json::object& before, Causes& out) {
    const json::object* metadata = kube::object_at(now, "metadata");
    if (metadata == nullptr) { return; }
    check_parts(*metadata, out);
    if (!is_leaving(before)) { return; }
    const json::array* had = kube::array_at(before, "metadata.finalizers");
    const json::array* has = kube::array_at(now, "metadata.finalizers");
    std::string added;
    for (const json::value& one : has == nullptr ? json::array() : *has) {
        if (!one.is_string() || (had != nullptr && std::ranges::find(*had, one) != had->end())) {
            continue;
        }
        added += fmt::format("{}{}", added.empty() ? "" : ", ", json::serialize(one));
    }
    if (!added.empty()) {
        out.forbidden("metadata.finalizers",
                      fmt::format("no new finalizers can be added if the object is being deleted, "
                                  "found new finalizers []string{{{}}}",
                                  added));
    }
}

}  // namespace muster::lab
