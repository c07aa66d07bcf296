#include "lab/stateful_set_controller.h"

#include "base/text.h"
#include "kube/objects.h"
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

constexpr std::string_view revision_key = "controller-revision-hash";

/// The number behind the set's name; -1 when it is another pod.
std::int64_t ordinal_of(std::string_view pod, std::string_view set) {
    if (!pod.starts_with(set) || pod.size() < set.size() + 2 || pod[set.size()] != '-') {
        return -1;
    }
    const auto number = parse_int(pod.substr(set.size() + 1));
    return number ? *number : -1;
}

bool is_steady(const json::object& pod) {
    return is_standing(pod) && kube::condition_of(pod, "Ready") == "True";
}

}  // namespace

StatefulSetController::StatefulSetController(kube::Transport& transport, LabTimers& timers,
                                             WorkloadPods& pods)
    : transport_(transport),
      timers_(timers),
      pods_(pods),
      events_(
          transport, [&timers] { return timers.now(); }, "statefulset-controller"),
      queue_(timers, [this](const ObjectName& name) { reconcile(name); }),
      sets_(transport, known::stateful_sets,
            [this](Change change, const ObjectName& name, const Object& set, const Object*) {
                if (change == Change::gone) { pods_.forget(set); }
                queue_.add(name);
            }) {}

void StatefulSetController::resync() { queue_.add_all(sets_); }

StatefulSetController::Members StatefulSetController::members_of(const Object& set) const {
    Members out;
    for (const Object* pod : pods_.of(set)) {
        const std::int64_t ordinal =
            ordinal_of(text_at(*pod, "metadata.name"), text_at(set, "metadata.name"));
        if (ordinal >= 0) { out[ordinal] = pod; }
    }
    return out;
}

void StatefulSetController::reconcile(const ObjectName& name) {
    const Object* set = sets_.find(name);
    if (set == nullptr || kube::is_leaving(*set)) { return; }
    if (!pods_.is_synced()) { return queue_.add_later(name, 100 * timers_.speed()); }
    const json::value* pods = kube::value_at(*set, "spec.template");
    if (pods == nullptr) { return; }
    const std::string revision = fmt::format("{}-{}", name.second, template_hash(*pods));
    const Members members = members_of(*set);
    if (pods_.is_settled(*set)) { act(*set, members, revision); }
    show(*set, members, revision);
}

void StatefulSetController::act(const Object& set, const Members& members,
                                const std::string& revision) {
    const std::int64_t first = std::max<std::int64_t>(int_at(set, "spec.ordinals.start"), 0);
    const std::int64_t end = first + std::max<std::int64_t>(int_at(set, "spec.replicas", 1), 0);
    const bool is_parallel = text_at(set, "spec.podManagementPolicy") == "Parallel";
    auto room = static_cast<std::int64_t>(pods_.room(set));
    for (std::int64_t ordinal = first; ordinal < end; ++ordinal) {
        const auto at = members.find(ordinal);
        const Object* pod = at == members.end() ? nullptr : at->second;
        if (pod == nullptr) {
            if (room-- <= 0) { return; }
            create(set, ordinal, revision);
        } else if (is_over(*pod) && !kube::is_leaving(*pod)) {
            pods_.remove(set, *pod, events_);  // its place is taken again when it is gone
        }
        if (!is_parallel && (pod == nullptr || !is_steady(*pod))) { return; }
    }
    // The last one goes first, and in order each waits until the one before is gone.
    for (auto at = members.rbegin(); at != members.rend(); ++at) {
        if (at->first >= first && at->first < end) { continue; }
        const bool is_going = kube::is_leaving(*at->second) || pods_.is_doomed(*at->second);
        if (!is_going) { pods_.remove(set, *at->second, events_); }
        if (!is_parallel) { return; }
    }
    update(set, members, revision);
}

void StatefulSetController::update(const Object& set, const Members& members,
                                   const std::string& revision) {
    if (text_at(set, "spec.updateStrategy.type") == "OnDelete") { return; }
    const std::int64_t partition = int_at(set, "spec.updateStrategy.rollingUpdate.partition");
    for (auto at = members.rbegin(); at != members.rend() && at->first >= partition; ++at) {
        const Object& pod = *at->second;
        const bool is_new = kube::label_of(pod, revision_key) == revision;
        if (!is_new && !kube::is_leaving(pod)) { pods_.remove(set, pod, events_); }
        if (!is_new || !is_steady(pod)) { return; }
    }
}

void StatefulSetController::create(const Object& set, std::int64_t ordinal,
                                   const std::string& revision) {
    const std::string name = fmt::format("{}-{}", text_at(set, "metadata.name"), ordinal);
    Object pod = pod_of_template(set);
    pod["metadata"].as_object().erase("generateName");
    pod["metadata"].as_object()["name"] = name;
    put_in(pod, "labels", "statefulset.kubernetes.io/pod-name", name);
    put_in(pod, "labels", "apps.kubernetes.io/pod-index", std::to_string(ordinal));
    put_in(pod, "labels", revision_key, revision);
    Object& spec = pod["spec"].as_object();
    spec["hostname"] = name;
    const std::string_view service = text_at(set, "spec.serviceName");
    if (!service.empty()) { spec["subdomain"] = service; }
    pods_.create(set, pod, events_);
}

void StatefulSetController::show(const Object& set, const Members& members,
                                 const std::string& revision) {
    const std::int64_t seconds = int_at(set, "spec.minReadySeconds");
    std::int64_t ready = 0;
    std::int64_t available = 0;
    std::int64_t updated = 0;
    for (const auto& [ordinal, pod] : members) {
        if (is_available(*pod, 0, timers_.now())) { ++ready; }
        if (is_available(*pod, seconds, timers_.now())) { ++available; }
        if (kube::label_of(*pod, revision_key) == revision) { ++updated; }
    }
    if (available < ready) { queue_.add_later(kube::name_of(set), seconds * 1000); }
    const auto replicas = static_cast<std::int64_t>(members.size());
    const std::string_view before = text_at(set, "status.currentRevision");
    const bool is_all = updated == replicas && ready == replicas;
    const std::string current(before.empty() || is_all ? std::string_view(revision) : before);
    const std::int64_t old = current == revision ? updated : replicas - updated;
    write_status(transport_, known::stateful_sets, set,
                 {{"observedGeneration", int_at(set, "metadata.generation")},
                  {"replicas", replicas},
                  {"readyReplicas", count_or_none(ready)},
                  {"availableReplicas", available},
                  {"currentReplicas", count_or_none(old)},
                  {"updatedReplicas", count_or_none(updated)},
                  {"currentRevision", current},
                  {"updateRevision", revision}});
}

}  // namespace muster::lab
