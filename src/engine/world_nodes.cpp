// Facts about nodes, and the compiled form of a node.
#include "base/assert.h"
#include "engine/check.h"
#include "engine/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace muster {

namespace {

/// True when its place in the order, and so every position, stays.
bool keeps_place(const NodeSpec& a, const NodeSpec& b, const std::vector<Level>& levels) {
    const auto label = [](const NodeSpec& node, const std::string& key) -> const std::string* {
        for (const Label& entry : node.labels) {
            if (entry.key == key) { return &entry.value; }
        }
        return nullptr;
    };
    return a.rank == b.rank && std::all_of(levels.begin(), levels.end(), [&](const Level& level) {
               const std::string* left = label(a, level.key);
               const std::string* right = label(b, level.key);
               return left == nullptr || right == nullptr ? left == right : *left == *right;
           });
}

/// `count` slots in `slots`: those that the node has if they are as many, else new ones at the end.
template <class T>
void fit_slots(std::vector<T>& slots, std::uint32_t& begin, std::uint32_t& have,
               std::size_t count) {
    if (have == count) { return; }
    if (have < count) {
        begin = static_cast<std::uint32_t>(slots.size());
        slots.resize(slots.size() + count);
        have = static_cast<std::uint32_t>(count);
    }
}

std::uint64_t gpu_bits(std::size_t count) {
    return count >= gpus_per_node_max ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

Result<> World::check_gpu_models(const std::vector<std::string>& names) const {
    if (names.empty()) { return {}; }
    std::vector<std::string> all = gpu_models;
    for (const std::string& name : names) {
        if (std::find(all.begin(), all.end(), name) == all.end()) { all.push_back(name); }
    }
    if (all.size() <= gpu_models_max) { return {}; }
    return fail(Code::limit,
                fmt::format("GPU model {} is one more than the {} that can be told apart",
                            names.back(), gpu_models_max));
}

Result<> World::on(const TopologySet& fact) {
    MUSTER_CHECK(check_levels(fact.levels));
    topology.set_levels(fact.levels);
    for (std::size_t i = 0; i < machines.size(); ++i) { moved.push_back(NodeId(i)); }
    is_all_grown = true;
    refresh();
    waits.wake_all(*this, Wake::topology_set);
    // Rooms are sums over domains that are no more: everyone who waits for one is asked again.
    for (const WaitingSet& waiting : queue_waiting) {
        for (const auto& [order, id] : waiting) { make_ready(id); }
    }
    return {};
}

Result<> World::on(const NodeSet& fact) {
    MUSTER_CHECK(check_node(fact.node));
    std::vector<std::string> models;
    for (const GpuSpec& gpu : fact.node.gpus) { models.push_back(gpu.model); }
    MUSTER_CHECK(check_gpu_models(models));
    const auto [found, is_new] = node_ids_.emplace(fact.node.name, NodeId(machines.size()));
    const NodeId id = found->second;
    if (is_new) {
        machines.emplace_back();
        space.nodes.emplace_back();
        stamp.push_back(0);
        opened_.emplace_back();
    }
    Machine& machine = machines[id.value];
    if (!machine.is_present || !keeps_place(machine.spec, fact.node, topology.levels())) {
        moved.push_back(id);
    }
    if (!machine.is_present || machine.spec.gpus != fact.node.gpus) { are_values_stale_ = true; }
    machine.spec = fact.node;
    const bool is_back = !std::exchange(machine.is_present, true);
    if (!is_back) { count_capacity(machine, -1); }
    rebuild_machine(id);
    count_capacity(machine, 1);
    classify(id);
    if (is_back) { hold_leases_on(id); }
    touch(id);
    mark_grown(id, {});
    return {};
}

Result<> World::on(const NodeGone& fact) {
    const NodeId id = find_node(fact.node);
    if (!id.is_valid()) {
        return fail(Code::not_found, fmt::format("node {} is not known", fact.node));
    }
    Machine& machine = machines[id.value];
    const std::vector<TaskRef> lost = machine.tasks;
    for (const TaskRef ref : lost) {
        Workload& workload = workloads[ref.workload.value];
        const bool was_leaving = workload.tasks[ref.task].state == TaskState::leaving;
        unhold(ref, TaskState::waiting);
        mark_grown(id, workload.queue);
        if (was_leaving && workload.leaving == 0) { make_ready(ref.workload); }
        if (!was_leaving && !workload.is_lease) { broken.insert(ref.workload); }
    }
    machine.is_present = false;
    count_capacity(machine, -1);
    moved.push_back(id);
    are_values_stale_ = true;
    return {};
}

Result<> World::on(const GpuHealth& fact) {
    const NodeId id = find_node(fact.node);
    if (!id.is_valid()) {
        return fail(Code::not_found, fmt::format("node {} is not known", fact.node));
    }
    Machine& machine = machines[id.value];
    if (fact.gpu >= machine.gpu_count()) {
        return fail(Code::not_found, fmt::format("node {} has no GPU {}; it has {}", fact.node,
                                                 fact.gpu, machine.gpu_count()));
    }
    machine.spec.gpus[fact.gpu].is_healthy = fact.is_healthy;
    const std::uint64_t mask = std::uint64_t{1} << fact.gpu;
    machine.healthy = fact.is_healthy ? machine.healthy | mask : machine.healthy & ~mask;
    classify(id);
    touch(id);
    if (fact.is_healthy) { mark_grown(id, {}); }
    return {};
}

void World::count_capacity(const Machine& machine, std::int64_t sign) {
    capacity_.resize(gpu_models.size(), 0);
    for (const ModelGpus& entry : machine.models) {
        capacity_[entry.model] +=
            sign * gpu_milli_whole * std::popcount(entry.gpus & ~machine.mig_gpus);
    }
}

void World::rebuild_machine(NodeId id) {
    Machine& machine = machines[id.value];
    const NodeSpec& spec = machine.spec;
    machine.labels = compile_labels(spec.labels, symbols);
    machine.labels.emplace_back(symbols.intern("metadata.name"), symbols.intern(spec.name));
    // The domain that all nodes are in.
    machine.labels.emplace_back(symbols.intern("metadata.cluster"), symbols.intern(""));
    std::sort(machine.labels.begin(), machine.labels.end());
    machine.extended.clear();
    for (const Amount& amount : spec.allocatable.extended) {
        machine.extended.emplace_back(symbols.intern(amount.name), amount.count);
    }
    std::sort(machine.extended.begin(), machine.extended.end());
    machine.models.clear();
    machine.healthy = 0;
    machine.mig_gpus = 0;
    for (std::size_t i = 0; i < spec.gpus.size(); ++i) {
        const GpuSpec& gpu = spec.gpus[i];
        const std::uint32_t model = gpu_model_index(gpu_models, gpu.model);
        auto entry =
            std::find_if(machine.models.begin(), machine.models.end(), [&](const ModelGpus& known) {
                return known.model == model && known.memory_mib == gpu.memory_mib;
            });
        if (entry == machine.models.end()) {
            entry =
                machine.models.insert(entry, {model, 0, static_cast<std::int32_t>(gpu.memory_mib),
                                              find_gpu_product(gpu.model, gpu.memory_mib)});
        }
        entry->gpus |= std::uint64_t{1} << i;
        if (gpu.is_healthy) { machine.healthy |= std::uint64_t{1} << i; }
        if (gpu.mig == MigMode::dynamic) { machine.mig_gpus |= std::uint64_t{1} << i; }
    }
    machine.devices = devices.intern(spec);
    machine.has_zone_rule = machine.is_single_numa();

    std::uint32_t mig_slots = machine.gpu_slots;
    std::uint32_t mig_begin = machine.gpu_begin;
    fit_slots(space.gpus, machine.gpu_begin, machine.gpu_slots, spec.gpus.size());
    fit_slots(space.mig, mig_begin, mig_slots, spec.gpus.size());
    MUSTER_ASSERT(mig_begin == machine.gpu_begin);
    fit_slots(space.zone_cpu, machine.zone_begin, machine.zone_slots, spec.numa.size());
    fit_slots(space.extended, machine.extended_begin, machine.extended_slots,
              machine.extended.size());
    space.nodes[id.value] = {spec.allocatable.milli_cpu, spec.allocatable.memory,
                             gpu_bits(spec.gpus.size()) & ~machine.mig_gpus,
                             static_cast<std::int32_t>(spec.pods)};
    for (std::size_t i = 0; i < spec.gpus.size(); ++i) {
        const bool is_cut = (machine.mig_gpus >> i & 1) != 0;
        space.gpus[machine.gpu_begin + i] = {
            is_cut ? 0 : static_cast<std::int32_t>(gpu_milli_whole),
            is_cut ? 0 : static_cast<std::int32_t>(spec.gpus[i].memory_mib)};
        space.mig[machine.gpu_begin + i] = 0;
    }
    for (std::size_t i = 0; i < spec.numa.size(); ++i) {
        space.zone_cpu[machine.zone_begin + i] = spec.numa[i].milli_cpu;
    }
    for (std::size_t i = 0; i < machine.extended.size(); ++i) {
        space.extended[machine.extended_begin + i] = machine.extended[i].second;
    }

    // Whoever was here stays, with those of its devices that are still there.
    std::vector<TaskRef> held = machine.tasks;
    std::sort(held.begin(), held.end());
    for (const TaskRef ref : held) {
        Task& task = workloads[ref.workload.value].tasks[ref.task];
        const Shape& shape = shapes.at(group_of(ref).shape);
        if (!are_free(shape, machine, task.devices, space)) {
            Devices there = free_part(shape, machine, task.devices, space);
            if (!task.is_conflict) { claims.emplace(ref, std::move(task.devices)); }
            task.devices = std::move(there);
            task.is_conflict = true;
        }
        change(space, Taking::take, shape, machine, id, task.devices);
        charge_again(ref);
    }
    hold_claimed(id);
    for (const TaskRef ref : held) {
        const Workload& workload = workloads[ref.workload.value];
        const Task& task = workload.tasks[ref.task];
        // It must not start with less than it asked for.
        if (task.is_conflict && !task.is_confirmed && !workload.is_lease) {
            broken.insert(ref.workload);
        }
    }
}

/// What is free of it goes to whom it belongs.
void World::hold_claimed(NodeId id) {
    if (claims.empty() || !machines[id.value].is_present) { return; }
    const Machine& machine = machines[id.value];
    std::vector<TaskRef> claiming;
    for (const TaskRef ref : machine.tasks) {
        if (claims.contains(ref)) { claiming.push_back(ref); }
    }
    std::sort(claiming.begin(), claiming.end());
    for (const TaskRef ref : claiming) {
        Task& task = workloads[ref.workload.value].tasks[ref.task];
        const Shape& shape = shapes.at(group_of(ref).shape);
        const auto claim = claims.find(ref);
        change(space, Taking::give, shape, machine, id, task.devices);
        task.is_conflict = !are_free(shape, machine, claim->second, space);
        task.devices = task.is_conflict ? free_part(shape, machine, claim->second, space)
                                        : std::move(claim->second);
        change(space, Taking::take, shape, machine, id, task.devices);
        charge_again(ref);
        touch(id);
        if (!task.is_conflict) { claims.erase(claim); }
    }
}

/// Its queue pays for the devices that it holds now.
void World::charge_again(TaskRef ref) {
    const Workload& workload = workloads[ref.workload.value];
    Task& task = workloads[ref.workload.value].tasks[ref.task];
    const std::int64_t before = task.gpu_milli;
    task.gpu_milli =
        charge_of(shapes.at(group_of(ref).shape), machines[task.node.value], task.devices)
            .gpu_milli;
    if (workload.queue.is_valid()) {
        queues.add(workload.queue, {.gpu_milli = task.gpu_milli - before}, 1);
    }
}

/// Nodes that no live shape can tell apart by labels, taints, state or GPUs share a class.
void World::classify(NodeId id) {
    Machine& machine = machines[id.value];
    std::string key;
    const auto put = [&](std::uint64_t number) {
        fmt::format_to(std::back_inserter(key), "{:x},", number);
    };
    put((machine.spec.is_ready ? 1U : 0U) + (machine.spec.is_cordoned ? 2U : 0U));
    for (const Taint& taint : machine.spec.taints) {
        fmt::format_to(std::back_inserter(key), "{}:{}={}:{}:{};", taint.key.size(), taint.key,
                       taint.value.size(), taint.value, static_cast<int>(taint.effect));
    }
    key += '|';
    for (const Symbol label : class_keys) {
        const Symbol value = find_label(machine.labels, label);
        put(value.is_valid() ? value.value + 1 : 0);
    }
    key += '|';
    for (const ModelGpus& entry : machine.models) {
        put(entry.model);
        put(entry.gpus);
        put(static_cast<std::uint64_t>(entry.memory_mib));  // MIG profiles depend on it
    }
    put(machine.healthy);
    put(machine.mig_gpus);
    machine.node_class =
        class_ids_.emplace(std::move(key), ClassId(class_ids_.size())).first->second;
}

}  // namespace muster
