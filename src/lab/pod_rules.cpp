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
    if (json::array* variables = list_in(container, "env")) {
        for (json::value& one : *variables) {
            if (!one.is_object()) { continue; }
            json::value* from = one.get_object().if_contains("valueFrom");
            json::value* field = from == nullptr || !from->is_object()
                                     ? nullptr
                                     : from->get_object().if_contains("fieldRef");
            if (field != nullptr && field->is_object()) {
                fill(field->get_object(), "apiVersion", "v1");
            }
        }
    }
    for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
        fill_probe(container, probe);
    }
}

void fill_volume(json::object& volume) {
    const auto at = [](json::object& object, std::string_view key) {
        json::value* found = object.if_contains(key);
        return found == nullptr ? nullptr : found->if_object();
    };
    if (volume.size() == 1 && volume.contains("name")) { volume["emptyDir"] = json::object(); }
    for (const std::string_view key : {"configMap", "secret", "downwardAPI", "projected"}) {
        if (json::object* source = at(volume, key)) { fill(*source, "defaultMode", 420); }
    }
    if (json::object* host = at(volume, "hostPath")) { fill(*host, "type", ""); }
    const auto fill_items = [&](json::object& source) {
        json::array* items = list_in(source, "items");
        if (items == nullptr) { return; }
        for (json::value& item : *items) {
            json::object* field = item.is_object() ? at(item.get_object(), "fieldRef") : nullptr;
            if (field != nullptr) { fill(*field, "apiVersion", "v1"); }
        }
    };
    if (json::object* source = at(volume, "downwardAPI")) { fill_items(*source); }
    json::object* projected = at(volume, "projected");
    json::array* sources = projected == nullptr ? nullptr : list_in(*projected, "sources");
    if (sources == nullptr) { return; }
    for (json::value& one : *sources) {
        if (!one.is_object()) { continue; }
        if (json::object* token = at(one.get_object(), "serviceAccountToken")) {
            fill(*token, "expirationSeconds", 3'600);
        }
        if (json::object* source = at(one.get_object(), "downwardAPI")) { fill_items(*source); }
    }
}

}  // namespace

void fill_pod_spec(json::object& spec) {
    if (json::array* volumes = list_in(spec, "volumes")) {
        for (json::value& volume : *volumes) {
            if (volume.is_object()) { fill_volume(volume.get_object()); }
        }
    }
    for (const std::string_view list : {"initContainers", "containers"}) {
        json::array* containers = list_in(spec, list);
        if (containers == nullptr) { continue; }
        for (json::value& container : *containers) {
            if (container.is_object()) { fill_container(container.get_object()); }
        }
    }
    fill(spec, "restartPolicy", "Always");
    // The older of two names for the same.
    if (const std::string account(text_at(spec, "serviceAccountName")); !account.empty()) {
        spec["serviceAccount"] = account;
    }
    fill(spec, "terminationGracePeriodSeconds", 30);
    // Below zero there was no rule once; it means at once.
    if (int_at(spec, "terminationGracePeriodSeconds") < 0) {
        spec["terminationGracePeriodSeconds"] = 1;
    }
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "securityContext", json::object());
    fill(spec, "schedulerName", "default-scheduler");
}

void fill_pod_requests(json::object& spec) {
    for (const std::string_view list : {"initContainers", "containers"}) {
        json::array* containers = list_in(spec, list);
        if (containers == nullptr) { continue; }
        for (json::value& one : *containers) {
            json::value* resources =
                one.is_object() ? one.get_object().if_contains("resources") : nullptr;
            const json::value* limits = resources == nullptr || !resources->is_object()
                                            ? nullptr
                                            : resources->get_object().if_contains("limits");
            if (limits == nullptr || !limits->is_object()) { continue; }
            const json::object copy = limits->get_object();
            json::object& requests = child(resources->get_object(), "requests");
            for (const auto& [name, amount] : copy) { fill(requests, name, amount); }
        }
    }
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
