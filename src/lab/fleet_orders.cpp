#include "lab/fleet_orders.h"

#include "base/text.h"
#include "lab/fake_gpus.h"
#include "lab/known_resources.h"
#include "lab/node_faults.h"
#include "lab/run_plan.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace muster::lab {

namespace json = boost::json;
using kube::text_at;

namespace {

constexpr std::int64_t grow_max = 1'000;
constexpr std::int64_t drain_ms = 120'000;
constexpr std::int64_t retry_ms = 100;
constexpr std::string_view gpu_prefix = "lab.muster/gpu-";

Result<> annotate_node(LabHand& hand, const std::string& node, std::string_view key,
                       const json::value& value) {
    return hand.annotate(known::nodes, {"", node}, key, value);
}

Result<json::object> fake_node(LabHand& hand, const std::string& name) {
    MUSTER_TRY(node, hand.get(known::nodes, {"", name}));
    if (kube::annotation_of(node, "lab.muster/fake") != "true") {
        return fail(Code::invalid, fmt::format("node {} is none of the lab's fake nodes", name));
    }
    return std::move(node);
}

Result<> check_gpu(LabHand& hand, const GpuName& gpu) {
    MUSTER_TRY(node, fake_node(hand, gpu.node));
    const auto cards = parse_int(kube::label_of(node, "nvidia.com/gpu.count"));
    const std::int64_t count = std::max(count_of(node, "nvidia.com/gpu"), cards ? *cards : 0);
    if (gpu.gpu < count) { return {}; }
    return fail(Code::invalid, fmt::format("{}:{}: the node has {} GPUs, counted from 0", gpu.node,
                                           gpu.gpu, count));
}

/// "node-12" → "node-" and 12; without a number -1.
std::pair<std::string, std::int64_t> stem_of(const std::string& name) {
    const std::size_t last = name.find_last_not_of("0123456789");
    const std::size_t at = last == std::string::npos ? 0 : last + 1;
    const auto number = parse_int(std::string_view(name).substr(at));
    return {name.substr(0, at), number ? *number : -1};
}

bool comes_before(const json::object& a, const json::object& b) {
    return stem_of(kube::name_of(a).second) < stem_of(kube::name_of(b).second);
}

/// Oldest first, as far as names tell.
Result<std::vector<json::object>> nodes_of(LabHand& hand, const std::string& pool) {
    MUSTER_TRY(all, hand.list(known::nodes));
    std::set<std::string> pools;
    std::vector<json::object> out;
    for (json::object& node : all) {
        const std::string_view label = kube::label_of(node, pool_label);
        if (!label.empty()) { pools.emplace(label); }
        if (label == pool) { out.push_back(std::move(node)); }
    }
    if (out.empty()) {
        return fail(
            Code::not_found,
            fmt::format("no node is of pool {}; there are: {}", pool,
                        pools.empty() ? "none" : fmt::format("{}", fmt::join(pools, ", "))));
    }
    std::sort(out.begin(), out.end(), comes_before);
    return out;
}

/// Without what makes a node that very one, and without its faults.
json::object copy_of(const json::object& node, const std::string& name) {
    json::object labels = kube::object_at(node, "metadata.labels")
                              ? *kube::object_at(node, "metadata.labels")
                              : json::object();
    labels["kubernetes.io/hostname"] = name;
    json::object annotations;
    if (const json::object* all = kube::object_at(node, "metadata.annotations")) {
        for (const auto& field : *all) {
            const std::string_view key = field.key();
            if (!key.starts_with("lab.muster/") || key == "lab.muster/fake") {
                annotations[key] = field.value();
            }
        }
    }
    json::object status;
    for (const char* part : {"capacity", "nodeInfo"}) {
        if (const json::object* found = kube::object_at(node, fmt::format("status.{}", part))) {
            status[part] = *found;
        }
    }
    if (json::value* info = status.if_contains("nodeInfo")) {
        info->as_object()["machineID"] = name;
        info->as_object()["systemUUID"] = name;
    }
    status["allocatable"] = kube::object_at(node, "status.capacity")
                                ? *kube::object_at(node, "status.capacity")
                                : json::object();
    return {{"apiVersion", "v1"},
            {"kind", "Node"},
            {"metadata", {{"name", name}, {"labels", labels}, {"annotations", annotations}}},
            {"spec", json::object()},
            {"status", status}};
}

bool holds(const json::object& pod, std::string_view node) {
    const std::string_view phase = text_at(pod, "status.phase");
    return text_at(pod, "spec.nodeName") == node && phase != "Succeeded" && phase != "Failed";
}

/// Budgets may refuse an eviction for a while.
Result<> drain(LabHand& hand, const std::string& node) {
    MUSTER_CHECK(
        hand.ask(kube::patch_call({.resource = known::nodes, .name = {"", node}, .rest = ""},
                                  {{"spec", {{"unschedulable", true}}}})));
    for (std::int64_t waited = 0;; waited += retry_ms) {
        MUSTER_TRY(pods, hand.list(known::pods));
        bool is_empty = true;
        std::string refused;
        for (const json::object& pod : pods) {
            if (!holds(pod, node)) { continue; }
            is_empty = false;
            if (kube::is_leaving(pod)) { continue; }
            const kube::ObjectName name = kube::name_of(pod);
            kube::Call call;
            call.method = "POST";
            call.target = kube::path_of(known::pods, name.first, name.second, "eviction");
            call.body = json::serialize(
                json::object{{"apiVersion", "policy/v1"},
                             {"kind", "Eviction"},
                             {"metadata", {{"name", name.second}, {"namespace", name.first}}}});
            const auto evicted = hand.ask(std::move(call));
            if (!evicted && evicted.error().code != Code::not_found) {
                refused = evicted.error().message;
            }
        }
        if (is_empty) { return {}; }
        if (waited >= drain_ms) {
            return fail(Code::timeout,
                        fmt::format("node {} is cordoned, and not empty after {} s{}{}", node,
                                    drain_ms / 1'000, refused.empty() ? "" : ": ", refused));
        }
        hand.pump(retry_ms);
    }
}

}  // namespace

Result<std::string> fail_node(LabHand& hand, const NodeFailure& failure) {
    MUSTER_CHECK(fake_node(hand, failure.node));
    std::string key = "failed";
    std::string value = failure.why.empty() ? "failed" : failure.why;
    std::string what = "does not answer any more";
    if (!failure.flap.empty()) {
        if (!read_duration(failure.flap)) {
            return fail(Code::invalid,
                        fmt::format("--flap {}: expected a time such as 10s", failure.flap));
        }
        key = "flap";
        value = failure.flap;
        what = fmt::format("goes and comes back every {}", failure.flap);
    } else if (failure.slow > 0) {
        key = "slow";
        value = std::to_string(failure.slow);
        what = fmt::format("is {} times as slow for what starts now", failure.slow);
    }
    MUSTER_CHECK(annotate_node(hand, failure.node, "lab.muster/" + key, json::value(value)));
    return fmt::format("node {} {}\n  kubectl annotate --overwrite node {} lab.muster/{}='{}'",
                       failure.node, what, failure.node, key, value);
}

Result<GpuName> read_gpu_name(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const auto gpu =
        parse_int("GPU", colon == std::string_view::npos ? "" : text.substr(colon + 1), 0, 63);
    if (!gpu || colon == 0) {
        return fail(Code::invalid, fmt::format("{}: expected NODE:GPU such as node-0:3", text));
    }
    return GpuName{std::string(text.substr(0, colon)), *gpu};
}

Result<std::string> fail_gpu(LabHand& hand, const GpuName& gpu, std::int64_t xid) {
    MUSTER_CHECK(check_gpu(hand, gpu));
    const std::string key = fmt::format("{}{}", gpu_prefix, gpu.gpu);
    MUSTER_CHECK(annotate_node(hand, gpu.node, key, json::value(std::to_string(xid))));
    std::string what;
    switch (effect_of_xid(xid)) {
        case XidEffect::warns: what = "it is the application's, and the GPU stays"; break;
        case XidEffect::degrades: what = "it is given to nobody any more"; break;
        case XidEffect::kills: what = "it is given to nobody any more, and who has it fails"; break;
    }
    const std::string_view meaning = meaning_of_xid(xid);
    return fmt::format(
        "GPU {} of node {}: XID {}{}{}; {}\n  kubectl annotate --overwrite node {} {}={}", gpu.gpu,
        gpu.node, xid, meaning.empty() ? "" : ", ", meaning, what, gpu.node, key, xid);
}

Result<std::string> heal_node(LabHand& hand, const std::string& name) {
    MUSTER_TRY(node, fake_node(hand, name));
    std::vector<std::string> gone;
    const json::object* annotations = kube::object_at(node, "metadata.annotations");
    for (const auto& field : annotations ? *annotations : json::object()) {
        const std::string_view key = field.key();
        const bool is_fault = key == "lab.muster/failed" || key == "lab.muster/flap" ||
                              key == "lab.muster/slow" || key == "lab.muster/spot" ||
                              key.starts_with(gpu_prefix);
        if (is_fault) { gone.push_back(std::string(key)); }
    }
    if (gone.empty()) { return fmt::format("nothing is wrong with node {}", name); }
    for (const std::string& key : gone) { MUSTER_CHECK(annotate_node(hand, name, key, nullptr)); }
    return fmt::format("node {} is well\n  kubectl annotate node {} {}-", name, name,
                       fmt::join(gone, "- "));
}

Result<std::string> heal_gpu(LabHand& hand, const GpuName& gpu) {
    MUSTER_CHECK(check_gpu(hand, gpu));
    const std::string key = fmt::format("{}{}", gpu_prefix, gpu.gpu);
    MUSTER_CHECK(annotate_node(hand, gpu.node, key, nullptr));
    return fmt::format("GPU {} of node {} is well\n  kubectl annotate node {} {}-", gpu.gpu,
                       gpu.node, gpu.node, key);
}

Result<std::string> reclaim_node(LabHand& hand, const std::string& node,
                                 const std::string& notice) {
    if (!read_duration(notice)) {
        return fail(Code::invalid,
                    fmt::format("--notice {}: expected a time such as 120s", notice));
    }
    MUSTER_CHECK(fake_node(hand, node));
    MUSTER_CHECK(annotate_node(hand, node, "lab.muster/spot", json::value(notice)));
    return fmt::format("node {} is taken back in {}\n  kubectl annotate node {} lab.muster/spot={}",
                       node, notice, node, notice);
}

Result<std::vector<std::string>> grow_pool(LabHand& hand, const std::string& pool,
                                           std::int64_t count) {
    if (count < 1 || count > grow_max) {
        return fail(Code::invalid, fmt::format("{} nodes: expected 1 to {}", count, grow_max));
    }
    MUSTER_TRY(nodes, nodes_of(hand, pool));
    const auto [stem, last] = stem_of(kube::name_of(nodes.back()).second);
    MUSTER_TRY(all, hand.list(known::nodes));  // another pool may have the same names
    std::set<std::string> names;
    for (const json::object& node : all) { names.insert(kube::name_of(node).second); }
    std::vector<std::string> out;
    for (std::int64_t number = last + 1; std::ssize(out) < count; ++number) {
        std::string name =
            last < 0 ? fmt::format("{}-{}", stem, number) : fmt::format("{}{}", stem, number);
        if (names.contains(name)) { continue; }
        MUSTER_CHECK(hand.ask(kube::create_call(known::nodes, "", copy_of(nodes.back(), name))));
        out.push_back(std::move(name));
    }
    return out;
}

Result<std::vector<std::string>> shrink_pool(LabHand& hand, const std::string& pool,
                                             std::int64_t count) {
    MUSTER_TRY(nodes, nodes_of(hand, pool));
    if (count < 1 || count > std::ssize(nodes)) {
        return fail(Code::invalid, fmt::format("{} nodes of pool {}: expected 1 to {}", count, pool,
                                               nodes.size()));
    }
    MUSTER_TRY(pods, hand.list(known::pods));
    std::map<std::string, std::int64_t> held;
    for (const json::object& pod : pods) {
        const std::string node(text_at(pod, "spec.nodeName"));
        held[node] += holds(pod, node) ? 1 : 0;
    }
    std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> order;
    for (const json::object& node : nodes) {
        const std::string name = kube::name_of(node).second;
        order.emplace_back(held[name], -std::ssize(order), name);  // of equal ones the newest
    }
    std::sort(order.begin(), order.end());
    std::vector<std::string> out;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string& name = std::get<2>(order[static_cast<std::size_t>(i)]);
        MUSTER_CHECK(drain(hand, name));
        MUSTER_CHECK(hand.ask(kube::delete_call(known::nodes, {"", name}, {})));
        out.push_back(name);
    }
    return out;
}

}  // namespace muster::lab
