#include "engine/trial.h"

#include "base/assert.h"

#include <utility>

namespace muster {

void Trial::roll_back_to(Mark mark) {
    MUSTER_ASSERT(mark <= steps_.size());
    while (steps_.size() > mark) {
        world_.unhold(steps_.back(), TaskState::waiting);
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
    steps_.push_back(ref);
    return true;
}

std::vector<TaskRef> Trial::placed_since(Mark mark) const {
    return {steps_.begin() + static_cast<std::ptrdiff_t>(mark), steps_.end()};
}

}  // namespace muster
