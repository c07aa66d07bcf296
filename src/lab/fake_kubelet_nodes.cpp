#include "base/text.h"
#include "kube/objects.h"
#include "lab/fake_kubelet.h"
#include "lab/known_resources.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace muster::lab {

namespace json = boost::json;
using kube::ObjectName;
using kube::text_at;
using kube::time_text;
using Change = kube::Informer::Change;

namespace {

constexpr std::int64_t beat_least = 100;  // our milliseconds between two heartbeats of any nodes
constexpr std::string_view unreachable = "node.kubernetes.io/unreachable";

constexpr std::array<std::array<std::string_view, 3>, 3> pressures{{
    {"MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
    {"DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
}};

std::string address_in(const json::object& node) {
    const json::array* all = kube::array_at(node, "status.addresses");
    if (all == nullptr) { return {}; }
    for (const json::value& one : *all) {
        const json::object* address = one.if_object();
        if (address && text_at(*address, "type") == "InternalIP") {
            return std::string(text_at(*address, "address"));
        }
    }
    return {};
}

/// Of a node that does not say: the same one each time.
std::string made_address(std::string_view name) {
    std::uint32_t hash = 2'166'136'261;
    for (const char c : name) { hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619; }
    return fmt::format("10.{}.{}.{}", (hash >> 16) & 127, (hash >> 8) & 255, hash & 255);
}

json::object condition(std::string_view type, std::string_view status, std::string_view reason,
                       std::string_view message, const std::string& now) {
    return {{"type", type},       {"status", status},         {"reason", reason},
            {"message", message}, {"lastHeartbeatTime", now}, {"lastTransitionTime", now}};
}

std::int64_t slow_of(const json::object& node) {
    const auto factor = parse_int(kube::annotation_of(node, "lab.muster/slow"));
    return factor ? std::clamp<std::int64_t>(*factor, 1, 1000) : 1;
}

/// How long a pod stays on a node that does not answer; -1 for ever.
std::int64_t lost_wait_of(const json::object& pod, std::int64_t otherwise) {
    const json::array* all = kube::array_at(pod, "spec.tolerations");
    if (all == nullptr) { return otherwise; }
    for (const json::value& one : *all) {
        const json::object* toleration = one.if_object();
        if (toleration == nullptr || text_at(*toleration, "key") != unreachable) { continue; }
        const std::int64_t seconds = kube::int_at(*toleration, "tolerationSeconds", -1);
        // 300 s is what admission gives to every pod.
        if (seconds == 300) { return otherwise; }
        return seconds < 0 ? -1 : std::min<std::int64_t>(seconds, 1'000'000'000) * 1000;
    }
    return otherwise;
}

}  // namespace

void FakeKubelet::on_node(Change change, const ObjectName& name, const Object& node,
                          const Object* before) {
    const std::string& called = name.second;
    const bool is_fake = kube::annotation_of(node, "lab.muster/fake") == "true";
    if (change == Change::gone || !is_fake) { return forget_node(called); }
    FakeNode& known = nodes_[called];
    known.address = address_in(node);
    if (known.address.empty()) { known.address = made_address(called); }
    known.slow = slow_of(node);
    const bool is_failed = !kube::annotation_of(node, "lab.muster/failed").empty();
    const bool is_other = is_failed != known.is_failed;
    known.is_failed = is_failed;
    show_health(known, called, node);
    show_taints(known, called, node);
    if (!is_failed) { copy_capacity(called, node, before); }
    if (is_other) { set_lost(called, is_failed); }
    const auto early = early_.extract(called);
    if (!early) { return; }
    for (const ObjectName& pod : early.mapped()) {
        if (const Object* found = pod_informer_.find(pod)) { on_pod(Change::set, pod, *found); }
    }
}

/// Pods of a node that is no more are nobody's: they go at once.
void FakeKubelet::forget_node(const std::string& name) {
    early_.erase(name);
    if (nodes_.erase(name) == 0) { return; }
    for (auto& [pod, run] : runs_) {
        if (run.node == name) { remove(pod, run.uid); }
    }
}

/// Only what has changed, for a device that is broken is in the capacity and not allocatable.
void FakeKubelet::copy_capacity(const std::string& name, const Object& node, const Object* before) {
    const Object* capacity = kube::object_at(node, "status.capacity");
    if (capacity == nullptr) { return; }
    const Object* allocatable = kube::object_at(node, "status.allocatable");
    const Object* earlier = before ? kube::object_at(*before, "status.capacity") : nullptr;
    Object changes;
    for (const auto& field : *capacity) {
        const json::value* now = allocatable ? allocatable->if_contains(field.key()) : nullptr;
        const json::value* then = earlier ? earlier->if_contains(field.key()) : nullptr;
        const bool is_changed = then ? *then != field.value() : now == nullptr;
        if (is_changed && (now == nullptr || *now != field.value())) {
            changes[field.key()] = field.value();
        }
    }
    for (const auto& field : earlier ? *earlier : Object()) {
        const bool is_left = allocatable && allocatable->contains(field.key());
        if (is_left && !capacity->contains(field.key())) { changes[field.key()] = nullptr; }
    }
    if (changes.empty()) { return; }
    patch_node(name, {{"status", {{"allocatable", std::move(changes)}}}}, "status");
}

/// Ready, unless somebody said that it is not; Unknown while it does not answer.
void FakeKubelet::show_health(const FakeNode& known, const std::string& name, const Object& node) {
    const std::string_view ready = kube::condition_of(node, "Ready");
    const std::string now = time_text(timers_.now());
    if (known.is_failed) {
        if (ready == "Unknown") { return; }
        constexpr std::string_view reason = "NodeStatusUnknown";
        constexpr std::string_view message = "Kubelet stopped posting node status.";
        json::object silent = condition("Ready", "Unknown", reason, message, now);
        silent.erase("lastHeartbeatTime");
        return patch_node(name, {{"status", {{"conditions", json::array{std::move(silent)}}}}},
                          "status");
    }
    if (ready == "True" || ready == "False") { return; }
    json::array conditions;
    for (const auto& [type, reason, message] : pressures) {
        conditions.push_back(condition(type, "False", reason, message, now));
    }
    conditions.push_back(
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", now));
    Object status{{"conditions", std::move(conditions)}};
    if (address_in(node).empty()) {
        status["addresses"] =
            json::array{json::object{{"type", "InternalIP"}, {"address", known.address}},
                        json::object{{"type", "Hostname"}, {"address", name}}};
    }
    patch_node(name, {{"status", std::move(status)}}, "status");
}

/// The taints that a node gets that does not answer. The version keeps a taint that somebody sets
/// meanwhile: the patch is refused, and the node is looked at again.
void FakeKubelet::show_taints(const FakeNode& known, const std::string& name, const Object& node) {
    json::array kept;
    int ours = 0;
    if (const json::array* taints = kube::array_at(node, "spec.taints")) {
        for (const json::value& one : *taints) {
            const Object* taint = one.if_object();
            const bool is_ours = taint && text_at(*taint, "key") == unreachable;
            ours += is_ours ? 1 : 0;
            if (!is_ours) { kept.push_back(one); }
        }
    }
    if ((ours != 0) == known.is_failed) { return; }
    if (known.is_failed) {
        for (const std::string_view effect : {"NoSchedule", "NoExecute"}) {
            Object taint{{"key", unreachable}, {"effect", effect}};
            if (effect == "NoExecute") { taint["timeAdded"] = time_text(timers_.now()); }
            kept.push_back(std::move(taint));
        }
    }
    const Object patch{
        {"metadata", {{"resourceVersion", text_at(node, "metadata.resourceVersion")}}},
        {"spec", {{"taints", kept.empty() ? json::value() : json::value(std::move(kept))}}}};
    kube::patch_object(transport_, {.resource = known::nodes, .name = {"", name}, .rest = ""},
                       patch);
}

void FakeKubelet::set_lost(const std::string& node, bool is_lost) {
    for (auto& [name, run] : runs_) {
        if (run.node != node || run.is_finished || run.is_lost == is_lost) { continue; }
        if (is_lost) {
            lose(run, name);
        } else {
            run.is_lost = false;
            if (!run.is_leaving) { go_on(run, name); }
        }
    }
}

void FakeKubelet::lose(PodRun& run, const ObjectName& name) {
    run.is_lost = true;
    const Object* pod = pod_informer_.find(name);
    if (pod == nullptr) { return; }
    tell(run, name, "NodeNotReady", "Node is not ready", "Warning");
    publish(run, name);
    const std::int64_t wait = lost_wait_of(*pod, options_.lost_wait);
    if (wait < 0) { return; }
    later(run, name, wait, [this, name](PodRun& mine) {
        if (!mine.is_lost || mine.is_leaving) { return; }
        const Object* found = pod_informer_.find(name);
        if (found == nullptr) { return; }
        tell(mine, name, "TaintManagerEviction",
             fmt::format("Marking for deletion Pod {}/{}", name.first, name.second));
        kube::delete_object(transport_, known::pods, name,
                            {.uid = mine.uid, .grace = -1, .propagation = ""});
    });
}

void FakeKubelet::patch_node(const std::string& name, const Object& patch, std::string_view rest) {
    kube::patch_object(transport_,
                       {.resource = known::nodes,
                        .name = {"", name},
                        .rest = std::string(rest),
                        .kind = kube::PatchKind::strategic},
                       patch);
}

/// One node after the other, so that many of them are no burden.
void FakeKubelet::beat() {
    const auto count = static_cast<std::int64_t>(std::max<std::size_t>(nodes_.size(), 1));
    const std::int64_t wait = std::max(options_.heartbeat / count, beat_least);
    timers_.after(wait * timers_.speed(), [this] { beat(); });
    auto at = nodes_.upper_bound(last_beat_);
    if (at == nodes_.end()) { at = nodes_.begin(); }
    if (at == nodes_.end()) { return; }
    last_beat_ = at->first;
    const Object* node = node_informer_.find({"", at->first});
    if (at->second.is_failed || node == nullptr) { return; }
    const std::string now = time_text(timers_.now());
    json::array conditions;
    for (const std::string_view type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
        if (kube::condition_of(*node, type).empty()) { continue; }
        conditions.push_back({{"type", type}, {"lastHeartbeatTime", now}});
    }
    if (conditions.empty()) { return; }
    patch_node(at->first, {{"status", {{"conditions", std::move(conditions)}}}}, "status");
}

}  // namespace muster::lab
