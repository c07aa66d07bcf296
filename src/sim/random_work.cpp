// Random workloads: single pods, gangs, elastic ones, trees with choices, and what they ask for.
#include "sim/random_facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {

void RandomFacts::add_gpu_need(TaskSpec& task) {
    static const std::vector<std::string> profiles = {"1g.10gb", "1g.5gb",     "2g.10gb", "2g.20gb",
                                                      "3g.40gb", "3g.20gb",    "7g.80gb", "1g.20gb",
                                                      "1g.6gb",  "1g.10gb+me", "4g.24gb"};
    static const std::vector<std::string> models = {
        "NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-40GB", "A100", "Tesla-T4", "unheard-of"};
    static const std::vector<std::int32_t> counts = {1, 1, 1, 2, 2, 3, 4, 4, 8};
    static const std::vector<std::int32_t> millis = {100, 250, 333, 500, 500, 540, 460, 1000};
    static const std::vector<std::int64_t> mibs = {10, 2'000, 8'000, 12'288, 20'000, 50'000};
    GpuNeed& gpu = task.gpu;
    if (dice_.chance(15)) { return; }
    gpu.kind = GpuKind::whole;
    gpu.count = dice_.pick(counts);
    if (traits_.has_shares && dice_.chance(45)) {
        gpu.kind = GpuKind::share;
        gpu.count = dice_.chance(80) ? 1 : 2;
        const std::size_t by = dice_.below(5);
        if (by < 3 || by == 4) { gpu.milli = dice_.pick(millis); }
        if (by >= 3) { gpu.mib = dice_.pick(mibs); }
    } else if (traits_.has_mig && dice_.chance(45)) {
        gpu.kind = GpuKind::mig;
        gpu.count = dice_.chance(75) ? 1 : static_cast<std::int32_t>(dice_.between(2, 4));
        gpu.profile = dice_.pick(profiles);
    }
    if (dice_.chance(15)) { gpu.models.push_back(dice_.pick(models)); }
    if (dice_.chance(5)) { gpu.models.push_back(dice_.pick(models)); }
    gpu.near_nic = traits_.has_links && dice_.chance(30);
}

void RandomFacts::add_placement_rules(TaskSpec& task) {
    if (traits_.has_taints && dice_.chance(50)) {
        Toleration toleration;
        toleration.key = dice_.chance(80) ? (dice_.chance(50) ? "gpu" : "team") : "";
        toleration.op =
            toleration.key.empty() || dice_.chance(50) ? TolerationOp::exists : TolerationOp::equal;
        if (toleration.op == TolerationOp::equal) { toleration.value = "yes"; }
        toleration.is_any_effect = dice_.chance(60);
        toleration.effect = static_cast<TaintEffect>(dice_.below(3));
        task.tolerations.push_back(toleration);
    }
    if (!traits_.has_selectors) { return; }
    const auto make_match = [&]() -> LabelMatch {
        switch (dice_.below(6)) {
            case 0: return {"disk", MatchOp::in, {"ssd", "nvme"}};
            case 1: return {"disk", MatchOp::not_in, {"hdd"}};
            case 2: return {"age", MatchOp::exists, {}};
            case 3: return {"disk", MatchOp::does_not_exist, {}};
            case 4: return {"age", MatchOp::greater, {std::to_string(dice_.between(0, 3))}};
            default: return {"age", MatchOp::less, {std::to_string(dice_.between(1, 4))}};
        }
    };
    if (dice_.chance(15)) {
        task.node_selector.push_back({"disk", dice_.chance(50) ? "ssd" : "hdd"});
    }
    for (std::size_t i = dice_.chance(25) ? 1 + dice_.below(2) : 0; i > 0; --i) {
        NodeTerm term;
        for (std::size_t j = 1 + dice_.below(2); j > 0; --j) {
            term.matches.push_back(make_match());
        }
        (dice_.chance(20) ? task.implied : task.required).push_back(term);
    }
    if (dice_.chance(20)) {
        NodeTerm term;
        term.matches.push_back(make_match());
        term.weight = static_cast<std::int32_t>(dice_.between(1, 100));
        task.preferred.push_back(term);
    }
    if (dice_.chance(4)) {
        NodeTerm term;
        term.matches.push_back({"metadata.name", MatchOp::in, {"n0", "n1"}});
        task.required.push_back(term);
    }
}

void RandomFacts::add_pod_terms(TaskSpec& task) {
    static const std::vector<std::string> keys = {"kubernetes.io/hostname", "example.com/zone",
                                                  "example.com/rack", "block"};
    task.labels.push_back({"app", dice_.chance(50) ? "a" : "b"});
    if (dice_.chance(15)) { task.name_space = "other"; }
    for (std::size_t i = dice_.chance(50) ? 1 + dice_.below(2) : 0; i > 0; --i) {
        PodTerm term;
        term.selector.push_back({"app", MatchOp::in, {dice_.chance(60) ? "a" : "b"}});
        if (dice_.chance(15)) { term.selector.clear(); }
        term.topology_key = dice_.pick(keys);
        term.is_anti = dice_.chance(50);
        term.weight = dice_.chance(30) ? static_cast<std::int32_t>(dice_.between(1, 100)) : 0;
        if (dice_.chance(15)) { term.namespaces = {"other", "default"}; }
        term.is_any_namespace = dice_.chance(10);
        if (dice_.chance(35)) {
            term.is_anti = false;
            term.weight = 0;
            term.namespaces.clear();
            term.is_any_namespace = false;
            term.spread = {.max_skew = static_cast<std::int32_t>(dice_.between(1, 3)),
                           .domains_min = static_cast<std::int32_t>(dice_.between(1, 4)),
                           .is_wish = dice_.chance(30),
                           .skips_unselected = dice_.chance(70),
                           .skips_tainted = dice_.chance(30)};
        }
        task.pod_terms.push_back(term);
    }
}

TaskSpec RandomFacts::make_task() {
    TaskSpec task;
    if (dice_.chance(80)) { task.request.milli_cpu = dice_.between(1, 8) * 1'000; }
    if (dice_.chance(60)) { task.request.memory = dice_.between(1, 16) << 30; }
    if (traits_.has_extended && dice_.chance(30)) {
        task.request.extended.push_back({"rdma/hca", dice_.between(0, 2)});
    }
    add_gpu_need(task);
    task.is_cpu_exclusive = traits_.has_numa && dice_.chance(40);
    add_placement_rules(task);
    if (traits_.has_pod_terms && dice_.chance(40)) { add_pod_terms(task); }
    return task;
}

TopologyWish RandomFacts::make_wish() {
    static const std::vector<std::string> levels = {"zone",  "rack",
                                                    "rack",  "spine",
                                                    "node",  "kubernetes.io/hostname",
                                                    "block", "example.com/rack",
                                                    "planet"};
    TopologyWish wish;
    if (!traits_.has_wishes) { return wish; }
    const auto pick = [&] {
        const std::string& level = dice_.pick(levels);
        return level == "planet" && !dice_.chance(30) ? std::string("rack") : level;
    };
    if (dice_.chance(35)) { wish.required = pick(); }
    if (dice_.chance(25)) { wish.preferred = pick(); }
    return wish;
}

void RandomFacts::grow_tree(WorkloadSpec& spec, std::int32_t parent, int depth) {
    const auto index = static_cast<std::int32_t>(spec.groups.size());
    GroupSpec group;
    group.name = dice_.chance(90) ? fmt::format("g{}", index) : "same";
    group.parent = parent;
    group.topology = make_wish();
    const bool is_inner = traits_.has_trees && depth < 2 && dice_.chance(depth == 0 ? 50 : 25);
    if (!is_inner) {
        group.count = static_cast<std::int32_t>(dice_.chance(40) ? 1 : dice_.between(2, 6));
        group.minimum = group.count;
        if (traits_.has_elastic && dice_.chance(40)) {
            group.minimum = static_cast<std::int32_t>(dice_.between(1, group.count));
        }
        group.task = make_task();
        spec.groups.push_back(group);
        return;
    }
    spec.groups.push_back(group);
    const std::int64_t children = dice_.between(1, 3);
    for (std::int64_t i = 0; i < children; ++i) {
        if (i > 0 && dice_.chance(30)) {  // two roles alike
            GroupSpec twin = spec.groups.back();
            if (twin.parent == index) {
                twin.name = dice_.chance(50) ? twin.name : twin.name + "x";
                spec.groups.push_back(twin);
                continue;
            }
        }
        grow_tree(spec, index, depth + 1);
    }
    spec.groups[static_cast<std::size_t>(index)].minimum =
        static_cast<std::int32_t>(dice_.chance(60) ? children : dice_.between(1, children));
}

WorkloadSpec RandomFacts::make_workload() {
    WorkloadSpec spec;
    spec.name = fmt::format("w{}", made_++);
    spec.queue = dice_.chance(97) ? dice_.pick(queue_names_) : "nowhere";
    spec.priority = dice_.chance(30) ? dice_.between(-1, 3) : 0;
    spec.submitted = dice_.chance(90) ? now_ : dice_.between(0, now_);
    grow_tree(spec, -1, 0);
    return spec;
}

void RandomFacts::change_workload(WorkloadSpec& spec) {
    GroupSpec& group = spec.groups[dice_.below(spec.groups.size())];
    const bool is_inner =
        std::any_of(spec.groups.begin(), spec.groups.end(), [&](const GroupSpec& other) {
            return other.parent >= 0 &&
                   &spec.groups[static_cast<std::size_t>(other.parent)] == &group;
        });
    switch (dice_.below(7)) {
        case 0:
        case 1:
            if (is_inner) { break; }
            group.count = static_cast<std::int32_t>(dice_.between(1, 10));
            group.minimum = group.count;
            break;
        case 2:
            if (!is_inner) {
                group.minimum = static_cast<std::int32_t>(dice_.between(1, group.count));
            }
            break;
        case 3: spec.priority = dice_.between(-2, 4); break;
        case 4: spec.queue = dice_.pick(queue_names_); break;
        case 5:
            if (!is_inner) { group.task = make_task(); }
            break;
        case 6: group.topology = make_wish(); break;
    }
}

}  // namespace muster
