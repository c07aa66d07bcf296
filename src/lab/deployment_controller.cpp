#include "lab/deployment_controller.h"

#include "base/text.h"
#include "kube/objects.h"
#include "lab/deployment_progress.h"
#include "lab/known_resources.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;
using kube::int_at;
using kube::ObjectName;
using kube::text_at;
using Change = kube::Informer::Change;

namespace {

constexpr std::string_view revision_key = "deployment.kubernetes.io/revision";
constexpr std::string_view hash_key = "pod-template-hash";

std::int64_t revision_of(const json::object& object) {
    const auto revision = parse_int(kube::annotation_of(object, revision_key));
    return revision ? *revision : 0;
}

std::int64_t wanted_of(const json::object& object) { return int_at(object, "spec.replicas", 1); }
std::int64_t available_of(const json::object& set) {
    return int_at(set, "status.availableReplicas");
}

struct RollBounds {
    std::int64_t surge = 0;
    std::int64_t unavailable = 0;
};

RollBounds bounds_of(const json::object& deployment) {
    const std::int64_t replicas = wanted_of(deployment);
    RollBounds out{
        share_of(kube::value_at(deployment, "spec.strategy.rollingUpdate.maxSurge"), replicas, true,
                 "25%"),
        share_of(kube::value_at(deployment, "spec.strategy.rollingUpdate.maxUnavailable"), replicas,
                 false, "25%")};
    if (out.surge == 0 && out.unavailable == 0) { out.unavailable = 1; }
    return out;
}

/// What its ReplicaSet could not make.
void show_failure(json::array& conditions, const json::object* current, std::int64_t now) {
    if (current == nullptr || kube::condition_of(*current, "ReplicaFailure") != "True") {
        return drop_condition(conditions, "ReplicaFailure");
    }
    for (const json::value& one : *kube::array_at(*current, "status.conditions")) {
        if (text_at(one.get_object(), "type") != "ReplicaFailure") { continue; }
        set_condition(conditions,
                      {.type = "ReplicaFailure",
                       .status = "True",
                       .reason = text_at(one.get_object(), "reason"),
                       .message = text_at(one.get_object(), "message")},
                      now);
    }
}

}  // namespace

DeploymentController::DeploymentController(kube::Transport& transport, LabTimers& timers,
                                           const kube::Informer& replica_sets)
    : transport_(transport),
      timers_(timers),
      replica_sets_(replica_sets),
      events_(
          transport, [&timers] { return timers.now(); }, "deployment-controller"),
      queue_(timers, [this](const ObjectName& name) { reconcile(name); }),
      deployments_(transport, known::deployments, queue_.listener()) {}

void DeploymentController::resync() { queue_.add_all(deployments_); }

void DeploymentController::on_replica_set(const Object& set) {
    if (const auto deployment = controller_name(set, "Deployment")) { queue_.add(*deployment); }
}

DeploymentController::Sets DeploymentController::sets_of(const Object& deployment,
                                                         const std::string& current) const {
    Sets out;
    for (const Object* set : controlled_by(deployment, replica_sets_)) {
        out.revision_max = std::max(out.revision_max, revision_of(*set));
        if (text_at(*set, "metadata.name") == current) {
            out.current = set;
        } else {
            out.old.push_back(set);
        }
    }
    std::sort(out.old.begin(), out.old.end(), [](const Object* a, const Object* b) {
        return std::pair(revision_of(*a), kube::name_of(*a)) <
               std::pair(revision_of(*b), kube::name_of(*b));
    });
    return out;
}

void DeploymentController::reconcile(const ObjectName& name) {
    const Object* deployment = deployments_.find(name);
    if (deployment == nullptr || kube::is_leaving(*deployment)) { return; }
    if (!replica_sets_.is_synced()) { return queue_.add_later(name, 100 * timers_.speed()); }
    const json::value* pods = kube::value_at(*deployment, "spec.template");
    if (pods == nullptr) { return; }
    const std::string hash = template_hash(*pods);
    const Sets sets = sets_of(*deployment, fmt::format("{}-{}", name.second, hash));
    const bool is_paused = kube::flag_at(*deployment, "spec.paused");
    if (sets.current == nullptr && !is_paused) {
        const bool waits_for_old =
            text_at(*deployment, "spec.strategy.type") == "Recreate" &&
            std::any_of(sets.old.begin(), sets.old.end(), [](const Object* old) {
                return wanted_of(*old) > 0 || int_at(*old, "status.replicas") > 0;
            });
        if (!waits_for_old) { create_set(*deployment, hash, sets); }
    }
    if (sets.current != nullptr && !is_paused) { keep_revision(*deployment, sets); }
    if (!is_paused) { roll(*deployment, sets); }
    trim_history(*deployment, sets);
    show(*deployment, sets);
}

/// The name comes from the template, so that a second creation meets the first.
void DeploymentController::create_set(const Object& deployment, const std::string& hash,
                                      const Sets& sets) {
    const ObjectName name = kube::name_of(deployment);
    const std::string called = fmt::format("{}-{}", name.second, hash);
    Object set{{"apiVersion", "apps/v1"},
               {"kind", "ReplicaSet"},
               {"metadata",
                {{"name", called},
                 {"namespace", name.first},
                 {"annotations", {{revision_key, std::to_string(sets.revision_max + 1)}}},
                 {"ownerReferences", json::array{kube::owner_reference(deployment)}}}},
               {"spec", json::object()}};
    Object& spec = set["spec"].as_object();
    const bool has_old = std::any_of(sets.old.begin(), sets.old.end(),
                                     [](const Object* old) { return wanted_of(*old) > 0; });
    spec["replicas"] = has_old ? 0 : wanted_of(deployment);
    if (const json::value* seconds = kube::value_at(deployment, "spec.minReadySeconds")) {
        spec["minReadySeconds"] = *seconds;
    }
    if (const Object* selector = kube::object_at(deployment, "spec.selector")) {
        spec["selector"] = *selector;
    }
    json::value& labels = spec["selector"];
    if (!labels.is_object()) { labels = json::object(); }
    json::value& match = labels.as_object()["matchLabels"];
    if (!match.is_object()) { match = json::object(); }
    match.as_object()[hash_key] = hash;
    Object pods = *kube::object_at(deployment, "spec.template");
    put_in(pods, "labels", hash_key, hash);
    set["metadata"].as_object()["labels"] = pods["metadata"].as_object()["labels"];
    spec["template"] = std::move(pods);
    if (!has_old && wanted_of(deployment) > 0) {
        events_.record(
            deployment, "Normal", "ScalingReplicaSet",
            fmt::format("Scaled up replica set {} from 0 to {}", called, wanted_of(deployment)));
    }
    kube::create_object(
        transport_, known::replica_sets, name.first, set,
        [this, name, alive = std::weak_ptr<int>(alive_)](const Result<kube::Answer>& answer) {
            if (alive.expired()) { return; }
            const bool is_made = answer && (answer->is_ok() || answer->status == 409);
            if (!is_made) { queue_.add_later(name, 1'000 * timers_.speed()); }
        });
}

/// A template that was there before is the newest revision again.
void DeploymentController::keep_revision(const Object& deployment, const Sets& sets) {
    const bool is_newest = std::all_of(sets.old.begin(), sets.old.end(), [&](const Object* old) {
        return revision_of(*old) < revision_of(*sets.current);
    });
    const std::int64_t revision = is_newest ? revision_of(*sets.current) : sets.revision_max + 1;
    const Object patch{{"metadata", {{"annotations", {{revision_key, std::to_string(revision)}}}}}};
    if (revision_of(*sets.current) != revision) {
        kube::patch_object(
            transport_,
            {.resource = known::replica_sets, .name = kube::name_of(*sets.current), .rest = ""},
            patch);
    }
    if (revision_of(deployment) != revision) {
        kube::patch_object(
            transport_,
            {.resource = known::deployments, .name = kube::name_of(deployment), .rest = ""}, patch);
    }
}

void DeploymentController::roll(const Object& deployment, const Sets& sets) {
    const std::int64_t wanted = wanted_of(deployment);
    std::int64_t total = 0;
    for (const Object* old : sets.old) { total += wanted_of(*old); }
    if (text_at(deployment, "spec.strategy.type") == "Recreate") {
        for (const Object* old : sets.old) { scale(deployment, *old, 0); }
        if (sets.current != nullptr) { scale(deployment, *sets.current, wanted); }
        return;
    }
    if (sets.current == nullptr) { return; }
    const RollBounds bounds = bounds_of(deployment);
    std::int64_t current = wanted_of(*sets.current);
    if (current > wanted) {
        current = scale(deployment, *sets.current, wanted);
    } else if (current < wanted) {
        const std::int64_t room = wanted + bounds.surge - total - current;
        const std::int64_t more = std::clamp<std::int64_t>(room, 0, wanted - current);
        current = scale(deployment, *sets.current, current + more);
    }
    const std::int64_t missing = std::max<std::int64_t>(current - available_of(*sets.current), 0);
    roll_old(deployment, sets, total + current - (wanted - bounds.unavailable) - missing);
}

/// Takes at most `room` away from the old ones: first what does not work anyway.
void DeploymentController::roll_old(const Object& deployment, const Sets& sets, std::int64_t room) {
    for (const Object* old : sets.old) {
        if (room <= 0) { return; }
        const std::int64_t broken = std::max<std::int64_t>(wanted_of(*old) - available_of(*old), 0);
        const std::int64_t working = wanted_of(*old) - broken;
        const std::int64_t taken = std::min(broken, room);
        const std::int64_t more = std::min(working, room - taken);
        scale(deployment, *old, wanted_of(*old) - taken - more);
        room -= taken + more;
    }
}

std::int64_t DeploymentController::scale(const Object& deployment, const Object& set,
                                         std::int64_t replicas) {
    const std::int64_t before = wanted_of(set);
    if (before == replicas) { return replicas; }
    const ObjectName name = kube::name_of(set);
    events_.record(deployment, "Normal", "ScalingReplicaSet",
                   fmt::format("Scaled {} replica set {} from {} to {}",
                               replicas > before ? "up" : "down", name.second, before, replicas));
    kube::patch_object(transport_, {.resource = known::replica_sets, .name = name, .rest = ""},
                       {{"spec", {{"replicas", replicas}}}});
    return replicas;
}

void DeploymentController::trim_history(const Object& deployment, const Sets& sets) {
    std::vector<const Object*> empty;
    for (const Object* old : sets.old) {
        const bool is_empty = wanted_of(*old) == 0 && int_at(*old, "status.replicas") == 0;
        if (is_empty && !kube::is_leaving(*old)) { empty.push_back(old); }
    }
    const auto kept = static_cast<std::size_t>(
        std::max<std::int64_t>(int_at(deployment, "spec.revisionHistoryLimit", 10), 0));
    for (std::size_t i = 0; i + kept < empty.size(); ++i) {
        kube::delete_object(transport_, known::replica_sets, kube::name_of(*empty[i]),
                            {.uid = std::string(kube::uid_of(*empty[i])),
                             .grace = -1,
                             .propagation = "Background"});
    }
}

void DeploymentController::show(const Object& deployment, const Sets& sets) {
    std::int64_t replicas = 0;
    std::int64_t ready = 0;
    std::int64_t available = 0;
    std::vector<const Object*> all = sets.old;
    if (sets.current != nullptr) { all.push_back(sets.current); }
    for (const Object* set : all) {
        replicas += int_at(*set, "status.replicas");
        ready += int_at(*set, "status.readyReplicas");
        available += available_of(*set);
    }
    const std::int64_t updated = sets.current ? int_at(*sets.current, "status.replicas") : 0;
    const std::int64_t wanted = wanted_of(deployment);
    const bool is_enough = available >= wanted - bounds_of(deployment).unavailable;
    const std::string set_name = sets.current ? kube::name_of(*sets.current).second : std::string();
    json::array conditions = conditions_in(deployment);
    set_condition(conditions,
                  {.type = "Available",
                   .status = is_enough ? "True" : "False",
                   .reason = is_enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                   .message = is_enough ? "Deployment has minimum availability."
                                        : "Deployment does not have minimum availability."},
                  timers_.now());
    const std::int64_t left = set_progress(conditions, deployment,
                                           {.wanted = wanted,
                                            .replicas = replicas,
                                            .updated = updated,
                                            .ready = ready,
                                            .available = available},
                                           set_name, timers_.now());
    if (left >= 0) { queue_.add_later(kube::name_of(deployment), left); }
    show_failure(conditions, sets.current, timers_.now());
    write_status(
        transport_, known::deployments, deployment,
        {{"observedGeneration", int_at(deployment, "metadata.generation")},
         {"replicas", count_or_none(replicas)},
         {"updatedReplicas", count_or_none(updated)},
         {"readyReplicas", count_or_none(ready)},
         {"availableReplicas", count_or_none(available)},
         {"unavailableReplicas", count_or_none(std::max<std::int64_t>(wanted - available, 0))},
         {"conditions", std::move(conditions)}});
}

}  // namespace muster::lab
