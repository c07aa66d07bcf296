#include "lab/quota_usage.h"

#include "lab/kind_rules.h"
#include "lab/metadata.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr Quantity one{.milli = 1'000, .is_binary = false};

/// Those that are counted under their own name too.
constexpr std::array<std::string_view, 4> plain_counts{"services", "secrets", "configmaps",
                                                       "resourcequotas"};
constexpr std::array<std::string_view, 6> must_be_said{
    "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"};

template <class List>
bool has(const List& list, std::string_view name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

/// "count/jobs.batch" of "batch/jobs".
std::string count_name(std::string_view resource) {
    const std::size_t slash = resource.find('/');
    if (slash == std::string_view::npos) { return fmt::format("count/{}", resource); }
    return fmt::format("count/{}.{}", resource.substr(slash + 1), resource.substr(0, slash));
}

bool is_plain_and_requested(std::string_view name) {
    return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
           name.starts_with("hugepages-");
}

void count_pod(const json::object& pod, ResourceList& out) {
    if (is_over(pod)) { return; }
    out["pods"] = one;
    const json::object* spec = kube::object_at(pod, "spec");
    if (spec == nullptr) { return; }
    for (const auto& [name, amount] : pod_amounts(*spec, "requests")) {
        if (is_plain_and_requested(name)) { out[name] = amount; }
        out["requests." + name] = amount;
    }
    for (const auto& [name, amount] : pod_amounts(*spec, "limits")) {
        if (name == "cpu" || name == "memory" || name == "ephemeral-storage") {
            out["limits." + name] = amount;
        }
    }
}

void count_service(const json::object& service, ResourceList& out) {
    const std::string_view type = text_at(service, "spec.type");
    const json::array* ports = kube::array_at(service, "spec.ports");
    if (type == "LoadBalancer") { out["services.loadbalancers"] = one; }
    if (type == "NodePort" || type == "LoadBalancer") {
        const auto count = static_cast<std::int64_t>(ports == nullptr ? 0 : ports->size());
        out["services.nodeports"] = Quantity{.milli = count * 1'000, .is_binary = false};
    }
}

/// Devices by their class; of an alternative the most that it may come to.
void count_claim(const json::object& claim, ResourceList& out) {
    constexpr std::int64_t all_devices_max = 32;  // of one claim, as the API bounds them
    const json::array* requests = kube::array_at(claim, "spec.devices.requests");
    if (requests == nullptr) { return; }
    const auto devices_of = [](const json::object& request, ResourceList& list) {
        const std::string_view name = text_at(request, "deviceClassName");
        if (name.empty()) { return; }
        const bool is_all = text_at(request, "allocationMode") == "All";
        const std::int64_t count = is_all ? all_devices_max : int_at(request, "count", 1);
        add(list[fmt::format("{}.deviceclass.resource.k8s.io/devices", name)],
            {.milli = count * 1'000, .is_binary = false});
    };
    for (const json::value& request : *requests) {
        if (!request.is_object()) { continue; }
        if (const json::object* exactly = kube::object_at(request.get_object(), "exactly")) {
            devices_of(*exactly, out);
        }
        const json::array* first = kube::array_at(request.get_object(), "firstAvailable");
        ResourceList most;
        for (const json::value& choice : first == nullptr ? json::array() : *first) {
            ResourceList its;
            if (choice.is_object()) { devices_of(choice.get_object(), its); }
            raise(most, its);
        }
        add(out, most);
    }
}

bool has_foreign_affinity(const json::object& pod) {
    for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
        for (const std::string_view list : {"requiredDuringSchedulingIgnoredDuringExecution",
                                            "preferredDuringSchedulingIgnoredDuringExecution"}) {
            const json::array* terms =
                kube::array_at(pod, fmt::format("spec.affinity.{}.{}", kind, list));
            if (terms == nullptr) { continue; }
            for (const json::value& term : *terms) {
                if (!term.is_object()) { continue; }
                const json::object* inner = kube::object_at(term.get_object(), "podAffinityTerm");
                const json::object& its = inner == nullptr ? term.get_object() : *inner;
                const json::array* spaces = kube::array_at(its, "namespaces");
                if ((spaces != nullptr && !spaces->empty()) ||
                    kube::object_at(its, "namespaceSelector") != nullptr) {
                    return true;
                }
            }
        }
    }
    return false;
}

bool matches(const QuotaScope& scope, const json::object& pod) {
    const json::object* spec = kube::object_at(pod, "spec");
    if (spec == nullptr) { return false; }
    const json::value* deadline = spec->if_contains("activeDeadlineSeconds");
    const bool has_end = deadline != nullptr && !deadline->is_null();
    if (scope.name == "Terminating") { return has_end; }
    if (scope.name == "NotTerminating") { return !has_end; }
    if (scope.name == "BestEffort") { return qos_class(*spec) == "BestEffort"; }
    if (scope.name == "NotBestEffort") { return qos_class(*spec) != "BestEffort"; }
    if (scope.name == "CrossNamespacePodAffinity") { return has_foreign_affinity(pod); }
    if (scope.name != "PriorityClass") { return false; }
    const std::string_view name = text_at(*spec, "priorityClassName");
    if (scope.selects == "In") { return has(scope.values, name); }
    if (scope.selects == "NotIn") { return !has(scope.values, name); }
    return name.empty() == (scope.selects == "DoesNotExist");
}

}  // namespace

QuotaSpec read_quota(const json::object& quota) {
    QuotaSpec out{.hard = read_list(value_at(quota, "spec.hard")), .scopes = {}};
    if (const json::array* scopes = kube::array_at(quota, "spec.scopes")) {
        for (const json::value& scope : *scopes) {
            if (!scope.is_string()) { continue; }
            out.scopes.push_back(
                {.name = std::string(scope.get_string()), .selects = "Exists", .values = {}});
        }
    }
    if (const json::array* terms = kube::array_at(quota, "spec.scopeSelector.matchExpressions")) {
        for (const json::value& term : *terms) {
            if (!term.is_object()) { continue; }
            QuotaScope scope{.name = std::string(text_at(term.get_object(), "scopeName")),
                             .selects = std::string(text_at(term.get_object(), "operator")),
                             .values = {}};
            const json::array* values = kube::array_at(term.get_object(), "values");
            for (const json::value& value : values == nullptr ? json::array() : *values) {
                if (value.is_string()) { scope.values.emplace_back(value.get_string()); }
            }
            out.scopes.push_back(std::move(scope));
        }
    }
    return out;
}

bool has_inner_usage(std::string_view resource) {
    return resource == "pods" || resource == "services" ||
           resource == "resource.k8s.io/resourceclaims";
}

ResourceList usage_of(std::string_view resource, const json::object& object) {
    ResourceList out;
    out[count_name(resource)] = one;
    if (has(plain_counts, resource)) { out[std::string(resource)] = one; }
    if (resource == "pods") { count_pod(object, out); }
    if (resource == "services") { count_service(object, out); }
    if (resource == "resource.k8s.io/resourceclaims") { count_claim(object, out); }
    return out;
}

bool is_in_scope(const QuotaSpec& quota, std::string_view resource, const json::object& object) {
    if (quota.scopes.empty()) { return true; }
    return resource == "pods" &&
           std::all_of(quota.scopes.begin(), quota.scopes.end(),
                       [&](const QuotaScope& scope) { return matches(scope, object); });
}

ResourceList counted(const QuotaSpec& quota, const ResourceList& usage) {
    ResourceList out;
    for (const auto& [name, amount] : usage) {
        if (quota.hard.contains(name)) { out.emplace(name, amount); }
    }
    return out;
}

std::string missing_amounts(const QuotaSpec& quota, const json::object& pod) {
    std::string out;
    for (const auto& [name, bound] : quota.hard) {
        if (!has(must_be_said, name)) { continue; }
        const bool is_limit = name.starts_with("limits.");
        const std::string amount = name.substr(name.find('.') + 1);  // npos + 1 is its beginning
        std::string containers;
        for (const std::string_view list : {"initContainers", "containers"}) {
            const json::array* found = kube::array_at(pod, fmt::format("spec.{}", list));
            for (const json::value& one_of : found == nullptr ? json::array() : *found) {
                if (!one_of.is_object()) { continue; }
                const json::object& container = one_of.get_object();
                if (value_at(container, fmt::format("resources.{}.{}",
                                                    is_limit ? "limits" : "requests", amount)) !=
                    nullptr) {
                    continue;
                }
                containers +=
                    fmt::format("{}{}", containers.empty() ? "" : ",", text_at(container, "name"));
            }
        }
        if (containers.empty()) { continue; }
        out += fmt::format("{}{} for: {}", out.empty() ? "" : "; ", name, containers);
    }
    return out;
}

}  // namespace muster::lab
