#include "engine/decide.h"

#include "base/assert.h"
#include "engine/admit.h"
#include "engine/place.h"
#include "engine/refusal_memo.h"

#include <algorithm>
#include <set>

namespace muster {

namespace {

Placement describe(const World& world, WorkloadId id, const std::vector<TaskRef>& placed) {
    const Workload& workload = world.workloads[id.value];
    const Topology& topology = world.topology;
    Placement out;
    out.workload = workload.name;
    const std::uint32_t levels = topology.level_count();
    out.tasks.reserve(placed.size());
    for (const TaskRef ref : placed) {
        if (ref.workload != id) { continue; }
        const Task& task = workload.tasks[ref.task];
        const NodeSpec& node = world.machines[task.node.value].spec;
        out.tasks.push_back({ref.task, node.name, task.devices, node.is_counted});
    }
    // The domain is that of all its tasks, also of those that ran before.
    Position low = topology.size();
    Position high = 0;
    std::vector<std::uint32_t> parts;
    parts.reserve(workload.tasks.size());
    for (const Task& task : workload.tasks) {
        if (task.state != TaskState::placed || !topology.has(task.node)) { continue; }
        const Position at = topology.position(task.node);
        low = std::min(low, at);
        high = std::max(high, at);
        parts.push_back(levels > 0 ? topology.domain_of(levels - 1, at).value : at);
    }
    const auto by_task = [](const TaskPlace& a, const TaskPlace& b) { return a.task < b.task; };
    if (!std::is_sorted(out.tasks.begin(), out.tasks.end(), by_task)) {
        std::sort(out.tasks.begin(), out.tasks.end(), by_task);
    }
    if (out.tasks.empty()) { return out; }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    out.crossings = static_cast<std::int32_t>(parts.size()) - 1;
    if (low == high) {
        out.level = "node";
        out.domain = describe_domain(world, static_cast<std::int32_t>(levels), low);
        return out;
    }
    for (std::uint32_t level = levels; level-- > 0;) {
        const DomainId domain = topology.domain_of(level, low);
        if (domain == topology.domain_of(level, high) && topology.domain(domain).is_named()) {
            out.level = topology.levels()[level].name;
            out.domain = describe_domain(world, static_cast<std::int32_t>(level), low);
            return out;
        }
    }
    return out;
}

/// Those that start together: the workload and what it is linked to, in order.
std::vector<WorkloadId> unit_of(const World& world, WorkloadId id) {
    std::vector<WorkloadId> unit{id};
    for (const std::string& name : world.workloads[id.value].linked) {
        const WorkloadId member = world.find_workload(name);
        if (member.is_valid() && member != id && world.workloads[member.value].is_waiting()) {
            unit.push_back(member);
        }
    }
    std::sort(unit.begin(), unit.end(), [&](WorkloadId a, WorkloadId b) {
        return world.workloads[a.value].order < world.workloads[b.value].order;
    });
    return unit;
}

/// Places the workload in the trial, or says why not.
std::optional<Refused> look_for_place(World& world, Trial& trial, WorkloadId id) {
    if (auto refused = admit(world, id)) { return refused; }
    if (place_workload(world, trial, id, Goal::start)) { return std::nullopt; }
    const Workload& workload = world.workloads[id.value];
    if (trial.capped()) { return refuse_capped(world, workload, *trial.capped()); }
    return refuse_room(world, workload);
}

std::optional<Refused> decide_one(World& world, Trial& trial, WorkloadId id) {
    auto refused = look_for_place(world, trial, id);
    if (refused) { name_wakes(*refused); }
    return refused;
}

/// Who of a unit was refused, and why.
struct UnitRefusal {
    WorkloadId member;
    Refused refused;
};

std::optional<UnitRefusal> place_in_order(World& world, Trial& trial,
                                          const std::vector<WorkloadId>& unit) {
    for (const WorkloadId member : unit) {
        if (auto refused = decide_one(world, trial, member)) {
            return UnitRefusal{member, std::move(*refused)};
        }
    }
    return std::nullopt;
}

/// Size of its largest task, in thousandths of a GPU, then CPU.
std::pair<std::int64_t, std::int64_t> largest_task(const World& world, WorkloadId id) {
    std::pair<std::int64_t, std::int64_t> most{0, 0};
    for (const Group& group : world.workloads[id.value].groups) {
        if (!group.is_leaf) { continue; }
        const Charge charge = world.charge_of(world.shapes.at(group.shape));
        most = std::max(most, std::pair(charge.gpu_milli, charge.milli_cpu));
    }
    return most;
}

/// All of them in the trial, or nothing: in their order; if that fails, the largest tasks first.
/// Says of whom it was known first that it can't start.
std::optional<UnitRefusal> place_unit(World& world, Trial& trial, std::vector<WorkloadId> unit) {
    for (const WorkloadId member : unit) {  // one that never can keeps all from blocking a queue
        if (auto never = refuse_for_good(world, member)) {
            name_wakes(*never);
            return UnitRefusal{member, std::move(*never)};
        }
    }
    auto refused = place_in_order(world, trial, unit);
    if (!refused) { return std::nullopt; }
    trial.roll_back_to(0);
    if (unit.size() == 1) { return refused; }
    const std::vector<WorkloadId> declared = unit;
    std::sort(unit.begin(), unit.end(), [&](WorkloadId a, WorkloadId b) {
        const auto left = largest_task(world, a);
        const auto right = largest_task(world, b);
        return left != right ? left > right
                             : world.workloads[a.value].order < world.workloads[b.value].order;
    });
    if (unit != declared && !place_in_order(world, trial, unit)) { return std::nullopt; }
    trial.roll_back_to(0);
    return refused;
}

class Cycle {
public:
    explicit Cycle(World& world) : world_(world) {}

    Plan run() {
        world_.refresh();
        world_.refresh_values();
        world_.adopt_queues();
        plan_.cycle = ++world_.cycle;
        mend_broken();
        world_.waits.wake_grown(world_);
        // What grows may be what others want to be near to.
        do {
            while (const auto next = take_next()) { decide(*next); }
            grow();
        } while (!world_.ready.empty() || !world_.growing.empty());
        keep_last_refusals();
        return std::move(plan_);
    }

private:
    /// The first of those woken and of those for whom there is room now.
    std::optional<WorkloadId> take_next() {
        while (const auto roomy = world_.waits.next_for_room(world_)) {
            if (!world_.ready.empty() && *world_.ready.begin() < *roomy) { break; }
            world_.waits.pass_room(roomy->first);
            if (world_.workloads[roomy->second.value].is_waiting()) { return roomy->second; }
            world_.growing.insert(roomy->second);
        }
        if (world_.ready.empty()) { return std::nullopt; }
        return world_.ready.begin()->second;
    }

    void decide(WorkloadId id) {
        const std::vector<WorkloadId> unit = unit_of(world_, id);
        for (const WorkloadId member : unit) {
            world_.ready.erase({world_.workloads[member.value].order, member});
        }
        if (const Refused* known = refusals_.find(world_, world_.workloads[id.value]);
            known != nullptr && !refuse_for_good(world_, id) && !admit(world_, id)) {
            refuse(id, *known);
            return;
        }
        Trial trial(world_);
        if (const auto blocked = place_unit(world_, trial, unit)) {
            if (!world_.ready.empty()) {
                refusals_.keep(world_, world_.workloads[blocked->member.value], blocked->refused);
            }
            const std::string& name = world_.workloads[blocked->member.value].name;
            for (const WorkloadId other : unit) {
                refuse(other, other == blocked->member
                                  ? blocked->refused
                                  : refuse_linked_blocked(name, blocked->refused));
            }
            return;
        }
        start(trial, unit);
    }

    void start(Trial& trial, const std::vector<WorkloadId>& unit) {
        const std::vector<TaskRef> placed = trial.placed_since(0);
        trial.commit();
        for (const WorkloadId id : unit) {
            Workload& workload = world_.workloads[id.value];
            settle(workload);
            MUSTER_ASSERT(has_minimum(workload, 0, Floor::asked));
            workload.is_running = true;
            world_.stop_waiting(id);
            wait_for_rest(id);
            if (wants_more(workload)) { world_.growing.insert(id); }
            // With no tasks when those that have finished were all that it needed.
            plan_.placements.push_back(describe(world_, id, placed));
        }
        // Pods that want to be near to others may have waited for just these.
        world_.waits.wake_all(world_, Wake::pods_change);
    }

    void refuse(WorkloadId id, const Refused& refused) {
        Workload& workload = world_.workloads[id.value];
        const bool was_hopeless = workload.is_hopeless;
        workload.is_hopeless = refused.is_hopeless;
        if (!workload.reason || *workload.reason != refused.reason) {
            plan_.refusals.push_back({workload.name, refused.reason});
            workload.reason = std::make_unique<Reason>(refused.reason);
        }
        world_.set_waits(id, refused.waits);
        if (!was_hopeless && refused.is_hopeless && workload.queue.is_valid()) {
            world_.wake_head(workload.queue);
        }
    }

    /// Its elastic rest is looked for when there is room for one more.
    void wait_for_rest(WorkloadId id) {
        const Workload& workload = world_.workloads[id.value];
        std::vector<Wait> waits;
        for (const Group& group : workload.groups) {
            if (!group.is_leaf || group.placed + group.finished >= group.count) { continue; }
            const std::int64_t needed = std::max(1, group.minimum - group.placed - group.finished);
            waits.push_back({.wake = Wake::room,
                             .shape = group.shape,
                             .level = -1,
                             .needed = needed,
                             .queue = {}});
        }
        if (waits.empty()) {
            world_.set_waits(id, {});
            return;
        }
        if (minds_pods(world_, workload)) {
            waits.push_back(
                {.wake = Wake::pods_change, .shape = {}, .level = -1, .needed = 0, .queue = {}});
        }
        for (QueueId up = workload.queue; up.is_valid(); up = world_.queues.at(up).parent) {
            waits.push_back(
                {.wake = Wake::queue_room, .shape = {}, .level = -1, .needed = 0, .queue = up});
        }
        world_.set_waits(id, std::move(waits));
    }

    [[nodiscard]] std::vector<WorkloadId> in_order(const std::set<WorkloadId>& ids) const {
        std::vector<WorkloadId> order(ids.begin(), ids.end());
        std::sort(order.begin(), order.end(), [&](WorkloadId a, WorkloadId b) {
            return world_.workloads[a.value].order < world_.workloads[b.value].order;
        });
        return order;
    }

    /// Gangs that facts took tasks from: complete again, or nothing.
    void mend_broken() {
        for (const WorkloadId id : in_order(std::exchange(world_.broken, {}))) {
            Workload& workload = world_.workloads[id.value];
            if (!workload.is_running) {
                forget_places(workload);
                continue;
            }
            const bool holds_any =
                std::any_of(workload.tasks.begin(), workload.tasks.end(),
                            [](const Task& task) { return task.state != TaskState::waiting; });
            const bool is_mended = holds_any && !is_cut(workload) &&
                                   (is_whole(workload, Floor::held) || mend(id, Goal::repair) ||
                                    mend(id, Goal::start));
            forget_places(workload);
            if (!is_mended) {
                release(id);
            } else if (wants_more(workload)) {
                world_.growing.insert(id);
            }
        }
    }

    /// A node lost devices of a task that was ordered there and is not seen to run: it must not
    /// start with what is left. Or a fact says that nothing will come of a task.
    static bool is_cut(const Workload& workload) {
        return std::any_of(workload.tasks.begin(), workload.tasks.end(), [](const Task& task) {
            return task.is_conflict && !task.is_confirmed &&
                   (task.state == TaskState::placed || task.state == TaskState::finished);
        });
    }

    /// What it had before first. A foreign bind may have begun what has to be completed, which
    /// then is all that is asked.
    bool mend(WorkloadId id, Goal goal) {
        Workload& workload = world_.workloads[id.value];
        Trial trial(world_);
        const Floor floor = goal == Goal::repair ? Floor::held : Floor::asked;
        if (goal == Goal::repair) { put_back(trial, id); }
        if (!place_workload(world_, trial, id, goal) || !is_whole(workload, floor)) {
            return false;
        }
        const std::vector<TaskRef> placed = trial.placed_since(0);
        trial.commit();
        settle(workload);
        if (!placed.empty()) { plan_.placements.push_back(describe(world_, id, placed)); }
        wait_for_rest(id);
        world_.waits.wake_all(world_, Wake::pods_change);
        return true;
    }

    /// One that comes in place of a lost task gets that one's room, as far as it is still there.
    void put_back(Trial& trial, WorkloadId id) {
        const Workload& workload = world_.workloads[id.value];
        if (workload.leaving > 0) { return; }
        for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
            const Task& task = workload.tasks[i];
            const Group& group = workload.groups[task.group];
            const bool is_short = group.placed + group.finished < group.held_minimum;
            if (task.state != TaskState::waiting || !task.node.is_valid() || !is_short) {
                continue;
            }
            const NodeId node = task.node;
            if (may_run(workload, task.group, node)) { trial.place({id, i}, node); }
        }
    }

    /// Where pods mind each other the order of placement matters, which is not known here.
    [[nodiscard]] bool may_run(const Workload& workload, std::uint32_t leaf, NodeId node) const {
        const Group& group = workload.groups[leaf];
        if (!world_.topology.has(node) || world_.pods.concerns(group) ||
            static_causes(world_.shapes.at(group.shape), world_.machines[node.value],
                          world_.symbols) != 0) {
            return false;
        }
        for (auto at = static_cast<std::int32_t>(leaf); at >= 0;
             at = workload.groups[static_cast<std::size_t>(at)].parent) {
            if (!is_beside(workload, at, node)) { return false; }
        }
        return true;
    }

    /// In one domain of the group's required level with those of it that are placed.
    [[nodiscard]] bool is_beside(const Workload& workload, std::int32_t index, NodeId node) const {
        const std::string& name =
            workload.groups[static_cast<std::size_t>(index)].topology.required;
        if (name.empty()) { return true; }
        const auto level = resolve_level(world_, name);
        if (!level || *level == level_is_label) { return false; }
        const Topology& topology = world_.topology;
        return std::all_of(workload.tasks.begin(), workload.tasks.end(), [&](const Task& task) {
            if (task.state != TaskState::placed || !belongs_to(workload, task.group, index)) {
                return true;
            }
            if (!topology.has(task.node)) { return false; }
            if (static_cast<std::uint32_t>(*level) >= topology.level_count()) {
                return task.node == node;
            }
            const auto of = static_cast<std::uint32_t>(*level);
            return topology.domain_of(of, topology.position(task.node)) ==
                   topology.domain_of(of, topology.position(node));
        });
    }

    static bool belongs_to(const Workload& workload, std::uint32_t leaf, std::int32_t index) {
        auto at = static_cast<std::int32_t>(leaf);
        while (at >= 0 && at != index) {
            at = workload.groups[static_cast<std::size_t>(at)].parent;
        }
        return at == index;
    }

    static void forget_places(Workload& workload) {
        for (Task& task : workload.tasks) {
            if (!task.holds()) { task.node = {}; }
        }
    }

    void release(WorkloadId id) {
        Workload& workload = world_.workloads[id.value];
        Release out{.workload = workload.name, .tasks = {}};
        for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
            Task& task = workload.tasks[i];
            if (task.state == TaskState::finished) { task.is_conflict = false; }
            if (task.state != TaskState::placed) { continue; }
            const NodeSpec& spec = world_.machines[task.node.value].spec;
            out.tasks.push_back({i, spec.name, task.devices, spec.is_counted});
            world_.leave({id, i});
        }
        for (Group& group : workload.groups) { group.held_minimum = 0; }
        world_.start_waiting(id);
        plan_.releases.push_back(std::move(out));  // also of one that lost all it had
    }

    void grow() {
        for (const WorkloadId id : in_order(std::exchange(world_.growing, {}))) {
            Workload& workload = world_.workloads[id.value];
            if (!workload.is_running || !wants_more(workload)) { continue; }
            Trial trial(world_);
            place_workload(world_, trial, id, Goal::grow);
            const std::vector<TaskRef> placed = trial.placed_since(0);
            trial.commit();
            wait_for_rest(id);
            if (placed.empty()) { continue; }
            settle(workload);
            plan_.placements.push_back(describe(world_, id, placed));
            world_.waits.wake_all(world_, Wake::pods_change);
        }
    }

    /// The last word of the cycle on each workload that still waits.
    void keep_last_refusals() {
        if (plan_.refusals.empty()) { return; }
        std::set<std::string> seen;
        std::vector<Refusal> kept;
        for (auto at = plan_.refusals.rbegin(); at != plan_.refusals.rend(); ++at) {
            const WorkloadId id = world_.find_workload(at->workload);
            if (world_.workloads[id.value].is_waiting() && seen.insert(at->workload).second) {
                kept.push_back(std::move(*at));
            }
        }
        std::reverse(kept.begin(), kept.end());
        plan_.refusals = std::move(kept);
    }

    World& world_;
    Plan plan_;
    RefusalMemo refusals_;
};

}  // namespace

Plan run_cycle(World& world) { return Cycle(world).run(); }

std::variant<Placement, Reason> answer_for(World& world, WorkloadId id) {
    Trial trial(world);
    const auto blocked = place_unit(world, trial, unit_of(world, id));
    if (!blocked) { return describe(world, id, trial.placed_since(0)); }
    if (blocked->member == id) { return blocked->refused.reason; }
    const std::string& name = world.workloads[blocked->member.value].name;
    return refuse_linked_blocked(name, blocked->refused).reason;
}

}  // namespace muster
