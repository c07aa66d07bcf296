// The eviction subresource: a deletion that disruption budgets may forbid. What they allow is
// counted down here, within the request, so that two evictions never share one allowance.
#include "lab/api_ask.h"
#include "lab/metadata.h"
#include "lab/selector.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <utility>
#include <vector>

namespace muster::lab {

namespace json = boost::json;

namespace {

constexpr std::string_view budgets = "policy/poddisruptionbudgets";
constexpr std::size_t disrupted_max = 2'000;
constexpr std::int64_t unseen_retry_s = 10;

struct Budget {
    Key key;
    json::object object;
};

std::vector<Budget> budgets_of(const json::object& pod, std::string_view space,
                               const ObjectStore& store) {
    std::vector<Budget> out;
    const std::string name(space);
    const auto& all = store.all(budgets);
    for (auto at = all.lower_bound({name, ""}); at != all.end() && at->first.first == name; ++at) {
        json::object budget = json::parse(*at->second.text).get_object();
        const json::value* wanted = value_at(budget, "spec.selector");
        if (wanted == nullptr || wanted->is_null()) { continue; }
        const auto selector = read_label_selector(*wanted);
        if (selector && matches_labels(*selector, kube::object_at(pod, "metadata.labels"))) {
            out.push_back({at->first, std::move(budget)});
        }
    }
    return out;
}

/// Pods that are over or never ran disturb nobody.
bool is_beside_budgets(const json::object& pod) {
    return !is_standing(pod) || text_at(pod, "status.phase") == "Pending";
}

tl::unexpected<ApiError> would_violate(std::string why, std::int64_t retry_after_s = 0) {
    ApiError error{.code = 429,
                   .reason = "TooManyRequests",
                   .message = "Cannot evict pod as it would violate the pod's disruption budget."};
    error.causes.push_back({.reason = "DisruptionBudget", .message = std::move(why), .field = ""});
    error.retry_after_s = retry_after_s;
    return tl::unexpected(std::move(error));
}

/// Whether the budget does not count this pod, for it serves nobody.
bool lets_unhealthy_go(const json::object& budget) {
    if (text_at(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow") { return true; }
    const std::int64_t desired = int_at(budget, "status.desiredHealthy");
    return desired > 0 && int_at(budget, "status.currentHealthy") >= desired;
}

/// Takes one of what is allowed.
Outcome<> count_down(Budget& budget, std::string_view pod, std::int64_t now) {
    json::object& object = budget.object;
    const std::string& name = budget.key.second;
    if (int_at(object, "status.observedGeneration") < int_at(object, "metadata.generation")) {
        return would_violate(
            fmt::format("The disruption budget {} is still being processed by the server.", name),
            unseen_retry_s);
    }
    const std::int64_t allowed = int_at(object, "status.disruptionsAllowed");
    if (allowed <= 0) {
        return would_violate(fmt::format(
            "The disruption budget {} needs {} healthy pods and has {} currently", name,
            int_at(object, "status.desiredHealthy"), int_at(object, "status.currentHealthy")));
    }
    json::object& status = child(object, "status");
    json::object& disrupted = child(status, "disruptedPods");
    if (disrupted.size() >= disrupted_max) {
        return would_violate(fmt::format(
            "The disruption budget {} waits for too many pods that were evicted", name));
    }
    disrupted[pod] = time_text(now);
    status["disruptionsAllowed"] = allowed - 1;
    if (allowed == 1) {
        set_condition(children(status, "conditions"),
                      {.type = "DisruptionAllowed",
                       .status = "False",
                       .reason = "InsufficientPods",
                       .message = ""},
                      now);
    }
    return {};
}

}  // namespace

/// A budget that would be broken answers 429, as the eviction API does.
Outcome<net::HttpResponse> Api::evict(Ask& ask) {
    json::object options;
    if (!ask.request.body.empty()) {
        auto body = parse_body(ask.request, false);
        if (!body) { return tl::unexpected(std::move(body.error())); }
        if (body->is_object()) {
            if (const std::string_view name = name_of(body->get_object());
                !name.empty() && name != ask.at.name) {
                return bad_request("name in URL does not match name in Eviction object");
            }
            if (const json::object* found = kube::object_at(body->get_object(), "deleteOptions")) {
                options = *found;
            }
        }
    }
    auto pod = find(ask);
    if (!pod) { return tl::unexpected(std::move(pod.error())); }
    const json::array* dry = kube::array_at(options, "dryRun");
    const bool is_dry = ask.is_dry() || (dry != nullptr && !dry->empty());
    const auto done = [&] {
        return answer(201, {{"kind", "Status"},
                            {"apiVersion", "v1"},
                            {"metadata", json::object()},
                            {"status", "Success"},
                            {"code", 201}});
    };
    if (!is_beside_budgets(*pod)) {
        std::vector<Budget> all = budgets_of(*pod, ask.at.space, store_);
        if (all.size() > 1) {
            return tl::unexpected(
                ApiError{.code = 500,
                         .reason = "InternalError",
                         .message = "This pod has more than one PodDisruptionBudget, which the "
                                    "eviction subresource does not support."});
        }
        const bool is_healthy = kube::condition_of(*pod, "Ready") == "True";
        if (!all.empty() && (is_healthy || !lets_unhealthy_go(all.front().object))) {
            Budget& budget = all.front();
            if (auto counted = count_down(budget, ask.at.name, options_.now()); !counted) {
                return tl::unexpected(std::move(counted.error()));
            }
            if (!is_dry) {
                auto stored = written(store_.put(budgets, budget.key, budget.object));
                if (!stored) { return tl::unexpected(std::move(stored.error())); }
            }
        }
    }
    if (is_dry) { return done(); }
    ask.at.subresource.clear();
    auto ended = begin_end(ask, std::move(*pod), options);
    if (!ended) { return tl::unexpected(std::move(ended.error())); }
    return done();
}

}  // namespace muster::lab
