// Law 1 and the sums of law 3: holdings added up from nothing, against what the World says.
#include "engine/fit.h"
#include "model/mig.h"
#include "sim/laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace muster {

namespace {

/// What the tasks of one node take of it.
struct Taken {
    std::int64_t milli_cpu = 0;
    std::int64_t memory = 0;
    std::int64_t pods = 0;
    std::map<std::string, std::int64_t> extended;
    std::vector<std::int64_t> zone_cpu;
    std::vector<std::int64_t> milli;
    std::vector<std::int64_t> mib;
    std::vector<int> owners;  // of any part
    std::vector<unsigned> slices;
    std::vector<int> media;
};

class Books {
public:
    explicit Books(const World& world) : world_(world) {}

    std::vector<std::string> run() {
        holdings_ = all_holdings(world_);
        for (const Machine& machine : world_.machines) {
            Taken taken;
            taken.zone_cpu.assign(machine.spec.numa.size(), 0);
            taken.milli.assign(machine.spec.gpus.size(), 0);
            taken.mib = taken.milli;
            taken.owners.assign(machine.spec.gpus.size(), 0);
            taken.media = taken.owners;
            taken.slices.assign(machine.spec.gpus.size(), 0);
            taken_.push_back(std::move(taken));
        }
        for (const Holding& holding : holdings_) { take(holding); }
        for (std::size_t i = 0; i < world_.machines.size(); ++i) {
            if (world_.machines[i].is_present) { compare_node(NodeId(i)); }
        }
        for (const auto& [ref, claim] : world_.claims) { check_claim(ref, claim); }
        compare_tasks();
        compare_queues();
        return std::move(broken_);
    }

private:
    template <class... Args>
    void say(fmt::format_string<Args...> text, Args&&... args) {
        broken_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    void take(const Holding& holding) {
        const TaskSpec& spec = holding.shape->spec;
        const Devices& devices = holding.task->devices;
        const Machine& machine = *holding.machine;
        if (!machine.is_present) {
            say("law 1: {} holds something on a node that is gone", holding.name());
            return;
        }
        Taken& taken = taken_[holding.task->node.value];
        taken.milli_cpu += spec.request.milli_cpu;
        taken.memory += spec.request.memory;
        ++taken.pods;
        for (const Amount& amount : spec.request.extended) {
            taken.extended[amount.name] += amount.count;
        }
        const auto zone = static_cast<std::size_t>(devices.numa);
        if (devices.numa >= 0 && spec.is_cpu_exclusive && zone < taken.zone_cpu.size()) {
            taken.zone_cpu[zone] += spec.request.milli_cpu;
        }
        check_size(holding);
        if (spec.gpu.kind == GpuKind::mig) {
            for (const MigSlot& slot : devices.mig) { take_slot(holding, slot, taken); }
            return;
        }
        for (std::size_t gpu = 0; gpu < gpus_per_node_max; ++gpu) {
            if ((devices.gpus >> gpu & 1) != 0) { take_gpu(holding, gpu, taken); }
        }
    }

    /// The devices are as many as asked for, or fewer after a conflict.
    void check_size(const Holding& holding) {
        const GpuNeed& need = holding.shape->spec.gpu;
        const Devices& devices = holding.task->devices;
        const bool is_mig = need.kind == GpuKind::mig;
        const auto have = static_cast<std::int64_t>(
            is_mig ? devices.mig.size() : static_cast<std::size_t>(std::popcount(devices.gpus)));
        const std::int64_t wanted = need.kind == GpuKind::none ? 0 : need.count;
        if (holding.task->is_conflict ? have > wanted : have != wanted) {
            say("law 1: {} holds {} devices, expected {}", holding.name(), have, wanted);
        }
        if (!is_mig && !devices.mig.empty()) {
            say("law 1: {} asks for no MIG instance and holds {}", holding.name(),
                devices.mig.size());
        }
    }

    /// What runs on a GPU that the books have as free has it.
    void check_claim(TaskRef ref, const Devices& claim) {
        const Task& task = world_.workloads[ref.workload.value].tasks[ref.task];
        if (!task.holds() || !task.is_conflict) {
            return say("law 1: a claim to {:x} of a task that is no conflict", claim.gpus);
        }
        if (world_.shapes.at(world_.group_of(ref).shape).spec.gpu.kind != GpuKind::whole) {
            return;
        }
        const Machine& machine = world_.machines[task.node.value];
        const std::vector<std::int64_t>& milli = taken_[task.node.value].milli;
        for (std::size_t gpu = 0; gpu < milli.size(); ++gpu) {
            const std::uint64_t mask = std::uint64_t{1} << gpu;
            if ((claim.gpus & ~machine.mig_gpus & mask) != 0 && milli[gpu] == 0) {
                say("law 1: gpu {} of {} is free, and {} runs on it", gpu, machine.spec.name,
                    world_.workloads[ref.workload.value].name);
            }
        }
    }

    void take_gpu(const Holding& holding, std::size_t gpu, Taken& taken) {
        if (gpu >= taken.milli.size()) {
            say("law 1: {} holds gpu {} of {}", holding.name(), gpu, taken.milli.size());
            return;
        }
        const GpuSpec& spec = holding.machine->spec.gpus[gpu];
        if (spec.mig == MigMode::dynamic) {
            say("law 1: {} holds gpu {}, which is cut by MIG", holding.name(), gpu);
        }
        const GpuNeed& need = holding.shape->spec.gpu;
        std::int64_t milli = gpu_milli_whole;
        std::int64_t mib = spec.memory_mib;
        if (need.kind == GpuKind::share) {
            milli = need.milli;
            mib = need.mib;
            if (milli == 0 && spec.memory_mib > 0) { milli = need.mib * 1000 / spec.memory_mib; }
            if (mib == 0) { mib = std::int64_t{need.milli} * spec.memory_mib / 1000; }
        }
        taken.milli[gpu] += milli;
        taken.mib[gpu] += mib;
        ++taken.owners[gpu];
        if (need.kind == GpuKind::whole && taken.owners[gpu] > 1) {
            say("law 1: {} holds gpu {}, which others hold too", holding.name(), gpu);
        }
    }

    void take_slot(const Holding& holding, const MigSlot& slot, Taken& taken) {
        const bool is_there = slot.gpu < taken.slices.size() &&
                              holding.machine->spec.gpus[slot.gpu].mig == MigMode::dynamic;
        const GpuProduct* product =
            is_there ? find_gpu_product(holding.machine->spec.gpus[slot.gpu].model,
                                        holding.machine->spec.gpus[slot.gpu].memory_mib)
                     : nullptr;
        const auto profile = product == nullptr
                                 ? std::nullopt
                                 : find_mig_profile(*product, holding.shape->spec.gpu.profile);
        if (!profile) {
            say("law 1: {} holds {} on gpu {}, which has no such profile", holding.name(),
                holding.shape->spec.gpu.profile, slot.gpu);
            return;
        }
        const unsigned mask = mig_slices(*profile, slot.start);
        if ((taken.slices[slot.gpu] & mask) != 0) {
            say("law 1: {} holds slices {:#x} of gpu {}, of which {:#x} have an owner",
                holding.name(), mask, slot.gpu, taken.slices[slot.gpu] & mask);
        }
        if ((fitting_starts(*profile, {}) >> slot.start & 1) == 0) {
            say("law 1: {} starts at slice {} of gpu {}, where {} can't", holding.name(),
                slot.start, slot.gpu, holding.shape->spec.gpu.profile);
        }
        taken.slices[slot.gpu] |= mask;
        if (profile->kind == MigClass::g1_me || profile->kind == MigClass::g2_me) {
            ++taken.media[slot.gpu];
        }
    }

    void same(std::string_view node, std::string_view what, std::int64_t says,
              std::int64_t computed) {
        if (says != computed) {
            say("law 1: node {}: {} free is {}, computed {}", node, what, says, computed);
        }
    }

    void compare_node(NodeId id) {
        const Machine& machine = world_.machines[id.value];
        const NodeSpec& spec = machine.spec;
        const Taken& taken = taken_[id.value];
        const NodeFree& free = world_.space.nodes[id.value];
        same(spec.name, "cpu", free.milli_cpu, spec.allocatable.milli_cpu - taken.milli_cpu);
        same(spec.name, "memory", free.memory, spec.allocatable.memory - taken.memory);
        same(spec.name, "pods", free.pods, spec.pods - taken.pods);
        for (std::size_t i = 0; i < machine.extended.size(); ++i) {
            const std::string& name = world_.symbols.text(machine.extended[i].first);
            const auto there =
                std::find_if(spec.allocatable.extended.begin(), spec.allocatable.extended.end(),
                             [&](const Amount& amount) { return amount.name == name; });
            const std::int64_t capacity =
                there == spec.allocatable.extended.end() ? 0 : there->count;
            const auto used = taken.extended.find(name);
            same(spec.name, name, world_.space.extended[machine.extended_begin + i],
                 capacity - (used == taken.extended.end() ? 0 : used->second));
        }
        for (std::size_t zone = 0; zone < spec.numa.size(); ++zone) {
            same(spec.name, fmt::format("cpu of zone {}", zone),
                 world_.space.zone_cpu[machine.zone_begin + zone],
                 spec.numa[zone].milli_cpu - taken.zone_cpu[zone]);
        }
        for (std::size_t gpu = 0; gpu < spec.gpus.size(); ++gpu) { compare_gpu(id, gpu); }
    }

    void compare_gpu(NodeId id, std::size_t gpu) {
        const Machine& machine = world_.machines[id.value];
        const std::string& node = machine.spec.name;
        const GpuSpec& spec = machine.spec.gpus[gpu];
        const Taken& taken = taken_[id.value];
        const std::size_t at = machine.gpu_begin + gpu;
        const bool is_mig = spec.mig == MigMode::dynamic;
        if (taken.milli[gpu] > gpu_milli_whole) {
            say("law 1: node {} gpu {}: {} of 1000 milli are held", node, gpu, taken.milli[gpu]);
        }
        if (taken.mib[gpu] > spec.memory_mib) {
            say("law 1: node {} gpu {}: {} of {} MiB are held", node, gpu, taken.mib[gpu],
                spec.memory_mib);
        }
        if (taken.media[gpu] > 1) {
            say("law 1: node {} gpu {}: {} instances own the media engines", node, gpu,
                taken.media[gpu]);
        }
        if (!is_mig) {
            same(node, fmt::format("milli of gpu {}", gpu), world_.space.gpus[at].milli,
                 gpu_milli_whole - taken.milli[gpu]);
            same(node, fmt::format("MiB of gpu {}", gpu), world_.space.gpus[at].mib,
                 spec.memory_mib - taken.mib[gpu]);
        }
        same(node, fmt::format("used slices of gpu {}", gpu), world_.space.mig[at] & 0xff,
             taken.slices[gpu]);
        same(node, fmt::format("media engines of gpu {}", gpu), world_.space.mig[at] >> 8,
             taken.media[gpu]);
        const bool is_whole = !is_mig && taken.milli[gpu] == 0 && taken.mib[gpu] == 0;
        same(node, fmt::format("whole bit of gpu {}", gpu),
             static_cast<std::int64_t>(world_.space.nodes[id.value].whole >> gpu & 1),
             is_whole ? 1 : 0);
        const bool is_healthy = (machine.healthy >> gpu & 1) != 0;
        if (is_healthy != spec.is_healthy) {
            say("law 1: node {} gpu {}: health is {}, the facts say {}", node, gpu, is_healthy,
                spec.is_healthy);
        }
    }

    /// Counters of groups, and each node's list of who is there.
    void compare_tasks() {
        std::map<std::uint32_t, std::vector<TaskRef>> by_node;
        for (std::size_t i = 0; i < world_.workloads.size(); ++i) {
            const Workload& workload = world_.workloads[i];
            if (!workload.is_present) { continue; }
            std::vector<std::int32_t> placed(workload.groups.size(), 0);
            std::vector<std::int32_t> finished(workload.groups.size(), 0);
            std::int32_t leaving = 0;
            for (std::uint32_t t = 0; t < workload.tasks.size(); ++t) {
                const Task& task = workload.tasks[t];
                placed[task.group] += task.state == TaskState::placed ? 1 : 0;
                finished[task.group] += task.state == TaskState::finished ? 1 : 0;
                leaving += task.state == TaskState::leaving ? 1 : 0;
                if (task.holds()) { by_node[task.node.value].push_back({WorkloadId(i), t}); }
            }
            if (leaving != workload.leaving) {
                say("law 3: {} counts {} leaving, computed {}", workload.name, workload.leaving,
                    leaving);
            }
            for (std::size_t g = 0; g < workload.groups.size(); ++g) {
                const Group& group = workload.groups[g];
                if (group.placed != placed[g] || group.finished != finished[g]) {
                    say("law 3: group {} of {} counts {} placed and {} finished, computed {} and "
                        "{}",
                        group.name, workload.name, group.placed, group.finished, placed[g],
                        finished[g]);
                }
            }
        }
        for (std::size_t i = 0; i < world_.machines.size(); ++i) {
            std::vector<TaskRef> listed = world_.machines[i].tasks;
            std::sort(listed.begin(), listed.end());
            if (listed != by_node[static_cast<std::uint32_t>(i)]) {
                say("law 3: node {} lists {} tasks, {} name it", world_.machines[i].spec.name,
                    listed.size(), by_node[static_cast<std::uint32_t>(i)].size());
            }
        }
    }

    void compare_queues() {
        std::vector<std::map<std::string, std::int64_t>> sums(world_.queues.size());
        std::vector<std::uint32_t> workloads(sums.size(), 0);
        std::vector<std::uint32_t> children(sums.size(), 0);
        for (const Workload& workload : world_.workloads) {
            if (workload.is_present && workload.queue.is_valid()) {
                ++workloads[workload.queue.value];
            }
        }
        for (const Holding& holding : holdings_) {
            for (QueueId up = holding.workload->queue; up.is_valid();
                 up = world_.queues.at(up).parent) {
                auto& sum = sums[up.value];
                sum["gpu"] += holding.task->gpu_milli;
                sum["cpu"] += holding.shape->spec.request.milli_cpu;
                sum["memory"] += holding.shape->spec.request.memory;
                for (const Amount& amount : holding.shape->spec.request.extended) {
                    sum["+" + amount.name] += amount.count;
                }
            }
        }
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const Queue& queue = world_.queues.at(QueueId(i));
            if (queue.is_present && queue.parent.is_valid()) { ++children[queue.parent.value]; }
        }
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const Queue& queue = world_.queues.at(QueueId(i));
            auto& sum = sums[i];
            std::map<std::string, std::int64_t> said;
            said["gpu"] = queue.usage.gpu_milli;
            said["cpu"] = queue.usage.milli_cpu;
            said["memory"] = queue.usage.memory;
            for (const auto& [name, count] : queue.usage.extended) {
                said["+" + world_.symbols.text(name)] += count;
            }
            for (const auto& [name, count] : said) {
                if (count != sum[name]) {
                    say("law 3: queue {} uses {} {}, computed {}", queue.spec.name, count, name,
                        sum[name]);
                }
                if (count < 0) { say("law 3: queue {} uses {} {}", queue.spec.name, count, name); }
            }
            for (const auto& [name, count] : sum) {
                if (count != said[name]) {
                    say("law 3: queue {} does not count {} {}", queue.spec.name, count, name);
                }
            }
            if (queue.workloads != workloads[i] || queue.children != children[i]) {
                say("law 3: queue {} counts {} workloads and {} children, computed {} and {}",
                    queue.spec.name, queue.workloads, queue.children, workloads[i], children[i]);
            }
            if (workloads[i] > 0 && (children[i] > 0 || !queue.is_present)) {
                say("law 3: queue {} holds {} workloads and is no leaf", queue.spec.name,
                    workloads[i]);
            }
        }
    }

    const World& world_;
    std::vector<Holding> holdings_;
    std::vector<Taken> taken_;
    std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_books(const World& world) { return Books(world).run(); }

}  // namespace muster
