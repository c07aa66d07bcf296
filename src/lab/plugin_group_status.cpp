#include "lab/plugin_group_status.h"

#include "kube/objects.h"
#include "lab/known_resources.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>

namespace muster::lab {

namespace json = boost::json;
using kube::int_at;
using kube::ObjectName;
using kube::text_at;
using Change = kube::Informer::Change;

namespace {

constexpr std::string_view label = "scheduling.x-k8s.io/pod-group";
constexpr std::string_view definition = "podgroups.scheduling.x-k8s.io";
constexpr std::int64_t unsynced_wait = 100;  // ours

PluginMembers count(const std::set<ObjectName>& members, const kube::Informer& pods) {
    PluginMembers out;
    for (const ObjectName& name : members) {
        const json::object* pod = pods.find(name);
        if (pod == nullptr) { continue; }
        const std::string_view phase = text_at(*pod, "status.phase");
        ++out.all;
        if (!text_at(*pod, "spec.nodeName").empty()) { ++out.scheduled; }
        if (phase == "Running") { ++out.running; }
        if (phase == "Succeeded") { ++out.succeeded; }
        if (phase == "Failed") { ++out.failed; }
    }
    return out;
}

}  // namespace

std::string_view next_plugin_phase(std::string_view phase, std::int64_t min_member,
                                   const PluginMembers& members) {
    if (phase == "Finished" || phase == "Failed") { return phase; }
    if (members.all == 0 || members.all < min_member) { return "Pending"; }
    const std::int64_t good = members.succeeded + members.running;
    if (members.succeeded >= min_member) { return "Finished"; }
    if (members.failed > 0 && members.failed + good >= min_member) { return "Failed"; }
    return good >= min_member ? "Running" : "Scheduling";
}

PluginGroupStatus::PluginGroupStatus(kube::Transport& transport, LabTimers& timers,
                                     const kube::Informer& pods)
    : transport_(transport),
      timers_(timers),
      pods_(pods),
      queue_(timers, [this](const ObjectName& name) { reconcile(name); }),
      definitions_(
          transport, known::definitions,
          [this](Change change, const ObjectName& name, const json::object&, const json::object*) {
              if (change == Change::gone || name.second != definition || is_started_) { return; }
              is_started_ = true;
              groups_.start();
          }),
      groups_(transport, known::plugin_groups,
              [this](Change, const ObjectName& name, const json::object&, const json::object*) {
                  queue_.add(name);
              }) {}

void PluginGroupStatus::start() { definitions_.start(); }

void PluginGroupStatus::on_pod(Change change, const ObjectName& name, const json::object& pod) {
    const std::string_view group = kube::label_of(pod, label);
    if (group.empty()) { return; }
    const ObjectName of{name.first, std::string(group)};
    if (change == Change::set) {
        members_[of].insert(name);
    } else if (const auto at = members_.find(of); at != members_.end()) {
        at->second.erase(name);
        if (at->second.empty()) { members_.erase(at); }
    }
    queue_.add(of);
}

void PluginGroupStatus::reconcile(const ObjectName& name) {
    const json::object* group = groups_.find(name);
    if (group == nullptr || kube::is_leaving(*group)) { return; }
    if (!pods_.is_synced()) { return queue_.add_later(name, unsynced_wait * timers_.speed()); }
    static const std::set<ObjectName> none;
    const auto at = members_.find(name);
    const std::set<ObjectName>& pods = at == members_.end() ? none : at->second;
    const PluginMembers members = count(pods, pods_);
    const std::string_view phase = text_at(*group, "status.phase");
    json::object status{
        {"phase", next_plugin_phase(phase, int_at(*group, "spec.minMember", 1), members)},
        {"scheduled", count_or_none(members.scheduled)},
        {"running", count_or_none(members.running)},
        {"succeeded", count_or_none(members.succeeded)},
        {"failed", count_or_none(members.failed)}};
    if (members.all > 0 && text_at(*group, "status.occupiedBy").empty()) {
        const json::object* pod = pods_.find(*pods.begin());
        const json::object* owner = pod == nullptr ? nullptr : kube::controller_of(*pod);
        if (owner != nullptr) {
            status["occupiedBy"] = name.first + "/" + std::string(text_at(*owner, "name"));
        }
    }
    write_status(transport_, known::plugin_groups, *group, std::move(status));
}

}  // namespace muster::lab
