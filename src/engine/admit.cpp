#include "engine/admit.h"

#include "engine/place.h"

#include <algorithm>
#include <vector>

namespace muster {

namespace {

/// The least that the workload would be charged: the minimum of every required role.
struct Minimum {
    Charge charge;
    std::vector<std::pair<Symbol, std::int64_t>> extended;
};

/// Sums of sound numbers may be too large to count; then they are over every cap.
void add(std::int64_t& sum, std::int64_t each, std::int64_t many) {
    std::int64_t more = 0;
    if (__builtin_mul_overflow(each, many, &more) || __builtin_add_overflow(sum, more, &sum)) {
        sum = INT64_MAX;
    }
}

void add_minimum(const World& world, const Workload& workload, std::int32_t index, Minimum& sum) {
    const Group& group = workload.groups[static_cast<std::size_t>(index)];
    if (!group.is_leaf) {
        if (group.minimum < group.count) {
            return;
        }  // which of them is not known yet: placement says
        for (const std::int32_t child : group.children) {
            add_minimum(world, workload, child, sum);
        }
        return;
    }
    const std::int64_t many =
        std::max<std::int64_t>(0, group.minimum - group.placed - group.finished);
    const Charge one = world.charge_of(world.shapes.at(group.shape));
    add(sum.charge.gpu_milli, one.gpu_milli, many);
    add(sum.charge.milli_cpu, one.milli_cpu, many);
    add(sum.charge.memory, one.memory, many);
    for (const auto& [name, count] : *one.extended) {
        sum.extended.emplace_back(name, many * count);
    }
}

Minimum minimum_of(const World& world, const Workload& workload) {
    Minimum sum;
    add_minimum(world, workload, 0, sum);
    std::sort(sum.extended.begin(), sum.extended.end());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sum.extended.size(); ++i) {
        if (kept > 0 && sum.extended[kept - 1].first == sum.extended[i].first) {
            sum.extended[kept - 1].second += sum.extended[i].second;
        } else {
            sum.extended[kept++] = sum.extended[i];
        }
    }
    sum.extended.resize(kept);
    return sum;
}

}  // namespace

std::optional<Refused> refuse_for_good(World& world, WorkloadId id) {
    const Workload& workload = world.workloads[id.value];
    if (!workload.queue.is_valid() || world.queues.at(workload.queue).children > 0) {
        return refuse_unknown_queue(world, workload);
    }
    Minimum minimum = minimum_of(world, workload);
    minimum.charge.extended = &minimum.extended;
    if (const auto block = world.queues.blocked(workload.queue, minimum.charge, 1, true)) {
        return refuse_over_cap(world, *block, true);
    }
    for (const Group& group : workload.groups) {
        for (const std::string* level : {&group.topology.required, &group.topology.preferred}) {
            if (!level->empty() && !resolve_level(world, *level)) {
                return refuse_unknown_level(world, *level);
            }
        }
    }
    for (const std::string& name : workload.linked) {
        if (!world.find_workload(name).is_valid()) { return refuse_linked_missing(name); }
    }
    return refuse_if_too_large(world, workload);
}

std::optional<Refused> admit(const World& world, WorkloadId id) {
    const Workload& workload = world.workloads[id.value];
    if (workload.leaving > 0) { return refuse_leaving(workload); }
    if (const WorkloadId head = world.blocker_of(id); head.is_valid()) {
        return refuse_behind(world, workload, head);
    }
    Minimum minimum = minimum_of(world, workload);
    minimum.charge.extended = &minimum.extended;
    if (const auto block = world.queues.blocked(workload.queue, minimum.charge, 1)) {
        return refuse_over_cap(world, *block, false);
    }
    return std::nullopt;
}

}  // namespace muster
