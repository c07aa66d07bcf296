#include "dialect/kubernetes_affinity.h"

#include "base/text.h"
#include "dialect/kubernetes_around.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace muster::dialect {

namespace {

constexpr std::int64_t weight_max = 100;
constexpr std::string_view no_namespace = "/";  // which none is called

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

/// As the API server does it for new pods; for those that it has done it for, nothing changes.
void add_label_keys(const Field& field, std::string_view list, MatchOp op, const TaskSpec& task,
                    std::vector<LabelMatch>& selector) {
    for (const Field& key : field[list].items()) {
        const auto label = std::find_if(task.labels.begin(), task.labels.end(),
                                        [&](const Label& own) { return own.key == key.text(); });
        if (label == task.labels.end()) { continue; }
        LabelMatch match{label->key, op, {label->value}};
        if (std::find(selector.begin(), selector.end(), match) == selector.end()) {
            selector.push_back(std::move(match));
        }
    }
}

/// The namespaces that are named and those whose labels are selected; the pod's own when neither is
/// said.
void read_namespaces(const Field& field, PodTerm& term, const Scope& scope) {
    for (const Field& name : field["namespaces"].items()) {
        term.namespaces.emplace_back(name.name());
    }
    const Field selector = field["namespaceSelector"];
    if (!selector.is_present()) { return; }
    const std::vector<LabelMatch> wanted = read_selector(selector);
    if (wanted.empty()) {
        term.is_any_namespace = true;
        term.namespaces.clear();
        return;
    }
    scope.looks.namespaces = true;
    const Surroundings* around = scope.context.around.get();
    if (around == nullptr || !around->has_namespaces) {
        return scope.refuse(selector,
                            "namespaceSelector: the labels of the namespaces are not known here");
    }
    for (const auto& [name, labels] : around->namespaces) {
        if (matches(wanted, labels)) { term.namespaces.push_back(name); }
    }
    if (term.namespaces.empty()) { term.namespaces.emplace_back(no_namespace); }
    std::sort(term.namespaces.begin(), term.namespaces.end());
    term.namespaces.erase(std::unique(term.namespaces.begin(), term.namespaces.end()),
                          term.namespaces.end());
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
    add_label_keys(field, "matchLabelKeys", MatchOp::in, task, term.selector);
    add_label_keys(field, "mismatchLabelKeys", MatchOp::not_in, task, term.selector);
    read_namespaces(field, term, scope);
    return term;
}

/// A pod is near in all that is required only when it is meant by all of it, as Kubernetes has it.
void join_affinity(std::vector<PodTerm>& terms, const TaskSpec& task) {
    const auto is_required = [](const PodTerm& term) { return !term.is_anti && term.weight == 0; };
    if (std::count_if(terms.begin(), terms.end(), is_required) < 2) { return; }
    PodTerm all{.is_any_namespace = true};
    for (const PodTerm& term : terms) {
        if (!is_required(term)) { continue; }
        for (const LabelMatch& match : term.selector) {
            if (std::find(all.selector.begin(), all.selector.end(), match) == all.selector.end()) {
                all.selector.push_back(match);
            }
        }
        if (term.is_any_namespace) { continue; }
        std::vector<std::string> named = term.namespaces;
        if (named.empty()) { named.push_back(task.name_space); }
        if (!all.is_any_namespace) {
            std::erase_if(named, [&](const std::string& name) {
                return std::find(all.namespaces.begin(), all.namespaces.end(), name) ==
                       all.namespaces.end();
            });
        }
        if (named.empty()) { named.emplace_back(no_namespace); }
        all.is_any_namespace = false;
        all.namespaces = std::move(named);
    }
    for (PodTerm& term : terms) {
        if (!is_required(term)) { continue; }
        term.selector = all.selector;
        term.namespaces = all.namespaces;
        term.is_any_namespace = all.is_any_namespace;
    }
}

bool read_policy(const Field& field, bool otherwise) {
    const std::string_view text = field.text(otherwise ? "Honor" : "Ignore");
    if (text != "Honor" && text != "Ignore") { field.expected("Honor or Ignore"); }
    return text == "Honor";
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

struct HostPort {
    std::string name;  // "TCP-8080"
    std::string ip;
};

constexpr std::string_view every_ip = "0.0.0.0";

/// Init containers are done before others start, but for those that stay.
std::vector<HostPort> host_ports(const Field& spec) {
    std::vector<HostPort> out;
    const bool is_host = spec["hostNetwork"].boolean();
    const auto add = [&](const Field& container) {
        for (const Field& port : container["ports"].items()) {
            std::int64_t number = port["hostPort"].integer(0, UINT16_MAX);
            if (number == 0 && is_host) { number = port["containerPort"].integer(0, UINT16_MAX); }
            if (number == 0) { continue; }
            const std::string_view ip = port["hostIP"].text();
            out.push_back({fmt::format("{}-{}", port["protocol"].text("TCP"), number),
                           std::string(ip.empty() ? every_ip : ip)});
        }
    };
    for (const Field& container : spec["initContainers"].items()) {
        if (container["restartPolicy"].text() == "Always") { add(container); }
    }
    for (const Field& container : spec["containers"].items()) { add(container); }
    return out;
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
    "evictionResponders",
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
        task.required = read_node_terms(required["nodeSelectorTerms"]);
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
    join_affinity(task.pod_terms, task);
    read_pod_terms(affinity["podAntiAffinity"], true, task, scope);
}

std::vector<NodeTerm> read_node_terms(const Field& list) {
    std::vector<NodeTerm> out;
    for (const Field& term : list.items()) {
        NodeTerm read = read_node_term(term);
        // A term without demands matches no node, not every node.
        if (!read.matches.empty()) { out.push_back(std::move(read)); }
    }
    return out;
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
            toleration.op = op == "Gt" ? TolerationOp::greater : TolerationOp::less;
            if (!parse_int(toleration.value)) {
                field["value"].expected("a whole number beside Gt or Lt");
            }
        } else if (op != "Equal" && !op.empty()) {
            scope.refuse(field["operator"],
                         fmt::format("toleration operator {} is not supported", op));
            continue;
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

PodTerm away_from(std::string key, std::string_view topology_key) {
    PodTerm term;
    term.selector = {{std::move(key), MatchOp::exists, {}}};
    term.topology_key = topology_key;
    term.is_anti = true;
    term.is_any_namespace = true;
    return term;
}

void read_host_ports(const Field& spec, TaskSpec& task) {
    const auto key_of = [](const HostPort& port, std::string_view ip) {
        return fmt::format("port.muster.dev/{}{}{}", port.name, ip.empty() ? "" : "/", ip);
    };
    const auto add_label = [&](std::string key) {
        const bool is_there = std::any_of(task.labels.begin(), task.labels.end(),
                                          [&](const Label& label) { return label.key == key; });
        if (!is_there) { task.labels.push_back({std::move(key), ""}); }
    };
    const auto keep_away = [&](std::string key) {
        PodTerm term = away_from(std::move(key), "metadata.name");
        const bool is_there =
            std::find(task.pod_terms.begin(), task.pod_terms.end(), term) != task.pod_terms.end();
        if (!is_there) { task.pod_terms.push_back(std::move(term)); }
    };
    for (const HostPort& port : host_ports(spec)) {
        add_label(key_of(port, ""));
        add_label(key_of(port, port.ip));
        if (port.ip == every_ip) {
            keep_away(key_of(port, ""));
        } else {
            keep_away(key_of(port, port.ip));
            keep_away(key_of(port, every_ip));
        }
    }
}

void read_spread(const Field& spec, TaskSpec& task, const Scope& scope) {
    for (const Field& field : spec["topologySpreadConstraints"].items()) {
        for (const auto& [name, value] : field.members()) {
            constexpr std::string_view known[] = {
                "maxSkew",        "topologyKey", "whenUnsatisfiable",  "labelSelector",
                "matchLabelKeys", "minDomains",  "nodeAffinityPolicy", "nodeTaintsPolicy"};
            if (std::find(std::begin(known), std::end(known), name) == std::end(known)) {
                scope.refuse(value, fmt::format("{} of a spread is not supported", name));
            }
        }
        PodTerm term;
        term.topology_key = field["topologyKey"].name();
        SpreadRule& rule = term.spread;
        rule.max_skew = static_cast<std::int32_t>(field["maxSkew"].integer(1, INT32_MAX, 1));
        rule.domains_min = static_cast<std::int32_t>(field["minDomains"].integer(1, INT32_MAX, 1));
        const std::string_view when = field["whenUnsatisfiable"].text("DoNotSchedule");
        if (when != "DoNotSchedule" && when != "ScheduleAnyway") {
            field["whenUnsatisfiable"].expected("DoNotSchedule or ScheduleAnyway");
        }
        rule.is_wish = when == "ScheduleAnyway";
        rule.skips_unselected = read_policy(field["nodeAffinityPolicy"], true);
        rule.skips_tainted = read_policy(field["nodeTaintsPolicy"], false);
        const Field selector = field["labelSelector"];
        if (selector.is_present()) {
            term.selector = read_selector(selector);
            add_label_keys(field, "matchLabelKeys", MatchOp::in, task, term.selector);
        } else {
            // It counts nobody, but the node must have the key.
            term.selector = {{"metadata.nobody", MatchOp::in, {"/"}}};
        }
        task.pod_terms.push_back(std::move(term));
    }
}

void refuse_other_constraints(const Field& spec, const Scope& scope) {
    if (const Field claims = spec["resourceClaims"]; !claims.items().empty()) {
        scope.refuse(claims, "resourceClaims (dynamic resource allocation) are not supported");
    }
    for (const auto& [name, field] : spec.members()) {
        const bool is_known = std::find(std::begin(known_fields), std::end(known_fields), name) !=
                              std::end(known_fields);
        if (!is_known) { scope.refuse(field, fmt::format("unknown field {} of a pod", name)); }
    }
}

}  // namespace muster::dialect
