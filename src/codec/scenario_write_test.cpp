// Law: what is written reads back as the same, for every scenario there can be.
#include "codec/scenario.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

using rc::gen::arbitrary;
using rc::gen::element;
using rc::gen::inRange;

template <class T>
T any(T low, T past) {
    return *inRange<T>(low, past);
}

bool coin() { return *arbitrary<bool>(); }

/// Names that need quotes, names that look like keywords, and plain ones.
std::string any_name() {
    return *element<std::string>("a", "b1", "n-2", "rack", "node", "gpu", "on", "x y", "q\"\\", "=",
                                 "a=b,c", "n[1-2]", "#", "|", "ü", "12", "a\nb\x01", "ns/train",
                                 "*", "a:b&c", "+1", "in");
}

std::string any_value() { return coin() ? any_name() : ""; }

std::vector<Label> any_labels() {
    std::vector<Label> labels;
    std::set<std::string> keys;
    for (int i = any(0, 3); i > 0; --i) {
        Label label{any_name(), any_value()};
        if (keys.insert(label.key).second) { labels.push_back(std::move(label)); }
    }
    return labels;
}

std::vector<Amount> any_amounts() {
    std::vector<Amount> amounts;
    std::set<std::string> names;
    for (int i = any(0, 3); i > 0; --i) {
        Amount amount{any_name(), any<std::int64_t>(0, 5'000)};
        if (names.insert(amount.name).second) { amounts.push_back(std::move(amount)); }
    }
    return amounts;
}

Resources any_resources() {
    return {any<std::int64_t>(0, 200'000), any<std::int64_t>(0, 1 << 20) << any(0, 20),
            any_amounts()};
}

TaintEffect any_effect() {
    return *element(TaintEffect::no_schedule, TaintEffect::prefer_no_schedule,
                    TaintEffect::no_execute);
}

NodeSpec any_node(std::string name) {
    NodeSpec node;
    node.name = std::move(name);
    node.labels = any_labels();
    for (int i = any(0, 3); i > 0; --i) {
        node.taints.push_back({any_name(), any_value(), any_effect()});
    }
    node.allocatable = any_resources();
    node.pods = any<std::int64_t>(0, 200);
    for (int i = any(0, 4); i > 0; --i) {
        node.gpus.push_back({any_value(), any<std::int64_t>(0, 100'000), any(-1, 4),
                             coin() ? MigMode::dynamic : MigMode::off, coin()});
    }
    for (int i = any(0, 3); i > 0; --i) { node.nics.push_back({any_name(), any(-1, 4)}); }
    const std::size_t devices = node.gpus.size() + node.nics.size();
    if (coin()) {
        for (std::size_t i = 0; i < devices * devices; ++i) {
            const Link link = *element(Link::self, Link::nvlink, Link::pix, Link::pxb, Link::phb,
                                       Link::node, Link::sys, Link::unknown);
            node.links.paths.push_back(link);
            node.links.nvlinks.push_back(
                link == Link::nvlink ? static_cast<std::uint8_t>(any(0, 256)) : std::uint8_t{0});
        }
    }
    for (int i = any(0, 3); i > 0; --i) { node.numa.push_back({any<std::int64_t>(0, 9'000)}); }
    node.numa_policy = coin() ? NumaPolicy::single_numa_node : NumaPolicy::none;
    node.is_ready = coin();
    node.is_cordoned = coin();
    node.rank = any(-5, 5);
    node.is_counted = coin();
    return node;
}

std::vector<std::string> any_names(int low) {
    std::vector<std::string> names;
    for (int i = any(low, low + 2); i > 0; --i) { names.push_back(any_name()); }
    return names;
}

std::vector<LabelMatch> any_matches() {
    std::vector<LabelMatch> matches;
    for (int i = any(0, 3); i > 0; --i) {
        matches.push_back({any_name(),
                           *element(MatchOp::in, MatchOp::not_in, MatchOp::exists,
                                    MatchOp::does_not_exist, MatchOp::greater, MatchOp::less),
                           any_names(0)});
    }
    return matches;
}

GpuNeed any_need() {
    GpuNeed gpu;
    gpu.kind = *element(GpuKind::none, GpuKind::whole, GpuKind::share, GpuKind::mig);
    if (gpu.kind != GpuKind::none) { gpu.count = any(1, 9); }
    if (gpu.kind == GpuKind::share) {
        gpu.milli = any(0, 1'001);
        gpu.mib = gpu.milli == 0 ? any<std::int64_t>(1, 99'999) : any<std::int64_t>(0, 99'999);
    }
    if (gpu.kind == GpuKind::mig) { gpu.profile = any_name(); }
    gpu.models = any_names(0);
    gpu.near_nic = coin();
    return gpu;
}

TaskSpec any_task() {
    TaskSpec task;
    task.request = any_resources();
    task.gpu = any_need();
    task.node_selector = any_labels();
    for (int i = any(0, 2); i > 0; --i) { task.required.push_back({any_matches(), 0}); }
    for (int i = any(0, 2); i > 0; --i) { task.preferred.push_back({any_matches(), any(1, 101)}); }
    for (int i = any(0, 2); i > 0; --i) {
        Toleration toleration{.key = any_name()};
        if (coin()) {
            toleration.op = TolerationOp::exists;
            if (coin()) { toleration.key = ""; }
        } else if (coin()) {
            toleration.op = coin() ? TolerationOp::greater : TolerationOp::less;
            toleration.value = std::to_string(any(-9, 9));
        } else {
            toleration.value = any_value();
        }
        toleration.is_any_effect = coin();
        if (!toleration.is_any_effect) { toleration.effect = any_effect(); }
        task.tolerations.push_back(std::move(toleration));
    }
    for (int i = any(0, 2); i > 0; --i) {
        PodTerm term{any_matches(), any_names(0), any_name(), coin(), any(0, 101)};
        term.is_any_namespace = coin();
        if (term.is_any_namespace) { term.namespaces.clear(); }
        if (coin()) {
            term = {.selector = any_matches(), .topology_key = any_name()};
            term.spread = {any(1, 9), any(1, 9), coin(), coin(), coin()};
        }
        task.pod_terms.push_back(std::move(term));
    }
    task.labels = any_labels();
    task.name_space = any_name();
    task.is_cpu_exclusive = coin();
    return task;
}

/// A leaf gang, or a tree whose groups stand in any order that has parents first.
WorkloadSpec any_workload(std::string name) {
    WorkloadSpec workload;
    workload.name = name;
    workload.queue = any_name();
    workload.user = any_value();
    workload.priority = any<std::int64_t>(-9, 9);
    workload.submitted = any<std::int64_t>(0, 100'000);
    workload.runtime_estimate_s = any<std::int64_t>(0, 5'000);
    if (coin()) { workload.linked = {std::move(name), any_name() + "'"}; }

    const int inner = any(0, 4);  // groups that must have children
    for (int i = 0; i < inner; ++i) {
        workload.groups.push_back(
            {.name = "g" + std::to_string(i), .parent = i == 0 ? -1 : any(0, i)});
    }
    std::vector<std::int32_t> parents;
    for (int i = 0; i < inner; ++i) { parents.push_back(i); }
    for (int i = inner == 0 ? 0 : any(0, 3); i > 0; --i) { parents.push_back(any(0, inner)); }
    if (inner == 0) { parents = {-1}; }
    std::ranges::reverse(parents);
    for (const std::int32_t parent : parents) {
        GroupSpec leaf{.name = "r" + std::to_string(workload.groups.size()), .parent = parent};
        leaf.count = any(1, 6);
        leaf.minimum = any(0, leaf.count + 1);
        leaf.task = any_task();
        workload.groups.push_back(std::move(leaf));
    }
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        GroupSpec& group = workload.groups[i];
        group.topology = {any_value(), any_value()};
        if (static_cast<int>(i) >= inner) { continue; }
        const auto children =
            std::ranges::count(workload.groups, static_cast<std::int32_t>(i), &GroupSpec::parent);
        group.minimum = any(0, static_cast<int>(children) + 1);
    }
    return workload;
}

QueueSpec any_queue(std::string name, std::string parent) {
    QueueSpec queue{.name = std::move(name), .parent = std::move(parent)};
    queue.cap = {{{"gpu", any<std::int64_t>(0, 9'000)}, {"memory", any<std::int64_t>(0, 1 << 30)}}};
    queue.guarantee = {any_amounts()};
    for (Amount& amount : queue.guarantee.amounts) { amount.name += "/x"; }
    queue.weight = any<std::int64_t>(0, 9);
    queue.priority = any<std::int64_t>(-9, 9);
    queue.head = coin() ? HeadRule::strict : HeadRule::best_effort;
    return queue;
}

LeaseSpec any_lease(std::string name) {
    LeaseSpec lease{.name = std::move(name), .holder = any_value()};
    lease.state = *element(LeaseState::offered, LeaseState::granted, LeaseState::active,
                           LeaseState::recalled, LeaseState::returned);
    lease.epoch = any<std::uint64_t>(0, 9);
    lease.notice_s = any<std::int64_t>(0, 9'000);
    lease.deadline = any<std::int64_t>(0, 1'800'000'000'000);
    for (int i = any(0, 3); i > 0; --i) {
        lease.blocks.push_back({any_name(), *arbitrary<std::uint64_t>(),
                                any<std::int64_t>(0, 200'000), any<std::int64_t>(0, 1 << 20)});
    }
    return lease;
}

Scenario any_scenario() {
    Scenario scenario;
    const auto add = [&](Action action) { scenario.commands.push_back({0, std::move(action)}); };
    for (int i = any(0, 2); i > 0; --i) {
        scenario.policy.mix.push_back({any<std::int64_t>(0, 9'000), any(1, 1'001), any(0, 9),
                                       any_names(0), any<std::int64_t>(1, 99)});
    }
    TopologySet topology;
    std::set<std::string> names;
    for (int i = any(0, 4); i > 0; --i) {
        Level level{any_name(), any_name()};
        if (names.insert(level.name).second) { topology.levels.push_back(std::move(level)); }
    }
    add(Fact(topology));
    NodeSpec node = any_node("k");
    const std::string other = any_name();
    add(Fact(NodeSet{node}));
    add(Fact(NodeSet{any_node(other)}));
    if (coin()) { add(Fact(NodeSet{node = any_node("k")})); }
    add(Fact(QueueSet{any_queue("top", "")}));
    add(Fact(QueueSet{any_queue("sub=1", "top")}));
    if (coin()) { add(Fact(QueueSet{any_queue("sub=1", "")})); }
    const std::string lease = any_name();
    for (int i = any(0, 4); i > 0; --i) { add(Fact(LeaseSet{any_lease(lease)})); }
    const std::string gang = any_name();
    const WorkloadSpec workload = any_workload(gang);
    add(Fact(WorkloadSet{workload}));
    add(Fact(WorkloadSet{any_workload("second")}));
    if (coin()) { add(Fact(WorkloadSet{any_workload("second")})); }
    if (!node.gpus.empty()) { add(Fact(GpuHealth{"k", 0, coin()})); }
    add(Fact(TimeIs{any<std::int64_t>(0, 1'000'000)}));
    add(RunCycles{any<std::int64_t>(1, 5)});
    const Devices devices{any<std::uint64_t>(0, 1'000), {{1, 4}, {0, 6}}, 1};
    add(Fact(TaskBound{gang, 0, other, false, {}}));
    add(Fact(TaskBound{gang, 0, other, true, coin() ? devices : Devices{}}));
    add(Fact(TaskGone{gang, 0, coin()}));
    add(ExpectRuns{{gang, "second"}, 3, any_value(), std::vector<std::string>{"k"}, 2});
    add(ExpectTask{gang, 0, other, 5, std::vector<MigSlot>{{0, 4}}, 1});
    add(ExpectTask{.workload = gang});
    add(ExpectWaits{{gang},
                    any_value(),
                    any_value(),
                    Why::no_room,
                    ChainLink::place,
                    3,
                    4,
                    any_value(),
                    {{Cause::gpu_free, 2}, {Cause::taint, 0}}});
    add(ExpectWaits{.workloads = {"second"}});
    add(ExpectCount{1, {gang, "second"}});
    add(ExpectNoChange{});
    add(ExpectRefused{any_value()});
    add(Show{Shown::shapes, {"", "a  b", "  c", any_name() == "a" ? "|" : "#"}});
    add(Fact(WorkloadGone{gang}));
    add(Fact(NodeGone{"k"}));
    add(Fact(QueueGone{"sub=1"}));
    return scenario;
}

RC_GTEST_PROP(Scenario, WrittenThenReadIsTheSame, ()) {
    const Scenario scenario = any_scenario();

    const std::string text = write_scenario(scenario);
    const auto again = read_scenario("x", text);

    RC_LOG() << text;
    if (!again) { RC_FAIL(again.error().message); }
    RC_ASSERT(again->policy == scenario.policy);
    RC_ASSERT(again->commands.size() == scenario.commands.size());
    for (std::size_t i = 0; i < scenario.commands.size(); ++i) {
        RC_LOG() << "command " << i;
        RC_ASSERT(again->commands[i].action == scenario.commands[i].action);
    }
    RC_ASSERT(write_scenario(*again) == text);
}

}  // namespace
}  // namespace muster
