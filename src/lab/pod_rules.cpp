#include "base/text.h"
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

void fill(json::object& object, std::string_view key, json::value value) {
    if (!object.contains(key)) { object[key] = std::move(value); }
}

json::array* list_in(json::object& object, std::string_view key) {
    json::value* found = object.if_contains(key);
    return found == nullptr ? nullptr : found->if_array();
}

void fill_probe(json::object& container, std::string_view key) {
    json::value* found = container.if_contains(key);
    if (found == nullptr || !found->is_object()) { return; }
    json::object& probe = found->get_object();
    fill(probe, "timeoutSeconds", 1);
    fill(probe, "periodSeconds", 10);
    fill(probe, "successThreshold", 1);
    fill(probe, "failureThreshold", 3);
    if (json::value* get = probe.if_contains("httpGet"); get != nullptr && get->is_object()) {
        fill(get->get_object(), "path", "/");
        fill(get->get_object(), "scheme", "HTTP");
    }
}

void fill_container(json::object& container) {
    const std::string_view image = text_at(container, "image");
    const std::size_t slash = image.rfind('/');
    const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash);
    const bool is_latest = last.find('@') == std::string_view::npos &&
                           (last.find(':') == std::string_view::npos || last.ends_with(":latest"));
    fill(container, "resources", json::object());
    fill(container, "terminationMessagePath", "/dev/termination-log");
    fill(container, "terminationMessagePolicy", "File");
    fill(container, "imagePullPolicy", is_latest ? "Always" : "IfNotPresent");
    if (json::array* ports = list_in(container, "ports")) {
        for (json::value& port : *ports) {
            if (port.is_object()) { fill(port.get_object(), "protocol", "TCP"); }
        }
    }
    for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
        fill_probe(container, probe);
    }
    // A limit is a request where none is said.
    json::value& resources = container["resources"];
    const json::value* limits =
        resources.is_object() ? resources.get_object().if_contains("limits") : nullptr;
    if (limits == nullptr || !limits->is_object()) { return; }
    const json::object copy = limits->get_object();
    json::object& requests = child(resources.get_object(), "requests");
    for (const auto& [name, amount] : copy) { fill(requests, name, amount); }
}

ApiCause required(std::string field, std::string_view why = "") {
    return {.reason = "FieldValueRequired",
            .message = why.empty() ? "Required value" : fmt::format("Required value: {}", why),
            .field = std::move(field)};
}

ApiCause wrong(std::string field, const json::value& value, std::string_view why) {
    return {.reason = "FieldValueInvalid",
            .message = fmt::format("Invalid value: {}: {}", json::serialize(value), why),
            .field = std::move(field)};
}

void check_amounts(const json::object& container, std::string_view which, const std::string& path,
                   std::vector<ApiCause>& out) {
    const json::value* found = value_at(container, fmt::format("resources.{}", which));
    if (found == nullptr || !found->is_object()) { return; }
    const json::value* limits = value_at(container, "resources.limits");
    for (const auto& [name, amount] : found->get_object()) {
        const std::string field =
            fmt::format("{}.resources.{}[{}]", path, which, std::string_view(name));
        const std::string text =
            amount.is_string() ? std::string(amount.get_string()) : json::serialize(amount);
        const auto value = parse_quantity_milli(text);
        if (!value || *value < 0) {
            out.push_back(wrong(field, amount, "must be greater than or equal to 0"));
            continue;
        }
        const bool is_extended = std::string_view(name).find('/') != std::string_view::npos;
        if (is_extended && *value % 1'000 != 0) {
            out.push_back(wrong(field, amount, "must be an integer"));
        }
        if (!is_extended || which != "requests") { continue; }
        const json::value* limit = limits == nullptr || !limits->is_object()
                                       ? nullptr
                                       : limits->get_object().if_contains(name);
        const std::string limit_text = limit == nullptr     ? std::string()
                                       : limit->is_string() ? std::string(limit->get_string())
                                                            : json::serialize(*limit);
        const auto most = parse_quantity_milli(limit_text);
        if (limit == nullptr || !most || *most != *value) {
            out.push_back(
                wrong(field, amount,
                      fmt::format("must be equal to {} limit of {}", std::string_view(name),
                                  limit == nullptr ? "0" : limit_text)));
        }
    }
}

}  // namespace

void fill_pod_spec(json::object& spec) {
    for (const std::string_view list : {"initContainers", "containers"}) {
        json::array* containers = list_in(spec, list);
        if (containers == nullptr) { continue; }
        for (json::value& container : *containers) {
            if (container.is_object()) { fill_container(container.get_object()); }
        }
    }
    fill(spec, "restartPolicy", "Always");
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "securityContext", json::object());
    fill(spec, "schedulerName", "default-scheduler");
}

std::vector<ApiCause> check_pod_spec(const json::object& spec, std::string_view path) {
    std::vector<ApiCause> out;
    const json::value* containers = spec.if_contains("containers");
    if (containers == nullptr || !containers->is_array() || containers->get_array().empty()) {
        out.push_back(required(fmt::format("{}.containers", path)));
    }
    std::set<std::string> names;
    for (const std::string_view list : {"initContainers", "containers"}) {
        const json::value* found = spec.if_contains(list);
        if (found == nullptr || !found->is_array()) { continue; }
        std::size_t index = 0;
        for (const json::value& one : found->get_array()) {
            const std::string where = fmt::format("{}.{}[{}]", path, list, index++);
            if (!one.is_object()) { continue; }
            const json::object& container = one.get_object();
            const std::string name(text_at(container, "name"));
            if (name.empty()) {
                out.push_back(required(where + ".name"));
            } else if (const auto wrongs = check_dns_label(name); !wrongs.empty()) {
                for (const std::string& why : wrongs) {
                    out.push_back(wrong(where + ".name", json::value(name), why));
                }
            } else if (!names.insert(name).second) {
                out.push_back({.reason = "FieldValueDuplicate",
                               .message = fmt::format("Duplicate value: \"{}\"", name),
                               .field = where + ".name"});
            }
            if (text_at(container, "image").empty()) { out.push_back(required(where + ".image")); }
            check_amounts(container, "limits", where, out);
            check_amounts(container, "requests", where, out);
        }
    }
    constexpr std::array<std::string_view, 3> policies{"Always", "OnFailure", "Never"};
    const std::string_view policy = text_at(spec, "restartPolicy");
    if (std::find(policies.begin(), policies.end(), policy) == policies.end()) {
        out.push_back({.reason = "FieldValueNotSupported",
                       .message = fmt::format("Unsupported value: \"{}\": supported values: "
                                              "\"Always\", \"OnFailure\", \"Never\"",
                                              policy),
                       .field = fmt::format("{}.restartPolicy", path)});
    }
    if (int_at(spec, "terminationGracePeriodSeconds") < 0) {
        out.push_back(wrong(fmt::format("{}.terminationGracePeriodSeconds", path),
                            *value_at(spec, "terminationGracePeriodSeconds"),
                            "must be greater than or equal to 0"));
    }
    return out;
}

std::string_view qos_class(const json::object& spec) {
    bool has_any = false;
    bool is_guaranteed = true;
    for (const std::string_view list : {"initContainers", "containers"}) {
        const json::value* found = spec.if_contains(list);
        if (found == nullptr || !found->is_array()) { continue; }
        for (const json::value& one : found->get_array()) {
            if (!one.is_object()) { continue; }
            for (const std::string_view name : {"cpu", "memory"}) {
                const json::value* limit =
                    value_at(one.get_object(), fmt::format("resources.limits.{}", name));
                const json::value* request =
                    value_at(one.get_object(), fmt::format("resources.requests.{}", name));
                has_any = has_any || limit != nullptr || request != nullptr;
                if (limit == nullptr || (request != nullptr && *request != *limit)) {
                    is_guaranteed = false;
                }
            }
        }
    }
    if (!has_any) { return "BestEffort"; }
    return is_guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace muster::lab
