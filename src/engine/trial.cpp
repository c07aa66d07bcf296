#include "engine/trial.h"

#include "base/assert.h"

#include <utility>

namespace muster {

void Trial::roll_back_to(Mark mark) {
    MUSTER_ASSERT(mark <= steps_.size());
    while (steps_.size() > mark) {
        Step& step = steps_.back();
        if (step.is_release) {
            world_.hold(step.ref, step.node, std::move(step.devices));
            world_.workloads[step.ref.workload.value].tasks[step.ref.task].is_conflict =
                step.was_conflict;
        } else {
            world_.unhold(step.ref, TaskState::waiting);
        }
        steps_.pop_back();
    }
}

bool Trial::place(TaskRef ref, NodeId node) {
    const Workload& workload = world_.workloads[ref.workload.value];
    const Group& group = workload.groups[workload.tasks[ref.task].group];
    const Shape& shape = world_.shapes.at(group.shape);
    const Machine& machine = world_.machines[node.value];
    std::optional<Devices> chosen =
        choose_devices(shape, machine, node, world_.space, world_.devices, world_.values);
    if (!chosen) { return false; }
    if (workload.queue.is_valid()) {
        const auto block =
            world_.queues.blocked(workload.queue, world_.charge_of(shape, machine, *chosen), 1);
        if (block) {
            capped_ = block;
            return false;
        }
    }
    world_.hold(ref, node, std::move(*chosen));
    steps_.push_back(
        {.ref = ref, .is_release = false, .was_conflict = false, .node = node, .devices = {}});
    return true;
}

void Trial::release(TaskRef ref) {
    const Task& task = world_.workloads[ref.workload.value].tasks[ref.task];
    MUSTER_ASSERT(task.state == TaskState::placed);
    steps_.push_back({.ref = ref,
                      .is_release = true,
                      .was_conflict = task.is_conflict,
                      .node = task.node,
                      .devices = task.devices});
    world_.unhold(ref, TaskState::waiting);
}

std::vector<TaskRef> Trial::placed_since(Mark mark) const {
    std::vector<TaskRef> out;
    for (std::size_t i = mark; i < steps_.size(); ++i) {
        if (!steps_[i].is_release) { out.push_back(steps_[i].ref); }
    }
    return out;
}

}  // namespace muster
