#include "kube/budgets.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::kube {

namespace json = boost::json;

namespace {

bool is_in(const json::array* values, std::string_view value) {
    return values != nullptr &&
           std::any_of(values->begin(), values->end(), [&](const json::value& one) {
               return one.is_string() && std::string_view(one.get_string()) == value;
           });
}

/// Operators that are not known select nothing, as invalid ones do on the server.
bool holds(const json::object& match, const json::object& labels) {
    const std::string_view op = text_at(match, "operator");
    const json::value* found = labels.if_contains(text_at(match, "key"));
    const bool is_there = found != nullptr && found->is_string();
    if (op == "Exists") { return is_there; }
    if (op == "DoesNotExist") { return !is_there; }
    const bool is_listed =
        is_there && is_in(array_at(match, "values"), std::string_view(found->get_string()));
    if (op == "In") { return is_listed; }
    return op == "NotIn" && !is_listed;
}

/// What has no containers to lose goes without asking any budget.
bool is_free_to_go(const json::object& pod) {
    return text_at(pod, "status.phase") != "Running" || is_leaving(pod);
}

bool needs_room(const json::object& budget, const json::object& pod) {
    if (condition_of(pod, "Ready") != "False") { return true; }
    if (text_at(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow") { return false; }
    const std::int64_t desired = int_at(budget, "status.desiredHealthy");
    return desired <= 0 || int_at(budget, "status.currentHealthy") < desired;
}

}  // namespace

bool selects(const json::value* selector, const json::object& labels) {
    if (selector == nullptr || !selector->is_object()) { return false; }
    const json::object& of = selector->get_object();
    if (const json::object* wanted = object_at(of, "matchLabels")) {
        for (const auto& [key, value] : *wanted) {
            const json::value* found = labels.if_contains(key);
            if (found == nullptr || *found != value) { return false; }
        }
    }
    const json::array* matches = array_at(of, "matchExpressions");
    return matches == nullptr ||
           std::all_of(matches->begin(), matches->end(), [&](const json::value& match) {
               return match.is_object() && holds(match.get_object(), labels);
           });
}

std::string forbidding_budget(std::string_view budgets, const std::vector<json::object>& pods) {
    const json::object list = object_of(budgets);
    const json::array* items = array_at(list, "items");
    if (items == nullptr) { return {}; }
    std::vector<std::string> budget_of(pods.size());
    std::string why;
    for (const json::value& item : *items) {
        const json::object* budget = item.if_object();
        if (budget == nullptr) { continue; }
        const std::string name(text_at(*budget, "metadata.name"));
        std::int64_t needed = 0;
        for (std::size_t i = 0; i < pods.size(); ++i) {
            const json::object* labels = object_at(pods[i], "metadata.labels");
            if (is_free_to_go(pods[i]) || !selects(value_at(*budget, "spec.selector"),
                                                   labels != nullptr ? *labels : json::object{})) {
                continue;
            }
            if (!budget_of[i].empty()) {
                return fmt::format("{} is in two budgets, {} and {}, which no eviction is allowed",
                                   name_of(pods[i]).second, budget_of[i], name);
            }
            budget_of[i] = name;
            if (needs_room(*budget, pods[i])) { ++needed; }
        }
        const std::int64_t allowed = int_at(*budget, "status.disruptionsAllowed");
        if (needed == 0 || !why.empty()) { continue; }
        if (int_at(*budget, "status.observedGeneration") < int_at(*budget, "metadata.generation")) {
            why = fmt::format("budget {} is new and not counted yet", name);
        } else if (needed > allowed) {
            why = fmt::format("budget {} allows {} of the {} pods to go", name,
                              std::max<std::int64_t>(0, allowed), needed);
        }
    }
    return why;
}

}  // namespace muster::kube
