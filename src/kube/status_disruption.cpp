// What becomes of gangs that run: members lost, nodes that are not heard, the end as a whole.
#include "kube/objects.h"
#include "kube/status_names.h"
#include "kube/status_writer.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace muster::kube {

namespace json = boost::json;

/// An event on each of its groups, and conditions where they have any. Gangs without a group of
/// their own are told of at their pods.
void StatusWriter::tell_groups(const std::string& workload, std::string_view type,
                               std::string_view reason, const std::string& message,
                               const std::vector<Condition>& conditions) {
    const std::set<ObjectKey> groups = groups_of(workload);
    for (const ObjectKey& group : groups) {
        const auto object = objects_.find(group);
        if (!object) { continue; }
        events_.record(reference(group, *object), type, reason, message);
        if (group.kind == ObjectKind::plugin_group) { continue; }  // which has none
        for (const Condition& condition : conditions) {
            if (condition.is_true || !status_of(group, *object, condition.type).empty()) {
                set_conditions(group, {condition});
            }
        }
    }
    const TaskPods* pods = source_.pods_of(workload);
    if (!groups.empty() || pods == nullptr || pods->size() > pods_with_events_max) { return; }
    for (const auto& [task, pod] : *pods) {
        const ObjectKey key{ObjectKind::pod, pod.name};
        const auto object = objects_.find(key);
        if (object && uid_of(*object) == pod.uid && pod.is_ours) {
            events_.record(reference(key, *object), type, reason, message);
        }
    }
}

void StatusWriter::tell_released(const Release& release) {
    assigning_.erase(release.workload);
    if (release.tasks.empty()) { return; }
    const std::string cause = source_.windows().cause_of(release.workload);
    const std::string message = fmt::format("stops as a whole{}{}; {} pods are to go",
                                            cause.empty() ? "" : ": ", cause, release.tasks.size());
    tell_groups(release.workload, "Warning", "GangStopped", message,
                {{std::string(disruption), true, "GangStopped", message},
                 {std::string(is_incomplete), false, "GangStopped", message},
                 {std::string(on_lost_node), false, "GangStopped", message}});
    on_lost_nodes_.erase(release.workload);
}

void StatusWriter::write(const GangNews& news) {
    const std::string type(is_incomplete);
    switch (news.kind) {
        case GangNews::Kind::incomplete:
            return tell_groups(news.workload, "Warning", "Incomplete", news.text,
                               {{type, true, "MembersMissing", news.text}});
        case GangNews::Kind::kept:
            return tell_groups(news.workload, "Warning", "Incomplete", news.text,
                               {{type, true, "NoController", news.text}});
        case GangNews::Kind::whole:
            return tell_groups(news.workload, "Normal", "Complete", news.text,
                               {{type, false, "Complete", news.text}});
        case GangNews::Kind::overdue: return;  // that it stops says it
    }
}

void StatusWriter::write(const OrderNews& news) {
    if (news.kind == OrderNews::Kind::eviction_waits) {
        const std::string message =
            fmt::format("stops as a whole, and waits to be allowed: {}", news.text);
        return tell_groups(news.workload, "Warning", "EvictionWaits", message,
                           {{std::string(disruption), true, "EvictionWaits", message}});
    }
    const ObjectKey key{ObjectKind::pod, news.pod};
    const auto object = objects_.find(key);
    if (!object || uid_of(*object) != news.uid) { return; }
    const bool is_bind = news.kind == OrderNews::Kind::bind_refused;
    events_.record(
        reference(key, *object), "Warning", is_bind ? "FailedScheduling" : "FailedEviction",
        fmt::format("{} was refused: {}", is_bind ? "the bind" : "the eviction", news.text));
}

void StatusWriter::tell_lost_nodes(const std::vector<Fact>& facts) {
    std::set<std::string> changed;
    for (const Fact& fact : facts) {
        const auto* set = std::get_if<NodeSet>(&fact);
        const auto* gone = std::get_if<NodeGone>(&fact);
        if (set == nullptr && gone == nullptr) { continue; }
        const std::string& name = set != nullptr ? set->node.name : gone->node;
        const bool is_lost = set != nullptr && !set->node.is_ready;
        if (is_lost ? lost_nodes_.insert(name).second : lost_nodes_.erase(name) > 0) {
            changed.insert(name);
        }
    }
    if (changed.empty()) { return; }
    for (const std::string& workload : source_.workloads_on(changed)) { tell_lost_node(workload); }
}

void StatusWriter::tell_lost_node(const std::string& workload) {
    std::map<std::string, std::int64_t> there;
    for (const auto& [task, pod] : *source_.pods_of(workload)) {
        if (!pod.is_finished && lost_nodes_.contains(pod.node)) { ++there[pod.node]; }
    }
    const std::string type(on_lost_node);
    if (there.empty()) {
        if (on_lost_nodes_.erase(workload) == 0) { return; }
        const std::string message = "all nodes that it runs on are ready";
        return tell_groups(workload, "Normal", "NodeReady", message,
                           {{type, false, "NodeReady", message}});
    }
    on_lost_nodes_.insert(workload);
    std::string message;
    constexpr std::size_t named_max = 8;
    std::size_t named = 0;
    for (const auto& [node, tasks] : there) {
        if (named++ == named_max) {
            message += fmt::format(" and {} nodes more", there.size() - named_max);
            break;
        }
        message += fmt::format("{}node {} is not ready, {} of its tasks are there",
                               message.empty() ? "" : "; ", node, tasks);
    }
    tell_groups(workload, "Warning", "NodeNotReady", message,
                {{type, true, "NodeNotReady", message}});
}

}  // namespace muster::kube
