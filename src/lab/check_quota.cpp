#include "lab/check_kinds.h"
#include "lab/field_rules.h"
#include "lab/metadata.h"
#include "lab/names.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// Those before "cpu" are counted and so whole.
constexpr std::array<std::string_view, 19> standard{"pods",
                                                    "services",
                                                    "replicationcontrollers",
                                                    "resourcequotas",
                                                    "secrets",
                                                    "configmaps",
                                                    "persistentvolumeclaims",
                                                    "services.nodeports",
                                                    "services.loadbalancers",
                                                    "cpu",
                                                    "memory",
                                                    "ephemeral-storage",
                                                    "requests.cpu",
                                                    "requests.memory",
                                                    "requests.ephemeral-storage",
                                                    "limits.cpu",
                                                    "limits.memory",
                                                    "limits.ephemeral-storage",
                                                    "requests.storage"};
constexpr std::span<const std::string_view> whole = std::span(standard).first(9);
constexpr std::array<std::string_view, 6> pod_scopes{"BestEffort",     "NotBestEffort",
                                                     "NotTerminating", "Terminating",
                                                     "PriorityClass",  "CrossNamespacePodAffinity"};
/// What may be bounded of the pods of a scope.
constexpr std::array<std::string_view, 7> pod_amounts{
    "pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};

bool has(std::span<const std::string_view> list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
}

bool is_standard(std::string_view name) {
    return has(standard, name) || name.starts_with("hugepages-") ||
           name.starts_with("requests.hugepages-");
}

/// Whether a scope has something to say of a resource.
bool is_of_scope(std::string_view scope, std::string_view name) {
    if (scope == "BestEffort") { return name == "pods"; }
    if (scope == "VolumeAttributesClass") {
        return name == "persistentvolumeclaims" || name == "requests.storage";
    }
    return !has(pod_scopes, scope) || has(pod_amounts, name);
}

void check_amount(std::string_view name, const json::value& amount, Causes& out) {
    const std::string field = fmt::format("spec.hard[{}]", name);
    out.wrong(field, json::value(name), check_qualified_name(name));
    if (name.find('/') == std::string_view::npos && !is_standard(name)) {
        out.wrong(field, json::value(name), "must be a standard resource type or fully qualified");
        out.wrong(field, json::value(name), "must be a standard resource for quota");
    }
    const auto value = milli_of(amount);
    if (value && *value < 0) {
        out.wrong(field, json::value(amount_text(amount)), "must be greater than or equal to 0");
    } else if (value && has(whole, name) && *value % 1'000 != 0) {
        out.wrong(field, json::value(amount_text(amount)), "must be an integer");
    }
}

/// A selector as the fault shows it.
json::value shown(const json::array& terms) {
    json::array out;
    for (const json::value& one : terms) {
        if (!one.is_object()) { continue; }
        const json::value* values = one.get_object().if_contains("values");
        out.push_back(json::object{{"ScopeName", text_at(one.get_object(), "scopeName")},
                                   {"Operator", text_at(one.get_object(), "operator")},
                                   {"Values", values == nullptr ? json::value() : *values}});
    }
    return json::object{{"MatchExpressions", std::move(out)}};
}

/// `value` is what the fault shows: the list or the selector.
void check_scope(std::string_view scope, const json::object& hard, const std::string& field,
                 const json::value& value, Causes& out) {
    for (const auto& [name, amount] : hard) {
        if (is_standard(name) && !is_of_scope(scope, name)) {
            return out.wrong(field, value, "unsupported scope applied to resource");
        }
    }
}

void check_scopes(const json::object& quota, const json::object& hard, Causes& out) {
    const json::array& scopes = list_in(quota, "spec.scopes");
    for (const json::value& one : scopes) {
        const std::string scope = amount_text(one);
        if (!has(pod_scopes, scope) && scope != "VolumeAttributesClass") {
            out.wrong("spec.scopes", scopes, "unsupported scope");
        }
        check_scope(scope, hard, "spec.scopes", scopes, out);
    }
    const auto opposite = [&](std::string_view a, std::string_view b) {
        const auto is_said = [&](std::string_view name) {
            return std::ranges::find(scopes, json::value(name)) != scopes.end();
        };
        if (is_said(a) && is_said(b)) { out.wrong("spec.scopes", scopes, "conflicting scopes"); }
    };
    opposite("BestEffort", "NotBestEffort");
    opposite("Terminating", "NotTerminating");
}

void check_term(const json::object& term, const json::value& selector, const json::object& hard,
                Causes& out) {
    const std::string field = "spec.scopeSelector.matchExpressions";
    const std::string_view scope = text_at(term, "scopeName");
    const std::string_view selects = text_at(term, "operator");
    if (!has(pod_scopes, scope) && scope != "VolumeAttributesClass") {
        out.wrong(field + ".scopeName", json::value(scope), "unsupported scope");
    }
    check_scope(scope, hard, field, selector, out);
    if (has(pod_scopes, scope) && scope != "PriorityClass" && selects != "Exists") {
        out.wrong(field + ".operator", json::value(selects),
                  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                  "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                  "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
    }
    const json::array& values = list_in(term, "values");
    if (selects == "In" || selects == "NotIn") {
        if (values.empty()) {
            out.required(field + ".values",
                         "must be at least one value when `operator` is 'In' or 'NotIn' for "
                         "scope selector");
        }
    } else if (selects == "Exists" || selects == "DoesNotExist") {
        if (!values.empty()) {
            out.wrong(field + ".values", values,
                      "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                      "selector");
        }
    } else {
        out.wrong(field + ".operator", json::value(selects), "not a valid selector operator");
    }
}

}  // namespace

void check_quota(const json::object& object, Causes& out) {
    const json::object* found = kube::object_at(object, "spec.hard");
    const json::object hard = found == nullptr ? json::object() : *found;
    for (const auto& [name, amount] : hard) { check_amount(name, amount, out); }
    check_scopes(object, hard, out);
    const json::array& terms = list_in(object, "spec.scopeSelector.matchExpressions");
    for (const json::value& term : terms) {
        if (term.is_object()) { check_term(term.get_object(), shown(terms), hard, out); }
    }
}

}  // namespace muster::lab
