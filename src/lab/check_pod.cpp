// What a pod may look like, wherever its spec stands: as a pod or in a template.
#include "base/text.h"
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

constexpr std::array<FieldRule, 20> pod_rules{{
    {"containers", MustBe::there},
    {"restartPolicy", MustBe::one_of, "Always OnFailure Never"},
    {"dnsPolicy", MustBe::one_of, "ClusterFirstWithHostNet ClusterFirst Default None"},
    {"activeDeadlineSeconds", MustBe::within, "1-2147483647"},
    {"nodeSelector", MustBe::labels},
    {"hostname", MustBe::dns_label},
    {"subdomain", MustBe::dns_label},
    {"serviceAccountName", MustBe::dns_subdomain},
    {"nodeName", MustBe::dns_subdomain},
    {"priorityClassName", MustBe::dns_subdomain},
    {"preemptionPolicy", MustBe::one_of, "PreemptLowerPriority Never"},
    {"resourceClaims[].name", MustBe::there},
    {"resourceClaims[].name", MustBe::dns_label},
    {"topologySpreadConstraints[].maxSkew", MustBe::above_zero, "must be greater than zero"},
    {"topologySpreadConstraints[].topologyKey", MustBe::there, "can not be empty"},
    {"topologySpreadConstraints[].whenUnsatisfiable", MustBe::one_of,
     "DoNotSchedule ScheduleAnyway"},
    {"topologySpreadConstraints[].labelSelector", MustBe::selector},
    {"tolerations[].effect", MustBe::one_of, "NoSchedule PreferNoSchedule NoExecute"},
    {"tolerations[].key", MustBe::qualified_name},
    {"securityContext.runAsUser", MustBe::within, "0-2147483647"},
}};

constexpr std::array<FieldRule, 17> container_rules{{
    {"name", MustBe::there},
    {"name", MustBe::dns_label},
    {"imagePullPolicy", MustBe::one_of, "Always IfNotPresent Never"},
    {"terminationMessagePolicy", MustBe::one_of, "File FallbackToLogsOnError"},
    {"ports[].hostPort", MustBe::within, "0-65535"},
    {"ports[].protocol", MustBe::one_of, "SCTP TCP UDP"},
    {"ports[].name", MustBe::port_name},
    {"env[].name", MustBe::there},
    {"volumeMounts[].name", MustBe::there},
    {"volumeMounts[].mountPath", MustBe::there},
    {"volumeDevices[].name", MustBe::there},
    {"volumeDevices[].devicePath", MustBe::there},
    {"securityContext.runAsUser", MustBe::within, "0-2147483647"},
    {"securityContext.runAsGroup", MustBe::within, "0-2147483647"},
    {"envFrom[].configMapRef.name", MustBe::there},
    {"envFrom[].secretRef.name", MustBe::there},
    {"resources.claims[].name", MustBe::there},
}};

constexpr std::array<FieldRule, 6> probe_rules{{
    {"initialDelaySeconds", MustBe::not_negative},
    {"timeoutSeconds", MustBe::not_negative},
    {"periodSeconds", MustBe::not_negative},
    {"successThreshold", MustBe::not_negative},
    {"failureThreshold", MustBe::not_negative},
    {"terminationGracePeriodSeconds", MustBe::above_zero},
}};

/// "nvidia.com/gpu", but not "kubernetes.io/batch-cpu": counted in whole pieces.
bool is_extended(std::string_view name) {
    return name.find('/') != std::string_view::npos &&
           name.find("kubernetes.io/") == std::string_view::npos;
}

bool is_overcommitted(std::string_view name) {
    return !is_extended(name) && !name.starts_with("hugepages-");
}

void check_resource_name(std::string_view name, const std::string& field, Causes& out) {
    constexpr std::array<std::string_view, 3> standard{"cpu", "memory", "ephemeral-storage"};
    const json::value shown(name);
    const std::vector<std::string> wrong = check_qualified_name(name);
    out.wrong(field, shown, wrong);
    if (!wrong.empty() && name.find('/') != std::string_view::npos) {
        out.wrong(field, shown, "doesn't follow extended resource name standard");
    }
    if (name.find('/') != std::string_view::npos || name.starts_with("hugepages-") ||
        std::ranges::find(standard, name) != standard.end()) {
        return;
    }
    out.wrong(field, shown, "must be a standard resource type or fully qualified");
    out.wrong(field, shown, "must be a standard resource for containers");
}

void check_amount(std::string_view name, const json::value& amount, const std::string& field,
                  Causes& out) {
    check_resource_name(name, field, out);
    const auto value = milli_of(amount);
    if (!value) { return; }
    if (*value < 0) {
        out.wrong(field, json::value(amount_text(amount)), "must be greater than or equal to 0");
    } else if (is_extended(name) && *value % 1'000 != 0) {
        out.wrong(field, json::value(amount_text(amount)), "must be an integer");
    }
}

void check_resources(const json::object& resources, const std::string& path, Causes& out) {
    static const json::object none;
    const json::object* found = kube::object_at(resources, "limits");
    const json::object& limits = found == nullptr ? none : *found;
    found = kube::object_at(resources, "requests");
    const json::object& requests = found == nullptr ? none : *found;
    for (const auto& [name, amount] : limits) {
        check_amount(name, amount, fmt::format("{}.limits[{}]", path, std::string_view(name)), out);
    }
    for (const auto& [name, amount] : requests) {
        check_amount(name, amount, fmt::format("{}.requests[{}]", path, std::string_view(name)),
                     out);
        const json::value* limit = limits.if_contains(name);
        const auto asked = milli_of(amount);
        if (limit == nullptr) {
            if (!is_overcommitted(name)) {
                out.required(path + ".limits",
                             "Limit must be set for non overcommitable resources");
            }
            continue;
        }
        const auto most = milli_of(*limit);
        if (!asked || !most) { continue; }
        if (!is_overcommitted(name) && *asked != *most) {
            out.wrong(path + ".requests", json::value(amount_text(amount)),
                      fmt::format("must be equal to {} limit of {}", std::string_view(name),
                                  amount_text(*limit)));
        } else if (is_overcommitted(name) && *asked > *most) {
            out.wrong(path + ".requests", json::value(amount_text(amount)),
                      fmt::format("must be less than or equal to {} limit of {}",
                                  std::string_view(name), amount_text(*limit)));
        }
    }
}

void check_field_path(const json::object& reference, const std::string& place, Causes& out) {
    constexpr std::array<std::string_view, 13> known{
        "metadata.name",     "metadata.namespace",   "metadata.uid",
        "metadata.labels",   "spec.nodeName",        "spec.serviceAccountName",
        "status.hostIP",     "status.hostIPs",       "status.podIP",
        "status.podIPs",     "metadata.annotations", "spec.restartPolicy",
        "spec.schedulerName"};
    const std::string_view path = text_at(reference, "fieldPath");
    const std::string field = place + ".fieldPath";
    if (path.empty()) { return out.required(field); }
    if (path.starts_with("metadata.labels['") || path.starts_with("metadata.annotations['")) {
        return;
    }
    if (std::ranges::find(known, path) == known.end()) {
        out.wrong(field, json::value(path),
                  fmt::format("error converting fieldPath: field label not supported: {}", path));
    }
}

void check_environment(const json::object& container, const std::string& path, Causes& out) {
    std::size_t index = 0;
    for (const json::value& one : list_in(container, "env")) {
        const std::string place = fmt::format("{}.env[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const std::string_view name = text_at(one.get_object(), "name");
        const bool is_printable =
            std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~' && c != '='; });
        if (!is_printable) {
            out.wrong(place + ".name", json::value(name),
                      "a valid environment variable name must consist only of printable ASCII "
                      "characters other than '='");
        }
        const json::object* from = kube::object_at(one.get_object(), "valueFrom");
        if (from == nullptr) { continue; }
        if (from->empty()) {
            out.wrong(place + ".valueFrom", json::value(""),
                      "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                      "`secretKeyRef` or `fileKeyRef`");
        } else if (from->size() > 1) {
            out.wrong(place + ".valueFrom", json::value(""),
                      "may not have more than one field specified at a time");
        }
        if (!text_at(one.get_object(), "value").empty()) {
            out.wrong(place + ".valueFrom", json::value(""),
                      "may not be specified when `value` is not empty");
        }
        if (const json::object* field = kube::object_at(*from, "fieldRef")) {
            check_field_path(*field, place + ".valueFrom.fieldRef", out);
        }
        for (const std::string_view kind : {"configMapKeyRef", "secretKeyRef"}) {
            const json::object* reference = kube::object_at(*from, kind);
            if (reference == nullptr) { continue; }
            const std::string at = fmt::format("{}.valueFrom.{}", place, kind);
            if (text_at(*reference, "name").empty()) { out.required(at + ".name"); }
            const std::string_view key = text_at(*reference, "key");
            if (key.empty()) {
                out.required(at + ".key");
            } else {
                out.wrong(at + ".key", json::value(key), check_config_key(key));
            }
        }
    }
}

void check_probe(const json::object& container, std::string_view which, const std::string& path,
                 Causes& out) {
    const json::object* probe = kube::object_at(container, which);
    if (probe == nullptr) { return; }
    const std::string place = fmt::format("{}.{}", path, which);
    check_rules(probe_rules, *probe, place, out);
    bool has_handler = false;
    for (const std::string_view handler : {"exec", "httpGet", "tcpSocket", "grpc"}) {
        if (kube::object_at(*probe, handler) == nullptr) { continue; }
        if (has_handler) {
            out.forbidden(fmt::format("{}.{}", place, handler),
                          "may not specify more than 1 handler type");
        }
        has_handler = true;
    }
    if (!has_handler) { out.required(place, "must specify a handler type"); }
    const json::value* successes = probe->if_contains("successThreshold");
    if (which != "readinessProbe" && successes != nullptr && successes->is_int64() &&
        successes->get_int64() != 1) {
        out.wrong(place + ".successThreshold", *successes, "must be 1");
    }
}

void check_ports(const json::object& container, const std::string& path, Causes& out) {
    std::set<std::string_view> names;
    std::size_t index = 0;
    for (const json::value& one : list_in(container, "ports")) {
        const std::string place = fmt::format("{}.ports[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const std::string_view name = text_at(one.get_object(), "name");
        if (!name.empty() && !names.insert(name).second) {
            out.duplicate(place + ".name", json::value(name));
        }
        const std::int64_t number = int_at(one.get_object(), "containerPort");
        if (number == 0) {
            out.required(place + ".containerPort");
        } else if (number < 0 || number > 65'535) {
            out.wrong(place + ".containerPort", json::value(number),
                      "must be between 1 and 65535, inclusive");
        }
    }
}

/// What a container may name: the pod's volumes and claims.
struct PodParts {
    std::set<std::string_view> volumes;
    std::vector<std::string_view> claims;
};

void check_references(const json::object& container, const PodParts& parts, const std::string& path,
                      Causes& out) {
    std::set<std::string_view> places;
    std::size_t index = 0;
    for (const json::value& one : list_in(container, "volumeMounts")) {
        const std::string place = fmt::format("{}.volumeMounts[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const std::string_view name = text_at(one.get_object(), "name");
        if (!name.empty() && !parts.volumes.contains(name)) {
            out.not_found(place + ".name", json::value(name));
        }
        const std::string_view where = text_at(one.get_object(), "mountPath");
        if (!where.empty() && !places.insert(where).second) {
            out.wrong(place + ".mountPath", json::value(where), "must be unique");
        }
    }
    index = 0;
    const json::object* resources = kube::object_at(container, "resources");
    if (resources == nullptr) { return; }
    for (const json::value& one : list_in(*resources, "claims")) {
        const std::string place = fmt::format("{}.resources.claims[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const std::string_view name = text_at(one.get_object(), "name");
        if (name.empty() || std::ranges::find(parts.claims, name) != parts.claims.end()) {
            continue;
        }
        std::string known = "which is empty";
        if (!parts.claims.empty()) {
            known = "which contains: ";
            for (const std::string_view claim : parts.claims) {
                known += fmt::format("{}{}", claim == parts.claims.front() ? "" : ", ", claim);
            }
        }
        out.not_found(place, json::value(name),
                      "must be one of the names in pod.spec.resourceClaims " + known);
    }
}

void check_container(const json::object& container, const PodParts& parts, const std::string& path,
                     bool is_init, Causes& out) {
    check_rules(container_rules, container, path, out);
    const std::string_view image = text_at(container, "image");
    if (image.empty()) {
        out.required(path + ".image");
    } else if (image.front() == ' ' || image.back() == ' ') {
        out.wrong(path + ".image", json::value(image),
                  "must not have leading or trailing whitespace");
    }
    check_environment(container, path, out);
    check_ports(container, path, out);
    check_references(container, parts, path, out);
    const bool is_sidecar = text_at(container, "restartPolicy") == "Always";
    for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
        if (!is_init || is_sidecar) {
            check_probe(container, probe, path, out);
        } else if (kube::object_at(container, probe) != nullptr) {
            out.forbidden(fmt::format("{}.{}", path, probe),
                          "may not be set for init containers without restartPolicy=Always");
        }
    }
    if (const json::object* resources = kube::object_at(container, "resources")) {
        check_resources(*resources, path + ".resources", out);
    }
    const json::object* security = kube::object_at(container, "securityContext");
    if (security != nullptr && kube::flag_at(*security, "privileged") &&
        !kube::flag_at(*security, "allowPrivilegeEscalation", true)) {
        out.wrong(path + ".securityContext", *security,
                  "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    }
}

void check_volumes(const json::object& spec, std::string_view path, PodParts& parts, Causes& out) {
    std::size_t index = 0;
    for (const json::value& one : list_in(spec, "volumes")) {
        const std::string place = fmt::format("{}.volumes[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const json::object& volume = one.get_object();
        const std::string_view name = text_at(volume, "name");
        if (name.empty()) {
            out.required(place + ".name");
        } else {
            out.wrong(place + ".name", json::value(name), check_dns_label(name));
            if (!parts.volumes.insert(name).second) {
                out.duplicate(place + ".name", json::value(name));
            }
        }
        bool has_source = false;
        std::vector<std::string_view> sources;
        for (const auto& [key, value] : volume) {
            if (value.is_object()) { sources.emplace_back(key); }
        }
        std::ranges::sort(sources);  // emptyDir, hostPath: as they are looked for
        for (const std::string_view source : sources) {
            if (std::exchange(has_source, true)) {
                out.forbidden(fmt::format("{}.{}", place, source),
                              "may not specify more than 1 volume type");
            }
        }
        if (!has_source) { out.required(place, "must specify a volume type"); }
        static constexpr std::array<FieldRule, 4> source_rules{{
            {"hostPath.path", MustBe::there},
            {"persistentVolumeClaim.claimName", MustBe::there},
            {"configMap.name", MustBe::there},
            {"secret.secretName", MustBe::there},
        }};
        check_rules(source_rules, volume, place, out);
    }
}

void check_tolerations(const json::object& spec, std::string_view path, Causes& out) {
    std::size_t index = 0;
    for (const json::value& one : list_in(spec, "tolerations")) {
        const std::string place = fmt::format("{}.tolerations[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const json::object& toleration = one.get_object();
        const std::string_view op = text_at(toleration, "operator");
        const std::string_view effect = text_at(toleration, "effect");
        const std::string_view value = text_at(toleration, "value");
        if (text_at(toleration, "key").empty() && op != "Exists") {
            out.wrong(place + ".operator", json::value(op),
                      "operator must be Exists when `key` is empty, which means \"match all "
                      "values and all keys\"");
        }
        if (toleration.contains("tolerationSeconds") && effect != "NoExecute") {
            out.wrong(place + ".effect", json::value(effect),
                      "effect must be 'NoExecute' when `tolerationSeconds` is set");
        }
        if (op == "Exists" && !value.empty()) {
            out.wrong(place + ".operator", json::value(value),
                      "value must be empty when `operator` is 'Exists'");
        } else if (op == "Equal" || op.empty()) {
            out.wrong(place + ".operator", json::value(value), check_label_value(value));
        } else if (op != "Exists") {
            constexpr std::array<std::string_view, 2> supported{"Equal", "Exists"};
            out.unsupported(place + ".operator", json::value(op), supported);
        }
    }
}

void check_node_term(const json::object& term, const std::string& path, Causes& out) {
    std::size_t index = 0;
    for (const json::value& one : list_in(term, "matchExpressions")) {
        const std::string place = fmt::format("{}.matchExpressions[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const std::string_view op = text_at(one.get_object(), "operator");
        const json::array& values = list_in(one.get_object(), "values");
        if (op == "In" || op == "NotIn") {
            if (values.empty()) {
                out.required(place + ".values",
                             "must be specified when `operator` is 'In' or 'NotIn'");
            }
        } else if (op == "Exists" || op == "DoesNotExist") {
            if (!values.empty()) {
                out.forbidden(place + ".values",
                              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
            }
        } else if (op == "Gt" || op == "Lt") {
            if (values.size() != 1) {
                out.required(place + ".values",
                             "must be specified single value when `operator` is 'Lt' or 'Gt'");
            }
        } else {
            out.wrong(place + ".operator", json::value(op), "not a valid selector operator");
        }
        const std::string_view key = text_at(one.get_object(), "key");
        out.wrong(place + ".key", json::value(key), check_qualified_name(key));
    }
}

void check_pod_term(const json::object& term, const std::string& path, Causes& out) {
    if (const json::object* selector = kube::object_at(term, "labelSelector")) {
        check_selector(*selector, path + ".labelSelector", out);
    }
    const std::string_view key = text_at(term, "topologyKey");
    if (key.empty()) { out.required(path + ".topologyKey", "can not be empty"); }
    out.wrong(path + ".topologyKey", json::value(key), check_qualified_name(key));
}

void check_weight(const json::object& preference, const std::string& place, Causes& out) {
    const std::int64_t weight = int_at(preference, "weight");
    if (weight < 1 || weight > 100) {
        out.wrong(place + ".weight", json::value(weight), "must be in the range 1-100");
    }
}

void check_affinity(const json::object& spec, std::string_view path, Causes& out) {
    constexpr std::string_view must = "requiredDuringSchedulingIgnoredDuringExecution";
    constexpr std::string_view may = "preferredDuringSchedulingIgnoredDuringExecution";
    const json::object* affinity = kube::object_at(spec, "affinity");
    if (affinity == nullptr) { return; }
    const auto each = [&](const json::array& list, const std::string& where, const auto& visit) {
        std::size_t index = 0;
        for (const json::value& one : list) {
            const std::string place = fmt::format("{}[{}]", where, index++);
            if (one.is_object()) { visit(one.get_object(), place); }
        }
    };
    if (const json::object* nodes = kube::object_at(*affinity, "nodeAffinity")) {
        const std::string place = fmt::format("{}.affinity.nodeAffinity", path);
        if (const json::object* required = kube::object_at(*nodes, must)) {
            const std::string terms = fmt::format("{}.{}.nodeSelectorTerms", place, must);
            if (list_in(*required, "nodeSelectorTerms").empty()) {
                out.required(terms, "must have at least one node selector term");
            }
            each(list_in(*required, "nodeSelectorTerms"), terms,
                 [&](const json::object& term, const std::string& at) {
                     check_node_term(term, at, out);
                 });
        }
        each(list_in(*nodes, may), fmt::format("{}.{}", place, may),
             [&](const json::object& preference, const std::string& at) {
                 check_weight(preference, at, out);
                 if (const json::object* term = kube::object_at(preference, "preference")) {
                     check_node_term(*term, at + ".preference", out);
                 }
             });
    }
    for (const std::string_view which : {"podAffinity", "podAntiAffinity"}) {
        const json::object* pods = kube::object_at(*affinity, which);
        if (pods == nullptr) { continue; }
        const std::string place = fmt::format("{}.affinity.{}", path, which);
        each(list_in(*pods, must), fmt::format("{}.{}", place, must),
             [&](const json::object& term, const std::string& at) {
                 check_pod_term(term, at, out);
             });
        each(list_in(*pods, may), fmt::format("{}.{}", place, may),
             [&](const json::object& preference, const std::string& at) {
                 check_weight(preference, at, out);
                 if (const json::object* term = kube::object_at(preference, "podAffinityTerm")) {
                     check_pod_term(*term, at + ".podAffinityTerm", out);
                 }
             });
    }
}

void check_gates_and_claims(const json::object& spec, std::string_view path, PodParts& parts,
                            Causes& out) {
    std::set<std::string_view> gates;
    std::size_t index = 0;
    for (const json::value& one : list_in(spec, "schedulingGates")) {
        const std::string place = fmt::format("{}.schedulingGates[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const std::string_view name = text_at(one.get_object(), "name");
        out.wrong(place, json::value(name), check_qualified_name(name));
        if (!gates.insert(name).second) { out.duplicate(place, json::value(name)); }
    }
    if (!gates.empty() && !text_at(spec, "nodeName").empty()) {
        out.forbidden(fmt::format("{}.nodeName", path),
                      "cannot be set until all schedulingGates have been cleared");
    }
    index = 0;
    for (const json::value& one : list_in(spec, "resourceClaims")) {
        const std::string place = fmt::format("{}.resourceClaims[{}]", path, index++);
        if (!one.is_object()) { continue; }
        const json::object& claim = one.get_object();
        const std::string_view name = text_at(claim, "name");
        if (!name.empty() && std::ranges::find(parts.claims, name) != parts.claims.end()) {
            out.duplicate(place + ".name", json::value(name));
        }
        if (!name.empty()) { parts.claims.push_back(name); }
        const bool has_name = !text_at(claim, "resourceClaimName").empty();
        const bool has_template = !text_at(claim, "resourceClaimTemplateName").empty();
        if (has_name == has_template) {
            out.wrong(place, one,
                      has_name ? "at most one of `resourceClaimName` or "
                                 "`resourceClaimTemplateName` may be specified"
                               : "must specify one of: `resourceClaimName`, "
                                 "`resourceClaimTemplateName`");
        }
    }
}

}  // namespace

std::vector<ApiCause> check_pod_spec(const json::object& spec, std::string_view path) {
    Causes out;
    PodParts parts;
    check_volumes(spec, path, parts, out);
    check_gates_and_claims(spec, path, parts, out);
    check_rules(pod_rules, spec, path, out);
    if (const json::object* os = kube::object_at(spec, "os")) {
        constexpr std::array<std::string_view, 2> supported{"linux", "windows"};
        const std::string_view name = text_at(*os, "name");
        if (std::ranges::find(supported, name) == supported.end()) {
            out.unsupported(fmt::format("{}.os", path), json::value(name), supported);
        }
    }
    std::set<std::string_view> names;
    for (const std::string_view list : {"containers", "initContainers"}) {
        std::size_t index = 0;
        for (const json::value& one : list_in(spec, list)) {
            const std::string place = fmt::format("{}.{}[{}]", path, list, index++);
            if (!one.is_object()) { continue; }
            const std::string_view name = text_at(one.get_object(), "name");
            if (!name.empty() && !names.insert(name).second) {
                out.duplicate(place + ".name", json::value(name));
            }
            check_container(one.get_object(), parts, place, list == "initContainers", out);
        }
    }
    check_tolerations(spec, path, out);
    check_affinity(spec, path, out);
    return out.take();
}

std::vector<ApiCause> check_pod_update(const json::object& now, const json::object& before) {
    Causes out;
    static const json::object nothing;
    const json::object* found = kube::object_at(now, "spec");
    json::object a = found == nullptr ? nothing : *found;
    found = kube::object_at(before, "spec");
    json::object b = found == nullptr ? nothing : *found;
    const auto deadline = [](const json::object& spec) {
        return int_at(spec, "activeDeadlineSeconds", -1);
    };
    if (deadline(b) >= 0 && deadline(a) < 0) {
        out.wrong("spec.activeDeadlineSeconds", json::value(nullptr),
                  "must not update from a positive integer to nil value");
    } else if (deadline(b) >= 0 && deadline(a) > deadline(b)) {
        out.wrong("spec.activeDeadlineSeconds", json::value(deadline(a)),
                  "must be less than or equal to previous value");
    }
    for (const json::value& had : list_in(b, "tolerations")) {
        json::value without = had;
        if (without.is_object()) { without.get_object().erase("tolerationSeconds"); }
        const bool is_kept = std::ranges::any_of(list_in(a, "tolerations"), [&](json::value one) {
            if (one.is_object()) { one.get_object().erase("tolerationSeconds"); }
            return one == without;
        });
        if (!is_kept) {
            out.forbidden("spec.tolerations",
                          "existing toleration can not be modified except its tolerationSeconds");
            break;
        }
    }
    std::size_t index = 0;
    for (const json::value& one : list_in(a, "schedulingGates")) {
        const json::array& had = list_in(b, "schedulingGates");
        if (one.is_object() && std::ranges::find(had, one) == had.end()) {
            out.forbidden(fmt::format("spec.schedulingGates[{}].name", index),
                          fmt::format("only deletion is allowed, but found new scheduling gate "
                                      "'{}'",
                                      text_at(one.get_object(), "name")));
        }
        ++index;
    }
    for (json::object* spec : {&a, &b}) {
        for (const std::string_view key : {"activeDeadlineSeconds", "tolerations",
                                           "schedulingGates", "terminationGracePeriodSeconds"}) {
            spec->erase(key);
        }
        for (const std::string_view list : {"initContainers", "containers"}) {
            json::value* containers = spec->if_contains(list);
            if (containers == nullptr || !containers->is_array()) { continue; }
            for (json::value& one : containers->get_array()) {
                if (one.is_object()) { one.get_object().erase("image"); }
            }
        }
        // Who waits behind gates may still be told where it may run.
        if (!list_in(before.contains("spec") ? before.at("spec").as_object() : nothing,
                     "schedulingGates")
                 .empty()) {
            spec->erase("nodeSelector");
            spec->erase("affinity");
        }
    }
    if (a != b) {
        out.forbidden("spec",
                      "pod updates may not change fields other than "
                      "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                      "`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
                      "additions to existing tolerations),"
                      "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 "
                      "if it was previously negative)");
    }
    return out.take();
}

}  // namespace muster::lab
