#include "lab/disruption_controller.h"

#include "kube/objects.h"
#include "lab/known_resources.h"
#include "lab/selector.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace muster::lab {

namespace json = boost::json;
using kube::int_at;
using kube::ObjectName;
using kube::text_at;
using Change = kube::Informer::Change;

namespace {

constexpr std::int64_t unsynced_wait = 100;       // ours
constexpr std::int64_t disrupted_wait = 120'000;  // until an eviction counts as forgotten

bool selects(const json::object& budget, const json::object& pod) {
    const json::value* wanted = kube::value_at(budget, "spec.selector");
    if (wanted == nullptr || wanted->is_null()) { return false; }
    const auto selector = read_label_selector(*wanted);
    return selector && matches_labels(*selector, kube::object_at(pod, "metadata.labels"));
}

/// What is still to be waited for of those that were evicted; `again` is when to look next.
json::object still_disrupted(const json::object& budget,
                             const std::vector<const json::object*>& pods, std::int64_t now,
                             std::int64_t& again) {
    json::object out;
    const json::object* had = kube::object_at(budget, "status.disruptedPods");
    if (had == nullptr) { return out; }
    for (const json::object* pod : pods) {
        const json::value* since = had->if_contains(text_at(*pod, "metadata.name"));
        if (since == nullptr || !since->is_string() || kube::is_leaving(*pod)) { continue; }
        const std::int64_t end = kube::read_time(since->get_string()) + disrupted_wait;
        if (end <= now) { continue; }
        out[text_at(*pod, "metadata.name")] = *since;
        again = again < 0 ? end - now : std::min(again, end - now);
    }
    return out;
}

}  // namespace

DisruptionController::DisruptionController(kube::Transport& transport, LabTimers& timers,
                                           const kube::Informer& pods)
    : transport_(transport),
      timers_(timers),
      pods_(pods),
      events_(
          transport, [&timers] { return timers.now(); }, "controllermanager"),
      queue_(timers, [this](const ObjectName& name) { reconcile(name); }),
      budgets_(transport, known::disruption_budgets, queue_.listener()),
      replica_sets_(transport, known::replica_sets,
                    [this](Change, const ObjectName& name, const Object&, const Object*) {
                        all_of(name.first);
                    }),
      deployments_(transport, known::deployments,
                   [this](Change, const ObjectName& name, const Object&, const Object*) {
                       all_of(name.first);
                   }),
      stateful_sets_(transport, known::stateful_sets,
                     [this](Change, const ObjectName& name, const Object&, const Object*) {
                         all_of(name.first);
                     }) {}

void DisruptionController::start() {
    replica_sets_.start();
    deployments_.start();
    stateful_sets_.start();
    budgets_.start();
}

void DisruptionController::all_of(const std::string& space) {
    const auto& all = budgets_.objects();
    for (auto at = all.lower_bound({space, ""}); at != all.end() && at->first.first == space;
         ++at) {
        queue_.add(at->first);
    }
}

void DisruptionController::on_pod(const ObjectName& name, const Object& pod, const Object* before) {
    const auto& all = budgets_.objects();
    for (auto at = all.lower_bound({name.first, ""});
         at != all.end() && at->first.first == name.first; ++at) {
        if (selects(at->second, pod) || (before != nullptr && selects(at->second, *before))) {
            queue_.add(at->first);
        }
    }
}

void DisruptionController::reconcile(const ObjectName& name) {
    const Object* budget = budgets_.find(name);
    if (budget == nullptr || kube::is_leaving(*budget)) { return; }
    if (!pods_.is_synced() || !replica_sets_.is_synced() || !deployments_.is_synced() ||
        !stateful_sets_.is_synced()) {
        return queue_.add_later(name, unsynced_wait * timers_.speed());
    }
    const std::vector<const Object*> pods = pods_of(name, *budget);
    const Wanted wanted = wanted_of(*budget, pods);
    const std::int64_t now = timers_.now();
    std::int64_t again = -1;
    json::object disrupted = still_disrupted(*budget, pods, now, again);
    const auto healthy = std::count_if(pods.begin(), pods.end(), [&](const Object* pod) {
        return is_standing(*pod) && kube::condition_of(*pod, "Ready") == "True" &&
               !disrupted.contains(text_at(*pod, "metadata.name"));
    });
    const bool is_known = wanted.failure.empty();
    const std::int64_t allowed =
        is_known && wanted.expected > 0 ? std::max<std::int64_t>(0, healthy - wanted.healthy) : 0;
    if (!is_known) {
        events_.record(*budget, "Warning", "CalculateExpectedPodCountFailed", wanted.failure);
    }
    const std::int64_t generation = int_at(*budget, "metadata.generation");
    json::array conditions = conditions_in(*budget);
    set_condition(conditions,
                  {.type = "DisruptionAllowed",
                   .status = allowed > 0 ? "True" : "False",
                   .reason = !is_known     ? "SyncFailed"
                             : allowed > 0 ? "SufficientPods"
                                           : "InsufficientPods",
                   .message = wanted.failure},
                  now);
    conditions.back().as_object()["observedGeneration"] = generation;
    json::object status = kube::object_at(*budget, "status") != nullptr
                              ? *kube::object_at(*budget, "status")
                              : json::object();
    const json::object before = status;
    status.erase("disruptedPods");
    if (!disrupted.empty()) { status["disruptedPods"] = std::move(disrupted); }
    if (is_known) {
        status["expectedPods"] = wanted.expected;
        status["desiredHealthy"] = wanted.healthy;
    }
    status["currentHealthy"] = healthy;
    status["disruptionsAllowed"] = allowed;
    status["observedGeneration"] = generation;
    status["conditions"] = std::move(conditions);
    if (again >= 0) { queue_.add_later(name, again); }
    if (status == before) { return; }
    // By version: an eviction may have counted meanwhile, and its write brings us here again.
    Object changed = *budget;
    changed["status"] = std::move(status);
    transport_.call(kube::replace_call(known::disruption_budgets, changed, "status"),
                    [](const Result<kube::Answer>&) {});
}

std::vector<const json::object*> DisruptionController::pods_of(const ObjectName& name,
                                                               const Object& budget) const {
    std::vector<const Object*> out;
    const auto& all = pods_.objects();
    for (auto at = all.lower_bound({name.first, ""});
         at != all.end() && at->first.first == name.first; ++at) {
        if (selects(budget, at->second)) { out.push_back(&at->second); }
    }
    return out;
}

/// A share counts of what controllers want, not of the pods that happen to be there.
DisruptionController::Wanted DisruptionController::wanted_of(
    const Object& budget, const std::vector<const Object*>& pods) const {
    const json::value* least = kube::value_at(budget, "spec.minAvailable");
    const json::value* most = kube::value_at(budget, "spec.maxUnavailable");
    Wanted out;
    if (most == nullptr && least == nullptr) { return out; }  // it lets nobody go
    if (most == nullptr && least->is_int64()) {
        out.expected = static_cast<std::int64_t>(pods.size());
        out.healthy = share_of(least, 0, true, "0");
        return out;
    }
    std::set<std::string_view> seen;
    for (const Object* pod : pods) {
        const Object* owner = kube::controller_of(*pod);
        if (owner == nullptr || !seen.insert(text_at(*owner, "uid")).second) { continue; }
        const auto scale = scale_of(std::string(text_at(*pod, "metadata.namespace")), *owner);
        if (!scale) {
            out.failure = fmt::format(
                "{} {} has no scale, so that no share of its pods can be known: say minAvailable "
                "as a number",
                text_at(*owner, "kind"), text_at(*owner, "name"));
            return out;
        }
        out.expected += *scale;
    }
    if (most != nullptr) {
        out.healthy =
            std::max<std::int64_t>(0, out.expected - share_of(most, out.expected, true, "0"));
    } else {
        out.healthy = share_of(least, out.expected, true, "0");
    }
    return out;
}

std::optional<std::int64_t> DisruptionController::scale_of(const std::string& space,
                                                           const Object& owner) const {
    const ObjectName name{space, std::string(text_at(owner, "name"))};
    const std::string_view kind = text_at(owner, "kind");
    const auto count = [&](const Object* object, const Object& reference) {
        const bool is_it = object != nullptr && kube::uid_of(*object) == text_at(reference, "uid");
        return is_it ? int_at(*object, "spec.replicas", 1) : 0;
    };
    if (kind == "StatefulSet") { return count(stateful_sets_.find(name), owner); }
    if (kind != "ReplicaSet") { return std::nullopt; }
    const Object* set = replica_sets_.find(name);
    const Object* above = set == nullptr ? nullptr : kube::controller_of(*set);
    if (above == nullptr || text_at(*above, "kind") != "Deployment") { return count(set, owner); }
    return count(deployments_.find({space, std::string(text_at(*above, "name"))}), *above);
}

}  // namespace muster::lab
