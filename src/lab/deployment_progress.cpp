#include "lab/deployment_progress.h"

#include "kube/objects.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace muster::lab {

namespace json = boost::json;
using kube::int_at;
using kube::text_at;

namespace {

constexpr std::string_view available_reason = "NewReplicaSetAvailable";
constexpr std::string_view timed_out_reason = "ProgressDeadlineExceeded";

json::object* find(json::array& conditions) {
    for (json::value& one : conditions) {
        if (one.is_object() && text_at(one.get_object(), "type") == "Progressing") {
            return &one.get_object();
        }
    }
    return nullptr;
}

/// More of the new ones, or fewer of the old.
bool has_moved(const json::object& deployment, const RolloutCounts& now) {
    const auto was = [&](std::string_view field) {
        return int_at(deployment, fmt::format("status.{}", field));
    };
    const std::int64_t old = was("replicas") - was("updatedReplicas");
    return now.updated > was("updatedReplicas") || now.replicas - now.updated < old ||
           now.ready > was("readyReplicas") || now.available > was("availableReplicas") ||
           was("observedGeneration") != int_at(deployment, "metadata.generation");
}

void write(json::array& conditions, const ConditionUpdate& update, std::int64_t clock) {
    set_condition(conditions, update, clock);
    (*find(conditions))["lastUpdateTime"] = kube::time_text(clock);
}

}  // namespace

std::int64_t set_progress(json::array& conditions, const json::object& deployment,
                          const RolloutCounts& now, const std::string& replica_set,
                          std::int64_t clock) {
    const json::object* before = find(conditions);
    const std::string reason(before == nullptr ? std::string_view() : text_at(*before, "reason"));
    const auto say = [&](std::string_view status, std::string_view why, std::string_view what) {
        write(conditions,
              {.type = "Progressing",
               .status = status,
               .reason = why,
               .message = fmt::format("ReplicaSet \"{}\" {}", replica_set, what)},
              clock);
    };
    if (now.is_done()) {
        if (reason != available_reason || has_moved(deployment, now)) {
            say("True", available_reason, "has successfully progressed.");
        }
        return -1;
    }
    // A rollout that was through stays so when pods fail later.
    if (reason == available_reason && now.updated == now.replicas && !has_moved(deployment, now)) {
        return -1;
    }
    if (before == nullptr || has_moved(deployment, now)) {
        say("True", "ReplicaSetUpdated", "is progressing.");
        before = find(conditions);
    }
    const std::int64_t deadline = int_at(deployment, "spec.progressDeadlineSeconds", 600) * 1'000;
    if (text_at(*before, "reason") == timed_out_reason ||
        kube::flag_at(deployment, "spec.paused") || deadline >= INT32_MAX * std::int64_t{1'000}) {
        return -1;
    }
    std::int64_t since = kube::read_time(text_at(*before, "lastUpdateTime"));
    if (since < 0) { since = kube::read_time(text_at(*before, "lastTransitionTime")); }
    if (clock < since + deadline) { return since + deadline - clock; }
    say("False", timed_out_reason, "has timed out progressing.");
    return -1;
}

}  // namespace muster::lab
