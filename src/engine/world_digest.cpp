#include "engine/world_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace muster {

namespace {

class Writer {
public:
    explicit Writer(const World& world) : world_(world) {}

    std::string run() {
        put("time {} cycle {}\n", world_.now, world_.cycle);
        for (std::size_t i = 0; i < world_.machines.size(); ++i) { put_node(NodeId(i)); }
        for (std::size_t i = 0; i < world_.queues.size(); ++i) { put_queue(QueueId(i)); }
        std::map<std::string, WorkloadId> workloads;
        for (std::size_t i = 0; i < world_.workloads.size(); ++i) {
            if (world_.workloads[i].is_present) {
                workloads.emplace(world_.workloads[i].name, WorkloadId(i));
            }
        }
        for (const auto& [name, id] : workloads) { put_workload(id); }
        out_ += world_.pods.text(world_);
        return std::move(out_);
    }

private:
    template <class... Args>
    void put(fmt::format_string<Args...> text, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
    }

    void put_node(NodeId id) {
        const Machine& machine = world_.machines[id.value];
        if (!machine.is_present) { return; }
        const NodeFree& free = world_.space.nodes[id.value];
        put("node {} cpu {} memory {} whole {:x} pods {} healthy {:x}", machine.spec.name,
            free.milli_cpu, free.memory, free.whole, free.pods, machine.healthy);
        for (std::uint32_t i = 0; i < machine.gpu_count(); ++i) {
            const GpuFree& gpu = world_.space.gpus[machine.gpu_begin + i];
            put(" {}/{}/{:x}", gpu.milli, gpu.mib, world_.space.mig[machine.gpu_begin + i]);
        }
        for (std::size_t i = 0; i < machine.spec.numa.size(); ++i) {
            put(" zone {}", world_.space.zone_cpu[machine.zone_begin + i]);
        }
        for (std::size_t i = 0; i < machine.extended.size(); ++i) {
            put(" {} {}", world_.symbols.text(machine.extended[i].first),
                world_.space.extended[machine.extended_begin + i]);
        }
        put(" tasks {}\n", machine.tasks.size());
    }

    void put_queue(QueueId id) {
        const Queue& queue = world_.queues.at(id);
        if (!queue.is_present) { return; }
        put("queue {} children {} workloads {} gpu {} cpu {} memory {}", queue.spec.name,
            queue.children, queue.workloads, queue.usage.gpu_milli, queue.usage.milli_cpu,
            queue.usage.memory);
        std::map<std::string, std::int64_t> extended;
        for (const auto& [name, count] : queue.usage.extended) {
            if (count != 0) { extended[world_.symbols.text(name)] = count; }
        }
        for (const auto& [name, count] : extended) { put(" {} {}", name, count); }
        put("\n");
    }

    void put_devices(const Devices& devices) {
        put(" gpus {:x} numa {}", devices.gpus, devices.numa);
        for (const MigSlot& slot : devices.mig) { put(" mig {}:{}", slot.gpu, slot.start); }
    }

    void put_workload(WorkloadId id) {
        const Workload& workload = world_.workloads[id.value];
        put("workload {} queue {} {} priority {} submitted {}{}{}{}{}\n", workload.name,
            workload.queue_name, workload.queue.is_valid(), workload.priority,
            workload.order.submitted, workload.is_running ? " runs" : "",
            workload.is_hopeless ? " hopeless" : "",
            world_.ready.contains({workload.order, id}) ? " ready" : "",
            world_.growing.contains(id) ? " growing" : "");
        if (world_.broken.contains(id)) { put("  broken\n"); }
        if (workload.reason) { put("  reason {}\n", workload.reason->text); }
        for (const Wait& wait : workload.waits) {
            put("  wait {} level {} needed {} queue {}\n", static_cast<int>(wait.wake), wait.level,
                wait.needed, wait.queue.is_valid());
        }
        for (const Group& group : workload.groups) {
            put("  group {} minimum {} count {} held {} placed {} finished {}", group.name,
                group.minimum, group.count, group.held_minimum, group.placed, group.finished);
            put("\n");
        }
        for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
            const Task& task = workload.tasks[i];
            if (task.state == TaskState::waiting) { continue; }
            put("  task {} group {}",
                task.state == TaskState::placed    ? "placed"
                : task.state == TaskState::leaving ? "leaving"
                                                   : "finished",
                task.group);
            if (task.holds()) {
                put(" on {} milli {}{}", world_.machines[task.node.value].spec.name, task.gpu_milli,
                    task.is_conflict ? " conflict" : "");
                if (task.is_confirmed) { put(" confirmed"); }
                put_devices(task.devices);
                if (const auto claim = world_.claims.find({id, i}); claim != world_.claims.end()) {
                    put(" of");
                    put_devices(claim->second);
                }
            }
            put("\n");
        }
    }

    const World& world_;
    std::string out_;
};

}  // namespace

std::string world_text(const World& world) { return Writer(world).run(); }

}  // namespace muster
