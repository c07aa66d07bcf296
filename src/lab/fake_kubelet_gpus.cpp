// Which GPU a pod holds, and what becomes of it when the GPU breaks.
#include "base/text.h"
#include "kube/objects.h"
#include "lab/fake_gpus.h"
#include "lab/fake_kubelet.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace muster::lab {

namespace json = boost::json;
using kube::ObjectName;
using kube::text_at;
using State = ContainerRun::State;

namespace {

constexpr std::string_view gpu_condition = "GpuUnhealthy";

std::int64_t asked_for(const json::value& amount) {
    if (amount.is_int64()) { return amount.get_int64(); }
    const auto count = amount.is_string() ? parse_quantity(amount.get_string()) : parse_int("");
    return count ? *count : 0;
}

std::string text_of(std::int64_t gpu, std::int64_t xid) {
    const std::string_view meaning = meaning_of_xid(xid);
    return fmt::format("GPU {}: XID {}{}{}", gpu, xid, meaning.empty() ? "" : ", ", meaning);
}

}  // namespace

void FakeKubelet::end_run(Runs::iterator at) {
    if (at == runs_.end()) { return; }
    if (const auto node = nodes_.find(at->second.node); node != nodes_.end()) {
        for (const HeldDevice& device : at->second.devices) {
            node->second.used[device.resource].erase(device.slot);
        }
    }
    runs_.erase(at);
}

/// The first ones that are free and healthy. A pod that was bound where there are not enough gets
/// what there is.
void FakeKubelet::give_devices(PodRun& run, const Object& pod) {
    const Object* node = node_informer_.find({"", run.node});
    const auto known = nodes_.find(run.node);
    if (node == nullptr || known == nodes_.end()) { return; }
    const NodeFaults& faults = known->second.faults;
    const auto specs = containers_of(pod);
    for (std::size_t i = run.devices.empty() ? run.init_count : specs.size(); i < specs.size();
         ++i) {
        const Object* limits = kube::object_at(*specs[i], "resources.limits");
        for (const auto& limit : limits ? *limits : Object()) {
            if (!is_gpu_resource(limit.key())) { continue; }
            const std::string resource(limit.key());
            std::set<std::int64_t>& used = known->second.used[resource];
            std::int64_t left = asked_for(limit.value());
            for (std::int64_t slot = 0; left > 0 && slot < count_of(*node, resource); ++slot) {
                if (is_bad(faults, gpu_of(*node, resource, slot)) || !used.insert(slot).second) {
                    continue;
                }
                run.devices.push_back({.container = static_cast<std::uint32_t>(i),
                                       .resource = resource,
                                       .slot = slot});
                --left;
            }
        }
    }
    for (HeldDevice& device : run.devices) {
        const std::int64_t gpu = gpu_of(*node, device.resource, device.slot);
        device.is_bad = is_bad(faults, gpu);
        device.is_dead = is_dead(faults, gpu);
    }
}

/// Tells what is new, and ends the containers whose GPU is dead. One of restartPolicy Always comes
/// back on the same GPU and ends again, as it would.
void FakeKubelet::mark_devices(const std::string& name, const Object& node,
                               const NodeFaults& before) {
    const NodeFaults& faults = nodes_.at(name).faults;
    for (const auto& [gpu, xid] : faults.gpus) {
        const auto earlier = before.gpus.find(gpu);
        if (earlier != before.gpus.end() && earlier->second == xid) { continue; }
        const bool is_told = kube::condition_of(node, gpu_condition) == "True";
        if (is_told && before.gpus.empty()) { continue; }  // by the lab before this one
        tell_node(node, "Warning", fmt::format("Xid{}", xid), text_of(gpu, xid));
    }
    for (auto& [pod, run] : runs_) {
        if (run.node != name || run.is_finished) { continue; }
        bool is_changed = false;
        std::set<std::uint32_t> ended;
        for (HeldDevice& device : run.devices) {
            const std::int64_t gpu = gpu_of(node, device.resource, device.slot);
            const bool is_now_dead = is_dead(faults, gpu);
            is_changed = is_changed || device.is_bad != is_bad(faults, gpu);
            if (is_now_dead && !device.is_dead) { ended.insert(device.container); }
            device.is_bad = is_bad(faults, gpu);
            device.is_dead = is_now_dead;
        }
        for (const std::uint32_t container : ended) {
            ContainerRun& one = run.containers[container];
            if (one.state != State::running || run.is_lost) { continue; }
            tell(run, pod, "DeviceFailed", "a GPU of the container has failed", "Warning");
            one.exit_code = 1;
            end_container(run, pod, container);
        }
        if (is_changed && ended.empty()) { publish(run, pod); }
    }
}

/// The condition that lists the GPUs which are given to nobody.
void FakeKubelet::show_gpus(const std::string& name, const Object& node) {
    std::string message;
    std::string reason;
    for (const auto& [gpu, xid] : nodes_.at(name).faults.gpus) {
        if (effect_of_xid(xid) == XidEffect::warns) { continue; }
        message += (message.empty() ? "" : "; ") + text_of(gpu, xid);
        reason = fmt::format("Xid{}", xid);
    }
    const std::string_view known = kube::condition_of(node, gpu_condition);
    const bool is_bad_now = !message.empty();
    if (!is_bad_now) {
        if (known != "True") { return; }
        reason = "GpusHealthy";
        message = "every GPU is healthy";
    } else if (known == "True") {
        for (const json::value& one : *kube::array_at(node, "status.conditions")) {
            const Object* entry = one.if_object();
            if (entry && text_at(*entry, "type") == gpu_condition &&
                text_at(*entry, "message") == message) {
                return;
            }
        }
    }
    Object entry{{"type", gpu_condition},
                 {"status", is_bad_now ? "True" : "False"},
                 {"reason", reason},
                 {"message", message}};
    if ((known == "True") != is_bad_now) {
        entry["lastTransitionTime"] = kube::time_text(timers_.now());
    }
    patch_node(name, {{"status", {{"conditions", json::array{std::move(entry)}}}}}, "status");
}

}  // namespace muster::lab
