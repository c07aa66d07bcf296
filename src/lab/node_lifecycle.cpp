#include "lab/node_lifecycle.h"

#include "kube/objects.h"
#include "lab/known_resources.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace muster::lab {

namespace json = boost::json;
using kube::ObjectName;
using kube::text_at;

namespace {

constexpr std::int64_t seconds_max = 1'000'000'000;

struct Rule {
    std::string_view condition;
    std::string_view status;
    NodeTaint taint;
};
constexpr std::array<Rule, 9> rules{{
    {"Ready", "Unknown", {"node.kubernetes.io/unreachable", "NoSchedule"}},
    {"Ready", "Unknown", {"node.kubernetes.io/unreachable", "NoExecute"}},
    {"Ready", "False", {"node.kubernetes.io/not-ready", "NoSchedule"}},
    {"Ready", "False", {"node.kubernetes.io/not-ready", "NoExecute"}},
    {"MemoryPressure", "True", {"node.kubernetes.io/memory-pressure", "NoSchedule"}},
    {"DiskPressure", "True", {"node.kubernetes.io/disk-pressure", "NoSchedule"}},
    {"PIDPressure", "True", {"node.kubernetes.io/pid-pressure", "NoSchedule"}},
    {"NetworkUnavailable", "True", {"node.kubernetes.io/network-unavailable", "NoSchedule"}},
    {reclaim_condition, "True", {reclaim_taint, "NoExecute"}},
}};
constexpr NodeTaint cordoned{"node.kubernetes.io/unschedulable", "NoSchedule"};

bool is_ours(const json::object& taint) {
    const NodeTaint one{text_at(taint, "key"), text_at(taint, "effect")};
    return one == cordoned || std::any_of(rules.begin(), rules.end(),
                                          [&](const Rule& rule) { return rule.taint == one; });
}

/// An empty effect is all of them, and an empty key with Exists everything.
bool tolerates(const json::object& toleration, const json::object& taint) {
    const std::string_view effect = text_at(toleration, "effect");
    if (!effect.empty() && effect != text_at(taint, "effect")) { return false; }
    const std::string_view key = text_at(toleration, "key");
    const bool is_any = text_at(toleration, "operator") == "Exists";
    if (key.empty()) { return is_any; }
    if (key != text_at(taint, "key")) { return false; }
    return is_any || text_at(toleration, "value") == text_at(taint, "value");
}

bool has_no_execute(const json::object& node) {
    const json::array* taints = kube::array_at(node, "spec.taints");
    return taints != nullptr &&
           std::any_of(taints->begin(), taints->end(), [](const json::value& one) {
               return one.is_object() && text_at(one.get_object(), "effect") == "NoExecute";
           });
}

/// The same list in the API's words; what is there already stays as it is.
json::array with_taints(const json::array& present, const std::vector<NodeTaint>& wanted,
                        const std::string& now) {
    json::array out;
    std::vector<NodeTaint> missing = wanted;
    for (const json::value& one : present) {
        const json::object* taint = one.if_object();
        if (taint != nullptr && is_ours(*taint)) {
            const NodeTaint known{text_at(*taint, "key"), text_at(*taint, "effect")};
            if (std::erase(missing, known) == 0) { continue; }
        }
        out.push_back(one);
    }
    for (const NodeTaint& taint : missing) {
        out.push_back(
            json::object{{"key", taint.key}, {"effect", taint.effect}, {"timeAdded", now}});
    }
    return out;
}

}  // namespace

std::vector<NodeTaint> taints_for(const json::object& node) {
    std::vector<NodeTaint> out;
    for (const Rule& rule : rules) {
        if (kube::condition_of(node, rule.condition) == rule.status) { out.push_back(rule.taint); }
    }
    if (kube::flag_at(node, "spec.unschedulable")) { out.push_back(cordoned); }
    return out;
}

bool repels(const json::object& node, const json::object& pod) {
    const json::array* taints = kube::array_at(node, "spec.taints");
    const json::array* tolerations = kube::array_at(pod, "spec.tolerations");
    return taints != nullptr &&
           std::any_of(taints->begin(), taints->end(), [&](const json::value& one) {
               const json::object* taint = one.if_object();
               if (taint == nullptr || text_at(*taint, "effect") == "PreferNoSchedule") {
                   return false;
               }
               return tolerations == nullptr ||
                      std::none_of(
                          tolerations->begin(), tolerations->end(), [&](const json::value& other) {
                              return other.is_object() && tolerates(other.get_object(), *taint);
                          });
           });
}

std::int64_t stay_of(const json::object& node, const json::object& pod) {
    const json::array* taints = kube::array_at(node, "spec.taints");
    const json::array* tolerations = kube::array_at(pod, "spec.tolerations");
    std::int64_t stay = -1;
    for (const json::value& one : taints ? *taints : json::array()) {
        const json::object* taint = one.if_object();
        if (taint == nullptr || text_at(*taint, "effect") != "NoExecute") { continue; }
        bool is_tolerated = false;
        for (const json::value& other : tolerations ? *tolerations : json::array()) {
            const json::object* toleration = other.if_object();
            if (toleration == nullptr || !tolerates(*toleration, *taint)) { continue; }
            is_tolerated = true;
            if (!toleration->contains("tolerationSeconds")) { continue; }
            const std::int64_t seconds = std::clamp<std::int64_t>(
                kube::int_at(*toleration, "tolerationSeconds"), 0, seconds_max);
            stay = stay < 0 ? seconds * 1000 : std::min(stay, seconds * 1000);
        }
        if (!is_tolerated) { return 0; }
    }
    return stay;
}

NodeLifecycle::NodeLifecycle(kube::Transport& transport, LabTimers& timers,
                             kube::EventRecorder::Now now, const kube::Informer& pods)
    : transport_(transport),
      timers_(timers),
      events_(transport, std::move(now), "node-controller"),
      pods_(pods) {}

void NodeLifecycle::on_node(const std::string& name, const Object& node) {
    show_taints(name, node);
    if (!has_no_execute(node)) { return on_node_gone(name); }
    const json::array& taints = *kube::array_at(node, "spec.taints");
    Object& kept = tainted_[name];
    const json::array* before = kube::array_at(kept, "spec.taints");
    if (before != nullptr && *before == taints) { return; }
    kept = {{"spec", {{"taints", taints}}}};
    for (const auto& [pod, object] : pods_.objects()) {
        if (text_at(object, "spec.nodeName") == name) { weigh(pod, object, kept); }
    }
}

void NodeLifecycle::on_node_gone(const std::string& name) {
    if (tainted_.erase(name) == 0) { return; }
    std::erase_if(doomed_, [&](const auto& doom) { return doom.second.node == name; });
}

void NodeLifecycle::on_pod(const ObjectName& name, const Object& pod) {
    if (tainted_.empty()) { return; }
    const auto node = tainted_.find(std::string(text_at(pod, "spec.nodeName")));
    if (node != tainted_.end()) { weigh(name, pod, node->second); }
}

/// The version keeps a taint that somebody sets meanwhile: the patch is refused, and the node is
/// looked at again with the change that refused it.
void NodeLifecycle::show_taints(const std::string& name, const Object& node) {
    const json::array* present = kube::array_at(node, "spec.taints");
    const json::array before = present ? *present : json::array();
    json::array wanted = with_taints(before, taints_for(node), kube::time_text(timers_.now()));
    if (wanted == before) { return; }
    const Object patch{
        {"metadata", {{"resourceVersion", text_at(node, "metadata.resourceVersion")}}},
        {"spec", {{"taints", wanted.empty() ? json::value() : json::value(std::move(wanted))}}}};
    kube::patch_object(transport_, {.resource = known::nodes, .name = {"", name}, .rest = ""},
                       patch);
}

/// Counts from when the pod was first seen under a taint, however the taints change meanwhile.
void NodeLifecycle::weigh(const ObjectName& name, const Object& pod, const Object& node) {
    const std::string_view phase = text_at(pod, "status.phase");
    if (kube::is_leaving(pod) || phase == "Succeeded" || phase == "Failed") { return; }
    const std::int64_t stay = stay_of(node, pod);
    Doom& doom = doomed_[name];
    if (doom.uid != kube::uid_of(pod)) {
        doom = {.uid = std::string(kube::uid_of(pod)),
                .node = std::string(text_at(pod, "spec.nodeName")),
                .since = timers_.now(),
                .due = -1};
    }
    const std::int64_t due = stay < 0 ? -1 : doom.since + stay;
    if (doom.due == due) { return; }
    doom.due = due;
    if (due < 0) { return; }
    timers_.after(due - timers_.now(), [this, name, due] { evict(name, due); });
}

void NodeLifecycle::evict(const ObjectName& name, std::int64_t due) {
    const auto doom = doomed_.find(name);
    if (doom == doomed_.end() || doom->second.due != due) { return; }
    const std::string uid = doom->second.uid;
    doomed_.erase(doom);
    const Object* pod = pods_.find(name);
    if (pod == nullptr || kube::uid_of(*pod) != uid || kube::is_leaving(*pod)) { return; }
    events_.record(*pod, "Normal", "TaintManagerEviction",
                   fmt::format("Marking for deletion Pod {}/{}", name.first, name.second));
    const Object patch{
        {"metadata", {{"uid", uid}}},
        {"status",
         {{"conditions",
           json::array{json::object{{"type", "DisruptionTarget"},
                                    {"status", "True"},
                                    {"reason", "DeletionByTaintManager"},
                                    {"message", "Taint manager: deleting due to NoExecute taint"},
                                    {"lastTransitionTime", kube::time_text(timers_.now())}}}}}}};
    kube::patch_object(transport_,
                       {.resource = known::pods,
                        .name = name,
                        .rest = "status",
                        .kind = kube::PatchKind::strategic},
                       patch);
    kube::delete_object(transport_, known::pods, name,
                        {.uid = uid, .grace = -1, .propagation = ""});
}

}  // namespace muster::lab
