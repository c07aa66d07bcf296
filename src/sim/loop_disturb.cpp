// What happens in the cluster that nobody ordered.
#include "sim/loop_cluster.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::sim {

namespace {

constexpr std::size_t works_max = 12;

template <class Map>
auto& pick(Dice& dice, Map& map) {
    return *std::next(map.begin(), static_cast<std::ptrdiff_t>(dice.below(map.size())));
}

}  // namespace

LoopCluster::LoopCluster(std::uint64_t seed) : dice_(seed) {
    for (bool* trait : {&has_strict_, &has_foreign_, &has_leases_, &has_changes_, &has_trees_}) {
        *trait = dice_.chance(50);
    }
    if (dice_.chance(60)) { levels_.push_back({"rack", "rack"}); }
    const std::size_t count = 2 + dice_.below(5);
    for (std::size_t i = 0; i < count; ++i) {
        Node node{.spec = make_node(i), .number = ++last_number_};
        nodes_.emplace(node.spec.name, std::move(node));
    }
    for (const char* name : {"default", "red"}) { queues_.emplace(name, make_queue(name)); }
}

NodeSpec LoopCluster::make_node(std::size_t index) {
    static const std::vector<std::size_t> sizes = {1, 2, 4, 4, 8};
    NodeSpec node;
    node.name = fmt::format("n{}", index);
    node.allocatable = {.milli_cpu = dice_.between(4, 32) * 1'000,
                        .memory = std::int64_t{64} << 30,
                        .extended = {}};
    node.labels.push_back({"rack", fmt::format("r{}", dice_.below(2))});
    node.gpus.resize(dice_.pick(sizes));
    for (GpuSpec& gpu : node.gpus) {
        gpu = {.model = "NVIDIA-H100-80GB-HBM3", .memory_mib = 81'559};
    }
    return node;
}

QueueSpec LoopCluster::make_queue(const std::string& name) {
    QueueSpec queue{.name = name};
    if (dice_.chance(40)) { queue.cap.amounts.push_back({"gpu", dice_.between(2, 16) * 1'000}); }
    if (has_strict_ && dice_.chance(50)) { queue.head = HeadRule::strict; }
    return queue;
}

GroupSpec LoopCluster::make_group(std::int32_t parent) {
    GroupSpec group{
        .name = parent < 0 ? "g" : "part", .parent = parent, .task = {}, .topology = {}};
    group.count = static_cast<std::int32_t>(dice_.between(1, 4));
    group.minimum =
        dice_.chance(70) ? group.count : static_cast<std::int32_t>(dice_.between(1, group.count));
    group.task.request = {
        .milli_cpu = dice_.between(1, 3) * 1'000, .memory = std::int64_t{1} << 30, .extended = {}};
    if (dice_.chance(60)) {
        group.task.gpu = {.kind = GpuKind::whole,
                          .count = static_cast<std::int32_t>(dice_.between(1, 3))};
    } else if (dice_.chance(60)) {
        group.task.gpu = {.kind = GpuKind::share, .count = 1, .milli = 500};
    }
    if (!levels_.empty() && dice_.chance(25)) { group.topology.required = "rack"; }
    return group;
}

WorkloadSpec LoopCluster::make_work() {
    WorkloadSpec spec;
    spec.name = fmt::format("w{}", made_++);
    spec.uid = fmt::format("uid-{}", ++last_number_);
    spec.queue = dice_.chance(50) ? "red" : "default";
    spec.priority = dice_.chance(30) ? dice_.between(0, 3) : 0;
    spec.submitted = std::max<std::int64_t>(0, now);
    if (has_trees_ && dice_.chance(40)) {
        spec.groups.push_back({.name = "all", .minimum = 2, .task = {}, .topology = {}});
        if (dice_.chance(30)) { spec.groups[0].minimum = 1; }
        spec.groups.push_back(make_group(0));
        spec.groups.push_back(make_group(0));
    } else {
        spec.groups.push_back(make_group(-1));
    }
    return spec;
}

/// Tells the workload as it is, with the pods that it has; new tasks get new ones.
void LoopCluster::set_work(Work& work) {
    std::size_t count = 0;
    for (std::size_t i = work.spec.groups.size() == 1 ? 0 : 1; i < work.spec.groups.size(); ++i) {
        count += static_cast<std::size_t>(work.spec.groups[i].count);
    }
    work.pods.resize(count);
    Heard heard{.fact = WorkloadSet{work.spec}};
    for (Pod& pod : work.pods) {
        if (pod.number == 0) { pod.number = ++last_number_; }
        heard.pods.push_back(pod.number);
    }
    tell(std::move(heard));
}

void LoopCluster::submit() {
    if (works_.size() >= works_max) { return remove_work(); }
    WorkloadSpec spec = make_work();
    // Now and then a name comes again.
    if (made_ > 3 && dice_.chance(15)) {
        const std::string name = fmt::format("w{}", dice_.between(0, made_ - 2));
        if (!works_.contains(name)) { spec.name = name; }
    }
    Work& work = works_[spec.name];
    work.spec = std::move(spec);
    set_work(work);
}

/// The last group, so that tasks keep their numbers. Those that it loses end first; what has
/// finished stays, as no finished task comes back under one uid.
void LoopCluster::resize() {
    if (works_.empty()) { return; }
    Work& work = pick(dice_, works_).second;
    if (dice_.chance(30)) {
        work.spec.priority = dice_.between(0, 3);
        return set_work(work);
    }
    GroupSpec& group = work.spec.groups.back();
    const auto first = work.pods.size() - static_cast<std::size_t>(group.count);
    auto count = static_cast<std::int32_t>(dice_.between(1, 5));
    for (std::int32_t i = count; i < group.count; ++i) {
        if (work.pods[first + static_cast<std::size_t>(i)].is_finished) { count = i + 1; }
    }
    for (std::int32_t i = count; i < group.count; ++i) {
        const std::size_t at = first + static_cast<std::size_t>(i);
        end({work.spec.name, static_cast<std::uint32_t>(at)}, false, false);
    }
    group.count = count;
    group.minimum = std::min(group.minimum, count);
    set_work(work);
}

void LoopCluster::remove_work() {
    if (works_.empty()) { return; }
    const std::string name = pick(dice_, works_).first;
    works_.erase(name);
    tell({.fact = WorkloadGone{name}});
}

std::vector<PodName> LoopCluster::pods_where(bool is_running) const {
    std::vector<PodName> out;
    for (const auto& [name, work] : works_) {
        for (std::uint32_t i = 0; i < work.pods.size(); ++i) {
            const Pod& pod = work.pods[i];
            if (!pod.is_finished && pod.node.empty() != is_running) { out.emplace_back(name, i); }
        }
    }
    return out;
}

void LoopCluster::end_some_pod() {
    const bool is_running = dice_.chance(80);
    const std::vector<PodName> pods = pods_where(is_running);
    if (pods.empty()) { return; }
    end(dice_.pick(pods), is_running && dice_.chance(40), false);
}

/// Someone else binds a pod of ours, on devices of his choice.
void LoopCluster::bind_from_outside() {
    const std::vector<PodName> pods = pods_where(false);
    if (pods.empty()) { return; }
    const PodName name = dice_.pick(pods);
    const Node& node = pick(dice_, nodes_).second;
    if (!node.is_up) { return; }
    Work& work = works_.at(name.first);
    std::size_t group = work.spec.groups.size() == 1 ? 0 : 1;
    if (group == 1 && name.second >= static_cast<std::uint32_t>(work.spec.groups[1].count)) {
        group = 2;
    }
    TaskOrder order{.node = node.spec.name};
    const auto count = static_cast<std::size_t>(work.spec.groups[group].task.gpu.count);
    if (count > node.spec.gpus.size()) { return; }
    for (std::size_t i = 0, at = dice_.below(node.spec.gpus.size()); i < count; ++i, ++at) {
        order.devices.gpus |= std::uint64_t{1} << at % node.spec.gpus.size();
    }
    start(name, work.pods[name.second], order, false);
}

void LoopCluster::lose_node() {
    Node& node = pick(dice_, nodes_).second;
    if (!std::exchange(node.is_up, false)) { return; }
    tell({.fact = NodeGone{node.spec.name}});
    for (const PodName& name : pods_where(true)) {
        if (works_.at(name.first).pods[name.second].node == node.spec.name) {
            end(name, false, false);
        }
    }
}

void LoopCluster::return_node() {
    Node& node = pick(dice_, nodes_).second;
    if (node.is_up) { return; }
    node.is_up = true;
    node.number = ++last_number_;
    if (has_changes_ && dice_.chance(20)) { change_node(); }
    tell({.fact = NodeSet{node.spec}, .node = node.number});
}

void LoopCluster::change_node() {
    Node& node = pick(dice_, nodes_).second;
    if (!node.is_up) { return; }
    switch (dice_.below(4)) {
        case 0: node.spec.is_cordoned = !node.spec.is_cordoned; break;
        case 1: node.spec.allocatable.milli_cpu = dice_.between(1, 32) * 1'000; break;
        case 2: node.spec.gpus[0].is_healthy = !node.spec.gpus[0].is_healthy; break;
        case 3: return change_gpus(node);
    }
    tell({.fact = NodeSet{node.spec}, .node = node.number});
}

/// One GPU more or less; who used it ends.
void LoopCluster::change_gpus(Node& node) {
    std::vector<GpuSpec>& gpus = node.spec.gpus;
    if (gpus.size() < 2 || (gpus.size() < 8 && dice_.chance(50))) {
        gpus.push_back(gpus[0]);
        return tell({.fact = NodeSet{node.spec}, .node = node.number});
    }
    gpus.pop_back();
    tell({.fact = NodeSet{node.spec}, .node = node.number});
    for (const PodName& name : pods_where(true)) {
        const Pod& pod = works_.at(name.first).pods[name.second];
        if (pod.node == node.spec.name && (pod.devices.gpus >> gpus.size() & 1) != 0) {
            end(name, false, false);
        }
    }
}

void LoopCluster::change_queue() {
    QueueSpec& queue = pick(dice_, queues_).second;
    queue = make_queue(queue.name);
    tell({.fact = QueueSet{queue}});
}

/// Another scheduler asks for a block, or goes one step on with one that it has.
void LoopCluster::step_lease() {
    if (!leases_.empty() && dice_.chance(60)) {
        auto& [name, lease] = pick(dice_, leases_);
        ++lease.epoch;
        const auto from = static_cast<std::int64_t>(lease.state);
        lease.state =
            static_cast<LeaseState>(dice_.between(std::min<std::int64_t>(from + 1, 4), 4));
        tell({.fact = LeaseSet{lease}});
        if (lease.state == LeaseState::returned) { leases_.erase(LeaseSpec(lease).name); }
        return;
    }
    const NodeSpec& node = pick(dice_, nodes_).second.spec;
    LeaseSpec lease{.name = fmt::format("l{}", made_++), .holder = "slurm", .epoch = 1};
    lease.blocks.push_back({.node = node.name, .gpus = 1ULL << dice_.below(node.gpus.size())});
    leases_.emplace(lease.name, lease);
    tell({.fact = LeaseSet{lease}});
}

void LoopCluster::disturb() {
    const std::size_t kind = dice_.below(100);
    if (kind < 30) { return submit(); }
    if (kind < 42) { return remove_work(); }
    if (kind < 60) { return end_some_pod(); }
    if (kind < 66) { return resize(); }
    if (kind < 71) { return lose_node(); }
    if (kind < 81) { return return_node(); }
    if (kind < 85 && has_changes_) { return change_node(); }
    if (kind < 88) { return change_queue(); }
    if (kind < 94 && has_foreign_) { return bind_from_outside(); }
    if (has_leases_) { return step_lease(); }
}

}  // namespace muster::sim
