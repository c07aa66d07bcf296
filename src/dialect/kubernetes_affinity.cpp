#include "dialect/kubernetes_affinity.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace muster::dialect {

namespace {

constexpr std::int64_t weight_max = 100;

std::optional<MatchOp> read_operator(const Field& field, bool is_node) {
    const std::string_view text = field.text();
    if (text == "In") { return MatchOp::in; }
    if (text == "NotIn") { return MatchOp::not_in; }
    if (text == "Exists") { return MatchOp::exists; }
    if (text == "DoesNotExist") { return MatchOp::does_not_exist; }
    if (is_node && text == "Gt") { return MatchOp::greater; }
    if (is_node && text == "Lt") { return MatchOp::less; }
    field.expected(is_node ? "In, NotIn, Exists, DoesNotExist, Gt or Lt"
                           : "In, NotIn, Exists or DoesNotExist");
    return {};
}

LabelMatch read_match(const Field& field, bool is_node) {
    LabelMatch match;
    match.key = field["key"].name();
    const auto op = read_operator(field["operator"], is_node);
    if (!op) { return match; }
    match.op = *op;
    const Field values = field["values"];
    for (const Field& value : values.items()) { match.values.emplace_back(value.text()); }
    switch (match.op) {
        case MatchOp::in:
        case MatchOp::not_in:
            if (match.values.empty()) { values.expected("at least one value"); }
            break;
        case MatchOp::exists:
        case MatchOp::does_not_exist:
            if (!match.values.empty()) {
                values.expected("no values beside Exists or DoesNotExist");
            }
            break;
        case MatchOp::greater:
        case MatchOp::less:
            if (match.values.size() != 1 || !parse_int(match.values[0])) {
                values.expected("one whole number beside Gt or Lt");
            }
            break;
    }
    return match;
}

NodeTerm read_node_term(const Field& field) {
    NodeTerm term;
    for (const Field& match : field["matchExpressions"].items()) {
        term.matches.push_back(read_match(match, true));
    }
    for (const Field& match : field["matchFields"].items()) {
        if (match["key"].text() != "metadata.name") { match["key"].expected("metadata.name"); }
        term.matches.push_back(read_match(match, true));
    }
    return term;
}

/// A pod affinity term; none when it selects nothing.
std::optional<PodTerm> read_pod_term(const Field& field, bool is_anti, std::int32_t weight,
                                     const TaskSpec& task, const Scope& scope) {
    PodTerm term;
    term.is_anti = is_anti;
    term.weight = weight;
    term.topology_key = field["topologyKey"].name();
    const Field selector = field["labelSelector"];
    if (!selector.is_present()) {
        const bool never = !is_anti && weight == 0;
        if (never) { scope.refuse(field, "a required affinity to no pods at all can't be met"); }
        return {};
    }
    term.selector = read_selector(selector);
    for (const std::string_view list : {"matchLabelKeys", "mismatchLabelKeys"}) {
        for (const Field& key : field[list].items()) {
            const auto label =
                std::find_if(task.labels.begin(), task.labels.end(),
                             [&](const Label& own) { return own.key == key.text(); });
            if (label == task.labels.end()) { continue; }
            const MatchOp op = list == "matchLabelKeys" ? MatchOp::in : MatchOp::not_in;
            term.selector.push_back({label->key, op, {label->value}});
        }
    }
    for (const Field& name : field["namespaces"].items()) {
        term.namespaces.emplace_back(name.name());
    }
    if (const Field names = field["namespaceSelector"]; names.is_present()) {
        scope.refuse(names, "namespaceSelector is not supported; list the namespaces");
    }
    return term;
}

void read_pod_terms(const Field& affinity, bool is_anti, TaskSpec& task, const Scope& scope) {
    for (const Field& field : affinity["requiredDuringSchedulingIgnoredDuringExecution"].items()) {
        if (auto term = read_pod_term(field, is_anti, 0, task, scope)) {
            task.pod_terms.push_back(std::move(*term));
        }
    }
    for (const Field& field : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items()) {
        const auto weight = static_cast<std::int32_t>(field["weight"].integer(1, weight_max, 1));
        if (auto term = read_pod_term(field["podAffinityTerm"], is_anti, weight, task, scope)) {
            task.pod_terms.push_back(std::move(*term));
        }
    }
}

bool has_host_port(const Field& spec) {
    const bool is_host = spec["hostNetwork"].boolean();
    for (const std::string_view list : {"containers", "initContainers"}) {
        for (const Field& container : spec[list].items()) {
            for (const Field& port : container["ports"].items()) {
                if (is_host || port["hostPort"].integer(0, UINT16_MAX) > 0) { return true; }
            }
        }
    }
    return false;
}

/// Fields of a pod's spec that do not limit where it may run, or that are read elsewhere.
constexpr std::string_view known_fields[] = {
    "activeDeadlineSeconds",
    "affinity",
    "automountServiceAccountToken",
    "containers",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "ephemeralContainers",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostUsers",
    "hostname",
    "hostnameOverride",
    "imagePullSecrets",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "os",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "readinessGates",
    "resourceClaims",
    "resources",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "schedulingGroup",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
    "workloadRef",
};

}  // namespace

std::vector<LabelMatch> read_selector(const Field& selector) {
    std::vector<LabelMatch> out;
    for (const auto& [key, value] : selector["matchLabels"].members()) {
        out.push_back({std::string(key), MatchOp::in, {std::string(value.text())}});
    }
    for (const Field& match : selector["matchExpressions"].items()) {
        out.push_back(read_match(match, false));
    }
    return out;
}

bool matches(const std::vector<LabelMatch>& selector, const std::vector<Label>& labels) {
    return std::all_of(selector.begin(), selector.end(), [&](const LabelMatch& match) {
        const auto label = std::find_if(labels.begin(), labels.end(),
                                        [&](const Label& own) { return own.key == match.key; });
        const bool is_there = label != labels.end();
        const bool is_listed = is_there && std::find(match.values.begin(), match.values.end(),
                                                     label->value) != match.values.end();
        switch (match.op) {
            case MatchOp::in: return is_listed;
            case MatchOp::not_in: return !is_listed;
            case MatchOp::exists: return is_there;
            case MatchOp::does_not_exist: return !is_there;
            case MatchOp::greater:
            case MatchOp::less: return false;  // no operators of label selectors
        }
        return false;
    });
}

void read_node_affinity(const Field& spec, TaskSpec& task, const Scope& scope) {
    for (Label& label : read_labels(spec["nodeSelector"])) {
        task.node_selector.push_back(std::move(label));
    }
    const Field affinity = spec["affinity"]["nodeAffinity"];
    const Field required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
    if (required.is_present()) {
        const auto terms = required["nodeSelectorTerms"].items();
        for (const Field& term : terms) {
            NodeTerm read = read_node_term(term);
            // A term without demands matches no node, not every node.
            if (!read.matches.empty()) { task.required.push_back(std::move(read)); }
        }
        if (task.required.empty()) { scope.refuse(required, "these terms match no node at all"); }
    }
    for (const Field& field : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items()) {
        NodeTerm term = read_node_term(field["preference"]);
        term.weight = static_cast<std::int32_t>(field["weight"].integer(1, weight_max, 1));
        if (!term.matches.empty()) { task.preferred.push_back(std::move(term)); }
    }
}

void read_pod_affinity(const Field& spec, TaskSpec& task, const Scope& scope) {
    const Field affinity = spec["affinity"];
    read_pod_terms(affinity["podAffinity"], false, task, scope);
    read_pod_terms(affinity["podAntiAffinity"], true, task, scope);
}

void read_tolerations(const Field& spec, TaskSpec& task, const Scope& scope) {
    for (const Field& field : spec["tolerations"].items()) {
        Toleration toleration;
        toleration.key = field["key"].text();
        toleration.value = field["value"].text();
        const std::string_view op = field["operator"].text("Equal");
        if (op == "Exists") {
            toleration.op = TolerationOp::exists;
        } else if (op == "Gt" || op == "Lt") {
            scope.refuse(field["operator"],
                         fmt::format("toleration operator {} is not supported", op));
            continue;
        } else if (op != "Equal" && !op.empty()) {
            field["operator"].expected("Equal or Exists");
        }
        if (toleration.key.empty() && toleration.op != TolerationOp::exists) {
            field["key"].expected("a key, or operator Exists");
        }
        const std::string_view effect = field["effect"].text();
        toleration.is_any_effect = effect.empty();
        if (effect == "PreferNoSchedule") {
            toleration.effect = TaintEffect::prefer_no_schedule;
        } else if (effect == "NoExecute") {
            toleration.effect = TaintEffect::no_execute;
        } else if (effect != "NoSchedule" && !effect.empty()) {
            field["effect"].expected("NoSchedule, PreferNoSchedule or NoExecute");
        }
        task.tolerations.push_back(std::move(toleration));
    }
}

void refuse_other_constraints(const Field& spec, const Scope& scope) {
    for (const Field& spread : spec["topologySpreadConstraints"].items()) {
        if (spread["whenUnsatisfiable"].text() == "ScheduleAnyway") {
            scope.notes.add(
                spread,
                "a topologySpreadConstraint with ScheduleAnyway is a wish that is not looked at");
        } else {
            scope.refuse(spread, "a topologySpreadConstraint with DoNotSchedule is not supported");
        }
    }
    if (const Field claims = spec["resourceClaims"]; !claims.items().empty()) {
        scope.refuse(claims, "resourceClaims (dynamic resource allocation) are not supported");
    }
    if (has_host_port(spec)) { scope.refuse(spec["containers"], "host ports are not supported"); }
    for (const Field& volume : spec["volumes"].items()) {
        if (!volume["persistentVolumeClaim"].is_present() && !volume["ephemeral"].is_present()) {
            continue;
        }
        scope.notes.add(volume, "where a persistent volume can be reached from is not looked at");
    }
    for (const auto& [name, field] : spec.members()) {
        const bool is_known = std::find(std::begin(known_fields), std::end(known_fields), name) !=
                              std::end(known_fields);
        if (!is_known) {
            scope.notes.add(field, fmt::format("unknown field {} of a pod is not looked at", name));
        }
    }
}

}  // namespace muster::dialect
