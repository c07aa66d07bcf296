#include "lab/replica_set_controller.h"

#include "kube/objects.h"
#include "lab/known_resources.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>

#include <algorithm>
#include <tuple>

namespace muster::lab {

namespace json = boost::json;
using kube::int_at;
using kube::ObjectName;
using kube::text_at;
using Change = kube::Informer::Change;

namespace {

/// What is least loss goes first: not on a node, not running, not ready, young.
bool goes_first(const json::object* a, const json::object* b) {
    const auto worth = [](const json::object& pod) {
        return std::tuple(!text_at(pod, "spec.nodeName").empty(),
                          text_at(pod, "status.phase") == "Running",
                          kube::condition_of(pod, "Ready") == "True");
    };
    const auto worth_a = worth(*a);
    const auto worth_b = worth(*b);
    if (worth_a != worth_b) { return worth_a < worth_b; }
    const auto age_a = std::pair(text_at(*a, "metadata.creationTimestamp"), kube::name_of(*a));
    const auto age_b = std::pair(text_at(*b, "metadata.creationTimestamp"), kube::name_of(*b));
    return age_a > age_b;
}

}  // namespace

ReplicaSetController::ReplicaSetController(kube::Transport& transport, LabTimers& timers,
                                           WorkloadPods& pods, kube::Informer::Listener changed)
    : transport_(transport),
      timers_(timers),
      pods_(pods),
      events_(
          transport, [&timers] { return timers.now(); }, "replicaset-controller"),
      queue_(timers, [this](const ObjectName& name) { reconcile(name); }),
      sets_(transport, known::replica_sets,
            [this, told = std::move(changed)](Change change, const ObjectName& name,
                                              const Object& set, const Object* before) {
                if (change == Change::gone) { pods_.forget(set); }
                queue_.add(name);
                if (told) { told(change, name, set, before); }
            }) {}

void ReplicaSetController::resync() { queue_.add_all(sets_); }

void ReplicaSetController::reconcile(const ObjectName& name) {
    const Object* set = sets_.find(name);
    if (set == nullptr || kube::is_leaving(*set)) { return; }
    if (!pods_.is_synced()) { return queue_.add_later(name, 100 * timers_.speed()); }
    std::vector<const Object*> standing;
    for (const Object* pod : pods_.of(*set)) {
        if (is_standing(*pod) && !pods_.is_doomed(*pod)) { standing.push_back(pod); }
    }
    const auto wanted =
        static_cast<std::size_t>(std::max<std::int64_t>(int_at(*set, "spec.replicas", 1), 0));
    if (pods_.is_settled(*set)) {
        if (standing.size() > wanted) {
            std::sort(standing.begin(), standing.end(), goes_first);
            const auto excess = static_cast<std::ptrdiff_t>(standing.size() - wanted);
            for (const Object* pod : std::vector(standing.begin(), standing.begin() + excess)) {
                pods_.remove(*set, *pod, events_);
            }
            standing.erase(standing.begin(), standing.begin() + excess);
        } else {
            const std::size_t count = std::min(wanted - standing.size(), pods_.room(*set));
            for (std::size_t i = 0; i < count; ++i) {
                pods_.create(*set, pod_of_template(*set), events_);
            }
        }
    }
    const std::int64_t seconds = int_at(*set, "spec.minReadySeconds");
    std::int64_t ready = 0;
    std::int64_t available = 0;
    for (const Object* pod : standing) {
        if (is_available(*pod, 0, timers_.now())) { ++ready; }
        if (is_available(*pod, seconds, timers_.now())) { ++available; }
    }
    if (available < ready) { queue_.add_later(name, seconds * 1000); }
    const auto replicas = static_cast<std::int64_t>(standing.size());
    json::array conditions = conditions_in(*set);
    if (const std::string_view why = pods_.refusal(*set); !why.empty()) {
        set_condition(
            conditions,
            {.type = "ReplicaFailure", .status = "True", .reason = "FailedCreate", .message = why},
            timers_.now());
    } else {
        drop_condition(conditions, "ReplicaFailure");
    }
    json::value told = conditions.empty() ? json::value() : json::value(std::move(conditions));
    write_status(transport_, known::replica_sets, *set,
                 {{"replicas", replicas},
                  {"fullyLabeledReplicas", count_or_none(replicas)},
                  {"readyReplicas", count_or_none(ready)},
                  {"availableReplicas", count_or_none(available)},
                  {"conditions", std::move(told)},
                  {"observedGeneration", int_at(*set, "metadata.generation")}});
}

}  // namespace muster::lab
