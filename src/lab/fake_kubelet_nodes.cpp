#include "kube/objects.h"
#include "lab/fake_gpus.h"
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

constexpr std::int64_t beat_least = 100;    // our milliseconds between two heartbeats of any nodes
constexpr std::int64_t beat_first = 1'000;  // while there are no nodes
constexpr std::uint32_t beats_per_status = 30;

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

}  // namespace

void FakeKubelet::on_node(Change change, const ObjectName& name, const Object& node,
                          const Object* before) {
    const std::string& called = name.second;
    if (change == Change::gone) {
        lifecycle_.on_node_gone(called);
        return forget_node(called);
    }
    lifecycle_.on_node(called, node);
    if (kube::annotation_of(node, "lab.muster/fake") != "true") { return forget_node(called); }
    FakeNode& known = nodes_[called];
    known.uid = kube::uid_of(node);
    known.address = address_in(node);
    if (known.address.empty()) { known.address = made_address(called); }
    const bool was_failed = known.is_failed();
    const NodeFaults faults = std::exchange(known.faults, faults_of(node));
    if (known.faults.flap != faults.flap) {
        known.is_down = false;
        flap(called, ++known.flap);
    }
    show_health(known, called, node);
    const bool has_gpu_news = known.faults.gpus != faults.gpus;
    if (!known.is_failed()) { copy_capacity(called, node, before, has_gpu_news); }
    if (has_gpu_news) { mark_devices(called, node, faults); }
    show_gpus(called, node);
    reclaim(known, called, node);
    if (was_failed != known.is_failed()) { set_lost(called, known.is_failed()); }
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

/// Only what has changed: what somebody took out of the allocatable stays out.
void FakeKubelet::copy_capacity(const std::string& name, const Object& node, const Object* before,
                                bool has_gpu_news) {
    const NodeFaults& faults = nodes_.at(name).faults;
    const Object* capacity = kube::object_at(node, "status.capacity");
    if (capacity == nullptr) { return; }
    const Object* allocatable = kube::object_at(node, "status.allocatable");
    const Object* earlier = before ? kube::object_at(*before, "status.capacity") : nullptr;
    Object changes;
    for (const auto& field : *capacity) {
        const json::value* now = allocatable ? allocatable->if_contains(field.key()) : nullptr;
        const json::value* then = earlier ? earlier->if_contains(field.key()) : nullptr;
        bool is_changed = then ? *then != field.value() : now == nullptr;
        json::value wanted = field.value();
        if (is_gpu_resource(field.key())) {
            is_changed = is_changed || has_gpu_news;
            wanted = healthy_count(node, field.key(), faults);
        }
        if (is_changed && (now == nullptr || *now != wanted)) {
            changes[field.key()] = std::move(wanted);
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
    if (known.is_failed()) {
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
}

void FakeKubelet::patch_node(const std::string& name, const Object& patch, std::string_view rest) {
    kube::patch_object(transport_,
                       {.resource = known::nodes,
                        .name = {"", name},
                        .rest = std::string(rest),
                        .kind = kube::PatchKind::strategic},
                       patch);
}

/// Down, up, down, as long as the annotation is there.
void FakeKubelet::flap(const std::string& name, std::uint64_t serial) {
    const auto at = nodes_.find(name);
    if (at == nodes_.end() || at->second.flap != serial || at->second.faults.flap == 0) { return; }
    FakeNode& known = at->second;
    timers_.after(known.faults.flap, [this, name, serial] {
        const auto now = nodes_.find(name);
        const Object* node = node_informer_.find({"", name});
        if (now == nodes_.end() || now->second.flap != serial || node == nullptr) { return; }
        flap(name, serial);
        show_health(now->second, name, *node);
        set_lost(name, now->second.is_failed());
    });
    known.is_down = !known.is_down;
}

/// Its cloud says so, and takes it when the notice is over. What runs there is told by the taint
/// that follows from the condition.
void FakeKubelet::reclaim(FakeNode& known, const std::string& name, const Object& node) {
    const bool is_told = kube::condition_of(node, reclaim_condition) == "True";
    if (known.faults.notice < 0) {
        known.reclaimed = -1;
        if (!is_told) { return; }
        return patch_node(name,
                          {{"status",
                            {{"conditions", json::array{condition(
                                                reclaim_condition, "False", "ReclaimWithdrawn",
                                                "the node stays", time_text(timers_.now()))}}}}},
                          "status");
    }
    if (known.reclaimed >= 0) { return; }
    std::int64_t told = timers_.now();
    if (is_told) {  // by the lab before this one
        for (const json::value& one : *kube::array_at(node, "status.conditions")) {
            const Object* entry = one.if_object();
            if (entry && text_at(*entry, "type") == reclaim_condition) {
                told = kube::read_time(text_at(*entry, "lastTransitionTime"));
            }
        }
    }
    known.reclaimed = told + known.faults.notice;
    if (!is_told) {
        const std::string message =
            fmt::format("the node is taken back at {}", time_text(known.reclaimed));
        tell_node(node, "Warning", "SpotReclaim", message);
        patch_node(name,
                   {{"status",
                     {{"conditions", json::array{condition(reclaim_condition, "True", "SpotReclaim",
                                                           message, time_text(told))}}}}},
                   "status");
    }
    timers_.after(known.reclaimed - timers_.now(), [this, name, due = known.reclaimed] {
        const auto at = nodes_.find(name);
        if (at == nodes_.end() || at->second.reclaimed != due) { return; }
        kube::delete_object(transport_, known::nodes, {"", name},
                            {.uid = at->second.uid, .grace = -1, .propagation = ""});
    });
}

void FakeKubelet::tell_node(const Object& node, std::string_view type, std::string_view reason,
                            const std::string& message) {
    cloud_events_.record(node, type, reason, message);
}

/// One node after the other, so that many of them are no burden.
void FakeKubelet::beat() {
    const auto count = static_cast<std::int64_t>(std::max<std::size_t>(nodes_.size(), 1));
    const std::int64_t wait =
        nodes_.empty() ? beat_first : std::max(options_.heartbeat / count, beat_least);
    timers_.after(wait * timers_.speed(), [this] { beat(); });
    auto at = nodes_.upper_bound(last_beat_);
    if (at == nodes_.end()) { at = nodes_.begin(); }
    if (at == nodes_.end()) { return; }
    last_beat_ = at->first;
    const Object* node = node_informer_.find({"", at->first});
    if (at->second.is_failed() || node == nullptr) { return; }
    renew_lease(at->second, at->first, wait * count * timers_.speed());
    if (at->second.beats++ % beats_per_status == 0) { show_heartbeat(at->first, *node); }
}

/// Made when it is not there, for a lab of many nodes has better things to do at its start.
void FakeKubelet::renew_lease(FakeNode& known, const std::string& name, std::int64_t period) {
    const std::string now = kube::micro_time_text(timers_.now());
    const ObjectName lease{"kube-node-lease", name};
    const auto renew = [this, lease, now] {
        kube::patch_object(transport_, {.resource = known::leases, .name = lease, .rest = ""},
                           {{"spec", {{"renewTime", now}}}});
    };
    if (known.has_lease) { return renew(); }
    known.has_lease = true;
    const std::int64_t lasts = std::max<std::int64_t>(40, period * 4 / 1'000);
    const Object made{
        {"apiVersion", "coordination.k8s.io/v1"},
        {"kind", "Lease"},
        {"metadata",
         {{"name", name},
          {"namespace", lease.first},
          {"ownerReferences",
           json::array{json::object{
               {"apiVersion", "v1"}, {"kind", "Node"}, {"name", name}, {"uid", known.uid}}}}}},
        {"spec", {{"holderIdentity", name}, {"leaseDurationSeconds", lasts}, {"renewTime", now}}}};
    kube::create_object(
        transport_, known::leases, lease.first, made,
        [renew, alive = std::weak_ptr<int>(alive_)](const Result<kube::Answer>& answer) {
            const bool is_there = answer && answer->status == 409;
            if (is_there && !alive.expired()) { renew(); }
        });
}

void FakeKubelet::show_heartbeat(const std::string& name, const Object& node) {
    const std::string now = time_text(timers_.now());
    json::array conditions;
    for (const std::string_view type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
        if (kube::condition_of(node, type).empty()) { continue; }
        conditions.push_back(json::object{{"type", type}, {"lastHeartbeatTime", now}});
    }
    if (conditions.empty()) { return; }
    patch_node(name, {{"status", {{"conditions", std::move(conditions)}}}}, "status");
}

}  // namespace muster::lab
