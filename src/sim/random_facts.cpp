#include "sim/random_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace muster {

namespace {

/// Beyond, more leaves than arrives; behind a strict head sooner, so that it moves on.
constexpr std::size_t works_max = 24;
constexpr std::size_t strict_works_max = 6;

std::vector<std::string> names_of(const std::map<std::string, NodeSpec>& nodes) {
    std::vector<std::string> names;
    for (const auto& [name, node] : nodes) { names.push_back(name); }
    return names;
}

std::vector<std::string> names_of(const std::map<std::string, WorkloadSpec>& works) {
    std::vector<std::string> names;
    for (const auto& [name, work] : works) { names.push_back(name); }
    return names;
}

}  // namespace

RandomFacts::RandomFacts(std::uint64_t seed) : dice_(seed) {
    traits_.levels = dice_.between(0, 3);
    traits_.nodes = dice_.chance(50) ? dice_.between(2, 8) : dice_.between(6, 24);
    for (bool* trait :
         {&traits_.has_mig, &traits_.has_shares, &traits_.has_numa, &traits_.has_links,
          &traits_.has_selectors, &traits_.has_taints, &traits_.has_extended,
          &traits_.has_pod_terms, &traits_.has_trees, &traits_.has_elastic,
          &traits_.has_linked_gangs, &traits_.has_wishes, &traits_.has_queues, &traits_.has_strict,
          &traits_.has_updates, &traits_.has_node_changes, &traits_.has_foreign,
          &traits_.has_nonsense, &traits_.has_leases}) {
        *trait = dice_.chance(40);
    }
    if (dice_.chance(20)) {
        policy_.mix = {{.milli_cpu = 8'000, .gpu_milli = 1'000, .gpu_count = 8, .models = {}},
                       {.milli_cpu = 2'000, .gpu_milli = 500, .gpu_count = 1, .models = {}}};
    }
    queue_names_ = {"default"};
}

QueueSpec RandomFacts::make_queue(const std::string& name) {
    QueueSpec queue;
    queue.name = name;
    const auto amount = [&](std::int64_t most) {
        return dice_.between(dice_.chance(15) ? 0 : most / 4, most);
    };
    if (dice_.chance(50)) { queue.cap.amounts.push_back({"gpu", amount(32) * 1'000}); }
    if (dice_.chance(25)) { queue.cap.amounts.push_back({"cpu", amount(96) * 1'000}); }
    if (dice_.chance(10)) { queue.cap.amounts.push_back({"memory", amount(192) << 30}); }
    if (traits_.has_extended && dice_.chance(30)) {
        queue.cap.amounts.push_back({"rdma/hca", dice_.between(0, 4)});
    }
    if (traits_.has_strict && dice_.chance(50)) { queue.head = HeadRule::strict; }
    return queue;
}

std::vector<RandomFact> RandomFacts::first() {
    std::vector<RandomFact> out;
    out.push_back({make_levels()});
    if (traits_.has_queues) {
        for (const char* team : {"red", "blue"}) {
            out.push_back({QueueSet{make_queue(team)}});
            queue_names_.emplace_back(team);
            if (dice_.chance(50)) { continue; }
            for (const char* part : {"-a", "-b"}) {
                QueueSpec queue = make_queue(std::string(team) + part);
                queue.parent = team;
                queue_names_.push_back(queue.name);
                out.push_back({QueueSet{queue}});
            }
        }
    } else if (traits_.has_strict) {
        QueueSpec queue = make_queue("default");
        queue.head = HeadRule::strict;
        out.push_back({QueueSet{queue}});
    }
    for (std::int64_t i = 0; i < traits_.nodes; ++i) {
        const NodeSpec node = make_node(i);
        nodes_[node.name] = node;
        out.push_back({NodeSet{node}});
    }
    return out;
}

std::vector<RandomFact> RandomFacts::next(const World& world) {
    std::vector<RandomFact> out;
    if (dice_.chance(50)) {
        now_ += dice_.between(1, 1'000);
        out.push_back({TimeIs{now_}});
    }
    for (const Workload& workload : world.workloads) {  // most of what was released goes soon
        for (std::uint32_t i = 0; workload.leaving > 0 && i < workload.tasks.size(); ++i) {
            if (workload.tasks[i].state == TaskState::leaving && dice_.chance(60)) {
                out.push_back({TaskGone{workload.name, i, dice_.chance(10)}});
            }
        }
    }
    for (std::size_t events = dice_.chance(30) ? 1 + dice_.below(5) : 1; events > 0; --events) {
        const std::size_t kind = dice_.below(100);
        if (kind < 36) {
            add_workloads(out);
        } else if (kind < 46 ||
                   works_.size() > (traits_.has_strict ? strict_works_max : works_max)) {
            if (!works_.empty()) {
                const std::string name = dice_.pick(names_of(works_));
                works_.erase(name);
                out.push_back({WorkloadGone{name}});
            }
        } else if (kind < 58) {
            add_task_event(world, out);
        } else if (kind < 68 && traits_.has_updates) {
            if (!works_.empty()) {
                WorkloadSpec& spec = works_[dice_.pick(names_of(works_))];
                change_workload(spec);
                out.push_back({WorkloadSet{spec}});
            }
        } else if (kind < 80) {
            add_node_event(out);
        } else if (kind < 86) {
            add_queue_event(out);
        } else if (kind < 94 && traits_.has_foreign) {
            add_bind(world, out);
        } else if (kind < 97 && traits_.has_leases) {
            add_lease(world, out);
        } else if (traits_.has_nonsense) {
            add_nonsense(world, out);
        }
    }
    if (!out.empty() && dice_.chance(5)) { out.push_back({out[dice_.below(out.size())].fact}); }
    return out;
}

void RandomFacts::add_workloads(std::vector<RandomFact>& out) {
    if (!later_.empty() && dice_.chance(60)) {
        const WorkloadSpec spec = later_.back();
        later_.pop_back();
        works_[spec.name] = spec;
        out.push_back({WorkloadSet{spec}});
        return;
    }
    std::vector<WorkloadSpec> specs{make_workload()};
    if (traits_.has_linked_gangs && dice_.chance(40)) {
        specs.push_back(make_workload());
        if (dice_.chance(30)) { specs.push_back(make_workload()); }
        std::vector<std::string> names;
        for (const WorkloadSpec& spec : specs) { names.push_back(spec.name); }
        for (WorkloadSpec& spec : specs) { spec.linked = names; }
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (i > 0 && dice_.chance(30)) {
            later_.push_back(specs[i]);
            continue;
        }
        works_[specs[i].name] = specs[i];
        out.push_back({WorkloadSet{specs[i]}});
    }
}

void RandomFacts::add_node_event(std::vector<RandomFact>& out) {
    const std::size_t kind = dice_.below(10);
    if (!down_.empty() && (kind < 4 || down_.size() == nodes_.size())) {
        const std::size_t at = dice_.below(down_.size());
        NodeSpec& node = nodes_[down_[at]];
        down_.erase(down_.begin() + static_cast<std::ptrdiff_t>(at));
        if (traits_.has_node_changes && dice_.chance(20)) { change_node(node); }
        out.push_back({NodeSet{node}});
        return;
    }
    const std::string name = dice_.pick(names_of(nodes_));
    NodeSpec& node = nodes_[name];
    if (std::find(down_.begin(), down_.end(), name) != down_.end()) { return; }
    if (kind < 6) {
        down_.push_back(name);
        out.push_back({NodeGone{name}});
    } else if (kind < 8) {
        if (node.gpus.empty()) { return; }
        const std::size_t gpu = dice_.below(node.gpus.size());
        node.gpus[gpu].is_healthy = !node.gpus[gpu].is_healthy;
        out.push_back(
            {GpuHealth{name, static_cast<std::uint32_t>(gpu), node.gpus[gpu].is_healthy}});
    } else if (kind == 9 && dice_.chance(20) && traits_.has_node_changes) {
        traits_.levels = dice_.between(0, 3);
        out.push_back({make_levels()});
    } else if (traits_.has_node_changes) {
        change_node(node);
        out.push_back({NodeSet{node}});
    }
}

void RandomFacts::add_task_event(const World& world, std::vector<RandomFact>& out) {
    std::vector<TaskGone> placed;
    for (const auto& [name, spec] : works_) {
        const WorkloadId id = world.find_workload(name);
        if (!id.is_valid()) { continue; }
        const Workload& workload = world.workloads[id.value];
        for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
            if (workload.tasks[i].holds()) { placed.push_back({name, i, false}); }
        }
    }
    if (placed.empty()) { return; }
    TaskGone gone = dice_.pick(placed);
    gone.is_finished = dice_.chance(50);
    out.push_back({gone});
}

void RandomFacts::add_queue_event(std::vector<RandomFact>& out) {
    if (!traits_.has_queues) { return; }
    static const std::vector<std::string> all = {"default", "red",    "blue",   "red-a",
                                                 "red-b",   "blue-a", "blue-b", "nowhere"};
    const std::string& name = dice_.pick(all);
    if (dice_.chance(15)) {
        out.push_back({QueueGone{name}});
        return;
    }
    QueueSpec queue = make_queue(name);
    const std::size_t dash = name.find('-');
    if (dash != std::string::npos && dice_.chance(90)) { queue.parent = name.substr(0, dash); }
    if (dice_.chance(4)) { queue.parent = dice_.pick(all); }
    out.push_back({QueueSet{queue}});
}

void RandomFacts::add_bind(const World& world, std::vector<RandomFact>& out) {
    if (works_.empty()) { return; }
    const std::string name = dice_.pick(names_of(works_));
    const WorkloadId id = world.find_workload(name);
    if (!id.is_valid()) { return; }
    const Workload& workload = world.workloads[id.value];
    TaskBound bound{.workload = name,
                    .task = static_cast<std::uint32_t>(dice_.below(workload.tasks.size())),
                    .node = dice_.pick(names_of(nodes_)),
                    .has_devices = dice_.chance(50),
                    .devices = {}};
    const Group& group = workload.groups[workload.tasks[bound.task].group];
    const NodeSpec& node = nodes_[bound.node];
    if (bound.has_devices && !node.gpus.empty()) {
        const GpuNeed& need = world.shapes.at(group.shape).spec.gpu;
        if (need.kind == GpuKind::mig) {
            for (std::int32_t i = 0; i < need.count; ++i) {
                const std::size_t gpu = dice_.below(node.gpus.size());
                bound.devices.gpus |= std::uint64_t{1} << gpu;
                bound.devices.mig.push_back(
                    {static_cast<std::uint8_t>(gpu), static_cast<std::uint8_t>(dice_.below(8))});
            }
        } else if (need.kind != GpuKind::none) {
            const std::int32_t count =
                dice_.chance(90) ? need.count : static_cast<std::int32_t>(dice_.between(0, 3));
            for (std::int32_t i = 0; i < count; ++i) {
                bound.devices.gpus |= std::uint64_t{1} << dice_.below(node.gpus.size());
            }
        }
        if (!node.numa.empty() && dice_.chance(50)) {
            bound.devices.numa = static_cast<std::int8_t>(dice_.below(node.numa.size()));
        }
    }
    out.push_back({bound});
}

/// A block of what is free, offered; or one step of a lease that lives.
void RandomFacts::add_lease(const World& world, std::vector<RandomFact>& out) {
    if (!leases_.empty() && dice_.chance(60)) {
        LeaseSpec& lease = leases_[dice_.below(leases_.size())];
        ++lease.epoch;
        lease.state = static_cast<LeaseState>(
            dice_.between(static_cast<std::int64_t>(lease.state) + (dice_.chance(20) ? 0 : 1), 4));
        lease.deadline = lease.state == LeaseState::recalled ? now_ + 1'000 : 0;
        const LeaseSpec step = lease;
        if (lease.state == LeaseState::returned) {
            std::swap(lease, leases_.back()), leases_.pop_back();
        }
        out.push_back({LeaseSet{step}});
        return;
    }
    LeaseSpec lease{.name = fmt::format("l{}", made_++), .holder = "slurm", .epoch = 1};
    for (const std::string& name : names_of(nodes_)) {
        const NodeId id = world.find_node(name);
        if (!id.is_valid() || !dice_.chance(30)) { continue; }
        const NodeFree& free = world.space.nodes[id.value];
        if (free.pods < 1 || free.milli_cpu < 0 || free.memory < 0) { continue; }
        lease.blocks.push_back({.node = name,
                                .gpus = dice_.chance(70) ? free.whole : free.whole & 5,
                                .milli_cpu = dice_.between(0, free.milli_cpu),
                                .memory = dice_.between(0, free.memory)});
    }
    if (lease.blocks.empty()) { return; }
    leases_.push_back(lease);
    out.push_back({LeaseSet{lease}});
}

void RandomFacts::add_nonsense(const World& world, std::vector<RandomFact>& out) {
    const std::string node = dice_.pick(names_of(nodes_));
    const std::string work = works_.empty() ? "nobody" : dice_.pick(names_of(works_));
    const auto refuse = [&](Fact fact) { out.push_back({std::move(fact), true}); };
    switch (dice_.below(16)) {
        case 0: return refuse(NodeGone{"nothing"});
        case 1: return refuse(WorkloadGone{"nobody"});
        case 2: return refuse(TaskGone{work, 1'000'000, false});
        case 3: return refuse(TaskBound{work, 0, "nothing", false, {}});
        case 4: return refuse(GpuHealth{node, 77, false});
        case 5: return refuse(TimeIs{-1});
        case 6: return refuse(TopologySet{{{"rack", "a"}, {"rack", "b"}}});
        case 7: return refuse(QueueSet{{.name = "odd", .parent = "nothing"}});
        case 8: return refuse(QueueSet{{.name = "odd", .cap = {{{"gpu", -1}}}}});
        case 9: return refuse(QueueGone{"default"});
        case 10: {
            NodeSpec broken = nodes_[node];
            broken.allocatable.milli_cpu = -1;
            return refuse(NodeSet{broken});
        }
        case 11: {
            WorkloadSpec broken = make_workload();
            broken.groups[0].parent = 0;
            return refuse(WorkloadSet{broken});
        }
        case 12: {
            WorkloadSpec broken = make_workload();
            broken.groups.back().minimum = broken.groups.back().count + 1;
            return refuse(WorkloadSet{broken});
        }
        case 13: {  // sound, and far too large
            WorkloadSpec huge = make_workload();
            GroupSpec& group = huge.groups.back();
            group.count = 300;
            group.minimum = dice_.chance(50) ? 300 : 1;
            group.task.request.memory = memory_bytes_max;
            works_[huge.name] = huge;
            out.push_back({WorkloadSet{huge}});
            return;
        }
        case 14: {  // devices that no node has: a conflict or an error, never more
            TaskBound bound{.workload = work, .task = 0, .node = node, .has_devices = true};
            bound.devices.gpus = dice_.next();
            bound.devices.mig = {{static_cast<std::uint8_t>(dice_.below(256)),
                                  static_cast<std::uint8_t>(dice_.below(256))}};
            bound.devices.numa = static_cast<std::int8_t>(dice_.between(-128, 127));
            if (traits_.has_foreign) { out.push_back({bound}); }
            return;
        }
        case 15: {
            const WorkloadId id = world.find_workload(work);
            if (!id.is_valid()) { return; }
            const Workload& workload = world.workloads[id.value];
            for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
                if (workload.tasks[i].state != TaskState::placed && workload.is_waiting()) {
                    // True when it is applied first in its step; else it may hold something by
                    // then.
                    if (out.empty()) { refuse(TaskGone{work, i, false}); }
                    return;
                }
            }
            return;
        }
    }
}

}  // namespace muster
