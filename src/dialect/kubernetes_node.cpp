#include "dialect/kubernetes_node.h"

#include "dialect/kubernetes_affinity.h"
#include "dialect/kubernetes_around.h"
#include "dialect/kubernetes_gpu.h"
#include "dialect/kubernetes_resources.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::dialect {

namespace {

constexpr std::string_view hostname_key = "kubernetes.io/hostname";

Taint read_taint(const Field& field) {
    Taint taint{.key = std::string(field["key"].name()),
                .value = std::string(field["value"].text())};
    const std::string_view effect = field["effect"].text();
    if (effect == "PreferNoSchedule") {
        taint.effect = TaintEffect::prefer_no_schedule;
    } else if (effect == "NoExecute") {
        taint.effect = TaintEffect::no_execute;
    } else if (effect != "NoSchedule") {
        field["effect"].expected("NoSchedule, PreferNoSchedule or NoExecute");
    }
    return taint;
}

/// A node without the condition was written by hand and is taken as ready.
bool read_ready(const Field& conditions) {
    for (const Field& condition : conditions.items()) {
        if (condition["type"].text() == "Ready") { return condition["status"].text() == "True"; }
    }
    return true;
}

/// The GPU operator cuts its GPUs anew: what it counts now is neither the old nor the new geometry.
bool is_recut(const Field& labels) {
    const std::string_view state = labels["nvidia.com/mig.config.state"].text();
    return state == "pending" || state == "rebooting";
}

/// Allocatable, and where it says nothing, capacity.
std::vector<Amount> read_allocatable(const Field& status) {
    std::vector<Amount> amounts = read_amounts(status["allocatable"]);
    for (const Amount& amount : read_amounts(status["capacity"])) {
        const bool is_there = std::any_of(amounts.begin(), amounts.end(), [&](const Amount& known) {
            return known.name == amount.name;
        });
        if (!is_there) { amounts.push_back(amount); }
    }
    std::sort(amounts.begin(), amounts.end(),
              [](const Amount& a, const Amount& b) { return a.name < b.name; });
    return amounts;
}

/// Of each driver that some node limits; where it has no limit there is room for all.
void add_attach_limits(const std::string& node, std::vector<Amount>& amounts, const Scope& scope) {
    const Surroundings* around = scope.context.around.get();
    if (around == nullptr || around->limited.empty()) { return; }
    const auto limits = around->attach_limits.find(node);
    for (const auto& [driver, nodes] : around->limited) {
        std::int64_t count = extended_count_max;
        if (limits != around->attach_limits.end()) {
            const auto limit = limits->second.find(driver);
            if (limit != limits->second.end()) { count = limit->second; }
        }
        add_amount(amounts, fmt::format("{}{}", attach_prefix, driver), count);
    }
}

}  // namespace

NodeSpec read_node(const Field& node, const Scope& scope) {
    NodeSpec out;
    const Field metadata = node["metadata"];
    out.name = metadata["name"].name();
    out.labels = read_labels(metadata["labels"]);
    if (!metadata["labels"][hostname_key].is_present()) {
        out.labels.push_back({std::string(hostname_key), out.name});
    }
    for (const Field& taint : node["spec"]["taints"].items()) {
        out.taints.push_back(read_taint(taint));
    }
    out.is_cordoned = node["spec"]["unschedulable"].boolean();
    out.is_ready = read_ready(node["status"]["conditions"]) && !is_recut(metadata["labels"]);
    std::vector<Amount> amounts = read_allocatable(node["status"]);
    const auto is_pods = [](const Amount& amount) { return amount.name == "pods"; };
    if (std::any_of(amounts.begin(), amounts.end(), is_pods)) {
        out.pods = take_amount(amounts, "pods");
    }
    read_node_gpus(node, amounts, out, scope);
    add_attach_limits(out.name, amounts, scope);
    out.allocatable = to_resources(std::move(amounts), node["status"]);
    return out;
}

void learn_from_node(const NodeSpec& node, KubernetesContext& context) {
    for (const Amount& amount : node.allocatable.extended) {
        const std::string profile = mig_profile_of(amount.name);
        auto& known = context.fixed_mig_profiles;
        const bool is_new = std::find(known.begin(), known.end(), profile) == known.end();
        if (!profile.empty() && is_new) { known.push_back(profile); }
    }
    context.has_other_vendors =
        context.has_other_vendors ||
        std::any_of(node.labels.begin(), node.labels.end(),
                    [](const Label& label) { return label.key == vendor_label; });
}

PriorityClass read_priority_class(const Field& object) {
    return {.name = std::string(object["metadata"]["name"].name()),
            .value = object["value"].integer(-priority_max, priority_max),
            .is_default = object["globalDefault"].boolean()};
}

std::vector<Level> read_levels(const Field& topology) {
    std::vector<Level> levels;
    const Field list = topology["spec"]["levels"];
    for (const Field& field : list.items()) {
        const std::string key(field["nodeLabel"].name());
        if (key == hostname_key) { continue; }  // single nodes are always there
        const std::size_t slash = key.rfind('/');
        std::string name = slash == std::string::npos ? key : key.substr(slash + 1);
        const bool is_twice = std::any_of(levels.begin(), levels.end(),
                                          [&](const Level& level) { return level.key == key; });
        if (is_twice) { field["nodeLabel"].refuse(fmt::format("level \"{}\" stands twice", key)); }
        const bool is_taken = std::any_of(levels.begin(), levels.end(),
                                          [&](const Level& level) { return level.name == name; });
        levels.push_back({is_taken ? key : std::move(name), key});
    }
    if (levels.size() > topology_levels_max) {
        list.expected(fmt::format("at most {} levels", topology_levels_max));
    }
    return levels;
}

HyperNode read_hypernode(const Field& object) {
    HyperNode out;
    out.name = object["metadata"]["name"].name();
    out.place = object["metadata"]["name"].place().text();
    const Field spec = object["spec"];
    if (!spec["tier"].is_present()) { spec["tier"].expected("a whole number ≥ 0"); }
    out.tier = spec["tier"].integer(0, hypernode_tier_max);
    if (spec["tierName"].is_present()) { out.tier_name = spec["tierName"].name(); }
    for (const Field& field : spec["members"].items()) {
        HyperNodeMember member;
        const std::string_view type = field["type"].text();
        member.kind =
            type == "HyperNode" ? HyperNodeMember::Kind::hypernode : HyperNodeMember::Kind::node;
        if (type != "Node" && type != "HyperNode") { field["type"].expected("Node or HyperNode"); }
        const Field selector = field["selector"];
        if (selector["exactMatch"].is_present()) {
            member.text = selector["exactMatch"]["name"].name();
        } else if (selector["regexMatch"].is_present()) {
            member.match = HyperNodeMember::Match::regex;
            member.text = selector["regexMatch"]["pattern"].text();
        } else if (selector["labelMatch"].is_present()) {
            member.match = HyperNodeMember::Match::labels;
            member.labels = read_selector(selector["labelMatch"]);
        } else {
            selector.expected("one of exactMatch, regexMatch and labelMatch");
        }
        out.members.push_back(std::move(member));
    }
    return out;
}

Quota read_quota(const Field& list) {
    Quota quota;
    std::int64_t gpu_milli = 0;
    bool has_gpu = false;
    for (const Amount& amount : read_amounts(list)) {
        if (find_gpu_vendor(amount.name) != nullptr) {
            gpu_milli += std::min(amount.count, extended_count_max) * gpu_milli_whole;
            has_gpu = true;
        } else {
            quota.amounts.push_back(amount);
        }
    }
    if (has_gpu) { quota.amounts.push_back({"gpu", gpu_milli}); }
    return quota;
}

QueueSpec read_volcano_queue(const Field& queue, const Scope& scope) {
    constexpr std::int64_t weight_max = 65'535;
    QueueSpec out;
    const Field spec = queue["spec"];
    out.name = queue["metadata"]["name"].name();
    if (spec["parent"].is_present() && spec["parent"].text() != "root") {
        out.parent = spec["parent"].name();
    }
    out.cap = read_quota(spec["capability"]);
    out.entitlement = read_quota(spec["deserved"]);
    out.guarantee = read_quota(spec["guarantee"]["resource"]);
    out.weight = spec["weight"].integer(1, weight_max, 1);
    out.priority = spec["priority"].integer(-priority_max, priority_max);
    const std::string_view strategy = spec["dequeueStrategy"].text("traverse");
    if (strategy == "fifo") {
        out.head = HeadRule::strict;
    } else if (strategy != "traverse" && !strategy.empty()) {
        spec["dequeueStrategy"].expected("traverse or fifo");
    }
    if (!spec["reclaimable"].boolean(true)) {
        scope.notes.add(spec["reclaimable"], "reclaimable is not looked at");
    }
    if (spec["affinity"].is_present()) {
        scope.notes.add(spec["affinity"], "a queue's affinity to node groups is not kept");
    }
    const std::string_view state = queue["status"]["state"].text();
    if (state == "Closed" || state == "Closing") {
        scope.notes.add(queue["status"]["state"], "a closed queue is taken as open");
    }
    constexpr std::string_view known[] = {
        "weight",   "capability",      "deserved", "guarantee", "reclaimable",   "parent",
        "priority", "dequeueStrategy", "affinity", "type",      "extendClusters"};
    for (const auto& [name, field] : spec.members()) {
        if (std::find(std::begin(known), std::end(known), name) != std::end(known)) { continue; }
        scope.notes.add(field, fmt::format("unknown field {} of a Queue is not looked at", name));
    }
    return out;
}

}  // namespace muster::dialect
