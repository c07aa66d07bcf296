#include "sim/laws.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {

namespace {

/// Counted from nothing: a group that never had its minimum has none to keep.
bool keeps_minimum(const Workload& workload, std::size_t index) {
    const Group& group = workload.groups[index];
    if (group.held_minimum < 1) { return false; }
    if (group.is_leaf) {
        std::int32_t have = 0;
        for (std::int32_t i = 0; i < group.count; ++i) {
            const Task& task = workload.tasks[group.first_task + static_cast<std::uint32_t>(i)];
            have += task.state == TaskState::waiting ? 0 : 1;
        }
        return have >= group.held_minimum;
    }
    return std::count_if(group.children.begin(), group.children.end(), [&](std::int32_t child) {
               return keeps_minimum(workload, static_cast<std::size_t>(child));
           }) >= group.held_minimum;
}

std::int32_t held_in(const Workload& workload, std::size_t index) {
    const Group& group = workload.groups[index];
    std::int32_t sum = 0;
    if (group.is_leaf) {
        for (std::int32_t i = 0; i < group.count; ++i) {
            const Task& task = workload.tasks[group.first_task + static_cast<std::uint32_t>(i)];
            sum += task.state == TaskState::placed ? 1 : 0;
        }
    }
    for (const std::int32_t child : group.children) {
        sum += held_in(workload, static_cast<std::size_t>(child));
    }
    return sum;
}

void check_gang(const Workload& workload, std::vector<std::string>& broken) {
    if (workload.is_lease) { return; }  // facts alone give it blocks and take them
    const std::int32_t all = held_in(workload, 0);
    if (!workload.is_running) {
        if (all > 0) {
            broken.push_back(fmt::format("law 2: {} waits and holds {} tasks", workload.name, all));
        }
        return;
    }
    if (!keeps_minimum(workload, 0)) {
        broken.push_back(fmt::format("law 2: {} runs with {} tasks, below its held minimum of {}",
                                     workload.name, all, workload.groups[0].held_minimum));
    }
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        const std::int32_t have = held_in(workload, i);
        if (have > 0 && !keeps_minimum(workload, i)) {
            broken.push_back(fmt::format(
                "law 2: group {} ({}) of {} holds {} tasks, below its held minimum of {}", i,
                workload.groups[i].name, workload.name, have, workload.groups[i].held_minimum));
        }
    }
}

void check_waiting(const World& world, WorkloadId id, std::vector<std::string>& broken) {
    const Workload& workload = world.workloads[id.value];
    const auto say = [&](std::string_view what) {
        broken.push_back(fmt::format("law 7: {} waits {}", workload.name, what));
    };
    if (!workload.reason || workload.reason->text.empty()) { say("without a reason"); }
    if (workload.waits.empty()) { say("for nothing that could wake it"); }
    if (workload.reason && workload.reason->wakes.empty()) {
        say("and its reason names nothing that could change it");
    }
    const bool has_wake =
        std::any_of(workload.waits.begin(), workload.waits.end(), [](const Wait& wait) {
            return wait.wake != Wake::never && wait.wake != Wake::head_leaves;
        });
    const bool is_behind =
        workload.reason->why == Why::behind_head || workload.reason->why == Why::linked_blocked;
    if (!has_wake && !is_behind) { say("for the head of a queue, but not behind one"); }
}

void check_queue(const World& world, WorkloadId id, std::vector<std::string>& broken) {
    const Workload& workload = world.workloads[id.value];
    QueueId named = world.queues.find(workload.queue_name);
    if (named.is_valid() && world.queues.at(named).children > 0) { named = {}; }
    if (workload.queue != named) {
        broken.push_back(fmt::format(
            "law 3: {} names queue {} and is charged to {}", workload.name, workload.queue_name,
            workload.queue.is_valid() ? world.queues.at(workload.queue).spec.name : "none"));
    }
    for (std::size_t i = 0; i < world.queue_waiting.size(); ++i) {
        const bool is_in = world.queue_waiting[i].contains({workload.order, id});
        if (is_in != (workload.is_waiting() && workload.queue == QueueId(i))) {
            broken.push_back(fmt::format("law 7: {} is {}among those that wait in queue {}",
                                         workload.name, is_in ? "" : "not ",
                                         world.queues.at(QueueId(i)).spec.name));
        }
    }
}

}  // namespace

std::string Holding::name() const {
    return fmt::format("{}/{} on node {}", workload->name, index, machine->spec.name);
}

std::vector<Holding> all_holdings(const World& world) {
    std::vector<Holding> out;
    for (const Workload& workload : world.workloads) {
        if (!workload.is_present) { continue; }
        for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
            const Task& task = workload.tasks[i];
            if (!task.holds()) { continue; }
            const Group& group = workload.groups[task.group];
            out.push_back({.workload = &workload,
                           .group = &group,
                           .task = &task,
                           .index = i,
                           .shape = &world.shapes.at(group.shape),
                           .machine = &world.machines[task.node.value]});
        }
    }
    return out;
}

std::vector<std::string> broken_laws(const World& world) {
    std::vector<std::string> broken = broken_books(world);
    if (!world.ready.empty()) {
        broken.push_back(fmt::format("law 7: {} workloads are woken and were not looked at",
                                     world.ready.size()));
    }
    for (std::size_t i = 0; i < world.workloads.size(); ++i) {
        const Workload& workload = world.workloads[i];
        if (!workload.is_present) { continue; }
        check_gang(workload, broken);
        check_queue(world, WorkloadId(i), broken);
        if (workload.is_waiting()) { check_waiting(world, WorkloadId(i), broken); }
    }
    return broken;
}

const std::string* label_of(const std::vector<Label>& labels, std::string_view key) {
    const auto found = std::find_if(labels.begin(), labels.end(),
                                    [&](const Label& label) { return label.key == key; });
    return found == labels.end() ? nullptr : &found->value;
}

bool label_holds(const LabelMatch& match, const std::vector<Label>& labels) {
    const std::string* value = label_of(labels, match.key);
    const bool is_listed = value != nullptr && std::find(match.values.begin(), match.values.end(),
                                                         *value) != match.values.end();
    switch (match.op) {
        case MatchOp::in: return is_listed;
        case MatchOp::not_in: return !is_listed;
        case MatchOp::exists: return value != nullptr;
        case MatchOp::does_not_exist: return value == nullptr;
        case MatchOp::greater:
        case MatchOp::less: break;
    }
    if (value == nullptr) { return false; }
    const auto left = parse_int(*value);
    const auto right = parse_int(match.values.at(0));
    if (!left || !right) { return false; }
    return match.op == MatchOp::greater ? *left > *right : *left < *right;
}

bool tolerates_all(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations) {
    for (const Taint& taint : taints) {
        if (taint.effect == TaintEffect::prefer_no_schedule) { continue; }
        bool is_tolerated = false;
        for (const Toleration& one : tolerations) {
            const bool fits_effect = one.is_any_effect || one.effect == taint.effect;
            const auto bound = parse_int(one.value);
            const auto value = parse_int(taint.value);
            const bool fits_value =
                one.op == TolerationOp::exists ||
                (one.op == TolerationOp::equal && one.value == taint.value) ||
                (one.op == TolerationOp::greater && bound && value && *value > *bound) ||
                (one.op == TolerationOp::less && bound && value && *value < *bound);
            const bool fits_key =
                fits_value &&
                (one.key == taint.key || (one.key.empty() && one.op == TolerationOp::exists));
            is_tolerated |= fits_effect && fits_key;
        }
        if (!is_tolerated) { return false; }
    }
    return true;
}

}  // namespace muster
