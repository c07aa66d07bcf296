#include "engine/explain.h"

#include "engine/place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace muster {

namespace {

constexpr std::size_t known_names_max = 8;

std::string thousandths(std::int64_t milli) {
    if (milli % 1000 == 0) { return fmt::format("{}", milli / 1000); }
    std::string text = fmt::format("{}{}.{:03}", milli < 0 ? "-" : "", std::abs(milli) / 1000,
                                   std::abs(milli) % 1000);
    while (text.back() == '0') { text.pop_back(); }
    return text;
}

std::string bytes(std::int64_t amount) {
    constexpr std::int64_t gibi = std::int64_t{1} << 30;
    constexpr std::int64_t mebi = std::int64_t{1} << 20;
    if (amount % gibi == 0) { return fmt::format("{} GiB", amount / gibi); }
    return fmt::format("{} MiB", (amount + mebi - 1) / mebi);
}

std::string amount_of(const std::string& resource, std::int64_t amount) {
    if (resource == "gpu" || resource == "cpu") {
        return fmt::format("{} {}", thousandths(amount), resource);
    }
    if (resource == "memory") { return fmt::format("{} memory", bytes(amount)); }
    return fmt::format("{} {}", amount, resource);
}

std::string tasks(std::int64_t count) {
    return count == 1 ? "1 task" : fmt::format("{} tasks", count);
}

std::vector<CauseCount> causes_of(const Room& room) {
    std::vector<CauseCount> out;
    for (std::size_t i = 0; i < cause_count; ++i) {
        const auto cause = static_cast<Cause>(i);
        if (room.nodes_with(cause) > 0) { out.push_back({cause, room.nodes_with(cause)}); }
    }
    std::sort(out.begin(), out.end(), [](const CauseCount& a, const CauseCount& b) {
        return a.nodes != b.nodes ? a.nodes > b.nodes : a.cause < b.cause;
    });
    return out;
}

/// A leaf that must be placed, with the level of the tightest domain that must hold it.
struct Demand {
    const Group* group = nullptr;
    std::int64_t needed = 0;
    std::int32_t level = -1;
    std::string level_name;
    bool is_by_label = false;
};

void collect(const World& world, const Workload& workload, std::int32_t index, Demand outer,
             std::vector<Demand>& out) {
    const Group& group = workload.groups[static_cast<std::size_t>(index)];
    if (!group.topology.required.empty()) {
        const std::int32_t level = resolve_level(world, group.topology.required).value_or(-1);
        if (level == level_is_label) { outer.is_by_label = true; }
        if (level > outer.level) {
            outer.level = level;
            outer.level_name = group.topology.required;
        }
    }
    if (group.is_leaf) {
        outer.group = &group;
        outer.needed = std::max<std::int64_t>(0, group.minimum - group.placed - group.finished);
        if (outer.needed > 0) { out.push_back(outer); }
        return;
    }
    for (const std::int32_t child : group.children) { collect(world, workload, child, outer, out); }
}

/// Where not all children are required, room for any of them may be what was missing.
bool has_choice(const Workload& workload) {
    return std::any_of(workload.groups.begin(), workload.groups.end(), [](const Group& group) {
        return !group.is_leaf && group.minimum < group.count;
    });
}

struct Closest {
    std::int64_t room = 0;
    Position at = 0;
};

/// The domain of a level with the most room; the first of equals.
Closest closest(const World& world, const Room& room, std::int32_t level) {
    Closest best{-1, 0};
    const Topology& topology = world.topology;
    if (level >= static_cast<std::int32_t>(topology.level_count())) {
        if (topology.size() == 0) { return best; }
        const Position at = room.roomiest();
        return {room.fits(at), at};
    }
    const auto tree_level = static_cast<std::uint32_t>(level);
    for (DomainId at = topology.first_domain(tree_level); at < topology.end_domain(tree_level);
         ++at.value) {
        if (topology.domain(at).is_named() && room.in_domain(at) > best.room) {
            best = {room.in_domain(at), topology.domain(at).begin};
        }
    }
    return best;
}

bool has_cause(const Reason& reason, Cause cause) {
    return std::any_of(reason.causes.begin(), reason.causes.end(),
                       [&](const CauseCount& count) { return count.cause == cause; });
}

void fill(Reason& reason, const World& world, const Demand& demand, const Room& room) {
    reason.link = ChainLink::place;
    reason.role = demand.group->name;
    reason.needed = demand.needed;
    reason.nodes = world.topology.size();
    reason.causes = causes_of(room);
}

std::string no_room_text(const World& world, const Demand& demand, const Reason& reason,
                         const Room& room) {
    const std::int64_t have = room.total();
    const Shape& shape = world.shapes.at(demand.group->shape);
    const std::string ask = fmt::format(
        "{} of {}", tasks(demand.needed),
        describe_need(shape, has_cause(reason, Cause::cpu), has_cause(reason, Cause::memory)));
    if (have > 0 || shape.spec.gpu.kind != GpuKind::whole) {
        return fmt::format("{}; room for {}", ask, have);
    }
    const FreeGpus free = room.free_gpus();
    if (free.total == 0) { return fmt::format("{}; no gpu free", ask); }
    if (free.on_one < shape.spec.gpu.count) {
        return fmt::format("{}; {} gpu free but at most {} on a node", ask, free.total,
                           free.on_one);
    }
    return fmt::format("{}; room for 0", ask);
}

Refused refuse_too_large(const World& world, const Demand& demand, const Room& room) {
    Refused out;
    out.is_hopeless = true;
    Reason& reason = out.reason;
    fill(reason, world, demand, room);
    reason.link = ChainLink::admit;
    reason.why = Why::too_large;
    const Shape& shape = world.shapes.at(demand.group->shape);
    const std::int64_t too_few = room.nodes_with(Cause::gpu_total);
    if (reason.nodes == 0) {
        reason.text = "there are no nodes";
    } else if (too_few == reason.nodes && shape.spec.gpu.kind == GpuKind::whole) {
        reason.have = room.free_gpus().largest_node;
        reason.text =
            reason.have > 0
                ? fmt::format("no node has {} gpu; largest {}", shape.spec.gpu.count, reason.have)
            : shape.spec.gpu.models.empty()
                ? fmt::format("no node has a gpu to give whole; {} asked for", shape.spec.gpu.count)
                : fmt::format("no node has a whole gpu of {} to give",
                              fmt::join(shape.spec.gpu.models, " or "));
    } else {
        reason.text =
            fmt::format("no node can hold a task of {}", describe_need(shape, true, true));
    }
    return out;
}

/// Roles that may have the same GPUs and together ask for more than are free; else empty.
std::string too_few_gpus_text(World& world, const std::vector<Demand>& demands) {
    const std::vector<std::string>* models = nullptr;
    std::int64_t needed = 0;
    std::int64_t asked = 0;
    std::int64_t free = 0;
    for (const Demand& demand : demands) {
        const GpuNeed& gpus = world.shapes.at(demand.group->shape).spec.gpu;
        needed += demand.needed;
        if (gpus.kind == GpuKind::none) { continue; }
        if (models == nullptr) { models = &gpus.models; }
        if (gpus.kind != GpuKind::whole || gpus.models != *models) { return {}; }
        asked += demand.needed * gpus.count;
        free = std::max(free, world.room(demand.group->shape).free_gpus().total);
    }
    if (asked <= free) { return {}; }
    return fmt::format("{} in {} roles, of {} gpu together; {} gpu free", tasks(needed),
                       demands.size(), asked, free);
}

Refused refuse_demands(World& world, const Workload& workload) {
    std::vector<Demand> demands;
    collect(world, workload, 0, {}, demands);
    const auto wait_for = [](const Demand& demand, std::int32_t level, std::int64_t needed) {
        return Wait{.wake = Wake::room,
                    .shape = demand.group->shape,
                    .level = level,
                    .needed = needed,
                    .queue = {}};
    };
    const Wait on_change{
        .wake = Wake::node_change, .shape = {}, .level = -1, .needed = 0, .queue = {}};
    for (const Demand& demand : demands) {
        const Room& room = world.room(demand.group->shape);
        if (room.total() >= demand.needed) { continue; }
        Refused out;
        fill(out.reason, world, demand, room);
        out.reason.why = Why::no_room;
        out.reason.have = room.total();
        out.reason.text = no_room_text(world, demand, out.reason, room);
        if (room.total() > 0) {
            const auto innermost = static_cast<std::int32_t>(world.topology.level_count());
            const std::int32_t level = demand.level >= 0 ? demand.level : innermost;
            out.reason.closest = describe_domain(world, level, closest(world, room, level).at);
        }
        out.waits = {wait_for(demand, -1, demand.needed)};
        return out;
    }
    for (const Demand& demand : demands) {
        if (demand.level < 0) { continue; }
        const Room& room = world.room(demand.group->shape);
        const Closest best = closest(world, room, demand.level);
        if (best.room >= demand.needed) { continue; }
        Refused out;
        fill(out.reason, world, demand, room);
        out.reason.why = Why::no_domain;
        out.reason.subject = demand.level_name;
        out.reason.have = std::max<std::int64_t>(0, best.room);
        out.reason.closest = best.room < 0 ? "" : describe_domain(world, demand.level, best.at);
        const std::string need = describe_need(world.shapes.at(demand.group->shape), false, false);
        out.reason.text = best.room < 0
                              ? fmt::format("no node is in a {}", demand.level_name)
                              : fmt::format("{} of {} in one {}; room for {} in {}, {} in all",
                                            tasks(demand.needed), need, demand.level_name,
                                            best.room, out.reason.closest, room.total());
        out.waits = {wait_for(demand, demand.level, demand.needed)};
        if (best.room < 0) { out.waits = {on_change}; }
        return out;
    }
    Refused out;
    out.reason.link = ChainLink::place;
    out.reason.why = Why::packing;
    out.reason.nodes = world.topology.size();
    const bool is_single = demands.size() == 1;
    const bool is_about_pods =
        std::any_of(demands.begin(), demands.end(),
                    [&](const Demand& demand) { return world.pods.concerns(*demand.group); });
    for (const Demand& demand : demands) {
        out.waits.push_back(wait_for(demand, -1, 1));
        out.reason.needed += demand.needed;
    }
    out.waits.push_back(on_change);
    if (is_about_pods) {
        out.waits.push_back(
            {.wake = Wake::pods_change, .shape = {}, .level = -1, .needed = 0, .queue = {}});
        out.reason.causes = {{Cause::pod_affinity, out.reason.nodes}};
        out.reason.text =
            "room enough, but not where pod affinity, anti-affinity, spread or host ports allow it";
    } else if (is_single) {
        out.reason.text =
            fmt::format("{} fit in all, but not in one {}", tasks(demands[0].needed),
                        demands[0].is_by_label || demands[0].level >= 0
                            ? demands[0].level_name.empty() ? "domain" : demands[0].level_name
                            : "way that was found");
    } else if (out.reason.text = too_few_gpus_text(world, demands); out.reason.text.empty()) {
        out.reason.text = fmt::format(
            "each of {} roles has room alone; no way was found for all of them together",
            demands.size());
    }
    return out;
}

}  // namespace

std::string describe_need(const Shape& shape, bool with_cpu, bool with_memory) {
    std::vector<std::string> parts;
    const GpuNeed& gpu = shape.spec.gpu;
    switch (gpu.kind) {
        case GpuKind::none: with_cpu = true; break;
        case GpuKind::whole: parts.push_back(fmt::format("{} gpu", gpu.count)); break;
        case GpuKind::share: {
            std::string one = gpu.mib > 0 ? fmt::format("{} MiB of a gpu", gpu.mib)
                                          : fmt::format("{} gpu", thousandths(gpu.milli));
            parts.push_back(gpu.count == 1 ? one : fmt::format("{} × {}", gpu.count, one));
            break;
        }
        case GpuKind::mig:
            parts.push_back(gpu.count == 1 ? gpu.profile
                                           : fmt::format("{} × {}", gpu.count, gpu.profile));
            break;
    }
    if (with_cpu && shape.milli_cpu > 0) {
        parts.push_back(fmt::format("{} cpu", thousandths(shape.milli_cpu)));
    }
    if (with_memory && shape.memory > 0) {
        parts.push_back(fmt::format("{} memory", bytes(shape.memory)));
    }
    for (const Amount& amount : shape.spec.request.extended) {
        parts.push_back(fmt::format("{} {}", amount.count, amount.name));
    }
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, " and "));
}

std::string describe_domain(const World& world, std::int32_t level, Position at) {
    if (level < 0 || world.topology.size() == 0) { return {}; }
    const auto tree_level = static_cast<std::uint32_t>(level);
    if (tree_level >= world.topology.level_count()) {
        return "node " + world.machines[world.topology.node_at(at).value].spec.name;
    }
    const Domain& domain = world.topology.domain(world.topology.domain_of(tree_level, at));
    if (!domain.is_named()) { return {}; }
    return world.topology.levels()[tree_level].name + " " + world.symbols.text(domain.name);
}

Refused refuse_unknown_queue(const World& world, const Workload& workload) {
    Refused out;
    out.is_hopeless = true;
    out.waits = {{.wake = Wake::queue_set, .shape = {}, .level = -1, .needed = 0, .queue = {}}};
    Reason& reason = out.reason;
    reason.link = ChainLink::admit;
    reason.subject = workload.queue_name;
    for (std::size_t i = 0; i < world.queues.size(); ++i) {
        const Queue& queue = world.queues.at(QueueId(i));
        if (queue.is_present && queue.children == 0) { reason.known.push_back(queue.spec.name); }
    }
    std::sort(reason.known.begin(), reason.known.end());
    const bool is_inner = world.queues.find(workload.queue_name).is_valid();
    reason.why = is_inner ? Why::queue_not_leaf : Why::unknown_queue;
    const std::size_t shown = std::min(reason.known.size(), known_names_max);
    const std::string names =
        fmt::format("{}{}",
                    fmt::join(reason.known.begin(),
                              reason.known.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                    shown < reason.known.size() ? ", …" : "");
    reason.text = is_inner
                      ? fmt::format("queue {} has child queues; only leaves take workloads: {}",
                                    workload.queue_name, names)
                      : fmt::format("unknown queue {}; known: {}", workload.queue_name, names);
    return out;
}

Refused refuse_over_cap(const World& world, const CapBlock& block, bool is_alone) {
    Refused out;
    out.is_hopeless = is_alone;
    const std::string& queue = world.queues.at(block.queue).spec.name;
    const std::string& resource = world.symbols.text(block.resource);
    out.waits = {{.wake = is_alone ? Wake::queue_set : Wake::queue_room,
                  .shape = {},
                  .level = -1,
                  .needed = 0,
                  .queue = block.queue}};
    Reason& reason = out.reason;
    reason.link = ChainLink::admit;
    reason.why = is_alone ? Why::over_cap_alone : Why::queue_cap;
    reason.subject = queue;
    reason.needed = block.needed;
    reason.have = is_alone ? block.limit : std::max<std::int64_t>(0, block.headroom);
    reason.text =
        is_alone ? fmt::format("asks for {}; the cap of queue {} is {}",
                               amount_of(resource, block.needed), queue,
                               amount_of(resource, block.limit))
                 : fmt::format("queue cap: {} asked, {} of {} left in queue {}",
                               amount_of(resource, block.needed), amount_of(resource, reason.have),
                               amount_of(resource, block.limit), queue);
    return out;
}

Refused refuse_behind(const World& world, const Workload& workload, WorkloadId head) {
    Refused out;
    out.waits = {{.wake = Wake::head_leaves,
                  .shape = {},
                  .level = -1,
                  .needed = 0,
                  .queue = workload.queue}};
    out.reason.link = ChainLink::admit;
    out.reason.why = Why::behind_head;
    out.reason.subject = world.workloads[head.value].name;
    out.reason.text = fmt::format("behind {} in queue {}, which goes strictly in order",
                                  out.reason.subject, workload.queue_name);
    return out;
}

Refused refuse_leaving(const Workload& workload) {
    Refused out;
    out.waits = {{.wake = Wake::tasks_leave, .shape = {}, .level = -1, .needed = 0, .queue = {}}};
    out.reason.link = ChainLink::gang;
    out.reason.why = Why::leaving;
    out.reason.needed = workload.leaving;
    out.reason.text =
        fmt::format("{} of its tasks were released and are not gone yet", workload.leaving);
    return out;
}

Refused refuse_unknown_level(const World& world, const std::string& level) {
    Refused out;
    out.is_hopeless = true;
    out.waits = {{.wake = Wake::topology_set, .shape = {}, .level = -1, .needed = 0, .queue = {}},
                 {.wake = Wake::node_change, .shape = {}, .level = -1, .needed = 0, .queue = {}}};
    out.reason.link = ChainLink::gang;
    out.reason.why = Why::unknown_level;
    out.reason.subject = level;
    for (const Level& known : world.topology.levels()) { out.reason.known.push_back(known.name); }
    const std::string names =
        out.reason.known.empty() ? "node" : fmt::format("{}", fmt::join(out.reason.known, ", "));
    out.reason.text = fmt::format("unknown level {}; known: {}", level, names);
    return out;
}

Refused refuse_linked_missing(const std::string& name) {
    Refused out;
    out.is_hopeless = true;
    out.waits = {
        {.wake = Wake::linked_arrives, .shape = {}, .level = -1, .needed = 0, .queue = {}}};
    out.reason.link = ChainLink::gang;
    out.reason.why = Why::linked_missing;
    out.reason.subject = name;
    out.reason.text = fmt::format("linked gang {} is not here yet", name);
    return out;
}

Refused refuse_linked_blocked(const std::string& name, const Refused& blocked) {
    Refused out = blocked;
    out.reason.link = ChainLink::gang;
    out.reason.why = Why::linked_blocked;
    out.reason.subject = name;
    out.reason.text = fmt::format("linked gang {} waits: {}", name, blocked.reason.text);
    return out;
}

std::optional<Refused> refuse_if_too_large(World& world, const Workload& workload) {
    const auto is_too_large = [&](const Group& group) {
        if (!group.is_leaf || group.placed + group.finished >= group.minimum) { return false; }
        const Room& room = world.room(group.shape);
        return room.possible_nodes() == 0 && room.total() == 0;
    };
    if (has_choice(workload)) { return std::nullopt; }
    for (const Group& group : workload.groups) {
        if (!is_too_large(group)) { continue; }
        Demand demand;
        demand.group = &group;
        demand.needed = group.minimum - group.placed - group.finished;
        Refused out = refuse_too_large(world, demand, world.room(group.shape));
        out.waits = {
            {.wake = Wake::room, .shape = group.shape, .level = -1, .needed = 1, .queue = {}}};
        return out;
    }
    return std::nullopt;
}

Refused refuse_capped(const World& world, const Workload& workload, const CapBlock& block) {
    Refused out = refuse_over_cap(world, block, false);
    out.waits.clear();
    for (QueueId up = workload.queue; up.is_valid(); up = world.queues.at(up).parent) {
        out.waits.push_back(
            {.wake = Wake::queue_room, .shape = {}, .level = -1, .needed = 0, .queue = up});
    }
    out.waits.push_back(
        {.wake = Wake::node_change, .shape = {}, .level = -1, .needed = 0, .queue = {}});
    if (minds_pods(world, workload)) {
        out.waits.push_back(
            {.wake = Wake::pods_change, .shape = {}, .level = -1, .needed = 0, .queue = {}});
    }
    return out;
}

Refused refuse_room(World& world, const Workload& workload) {
    Refused out = refuse_demands(world, workload);
    if (has_choice(workload)) {
        out.waits = {
            {.wake = Wake::node_change, .shape = {}, .level = -1, .needed = 0, .queue = {}}};
        if (minds_pods(world, workload)) {
            out.waits.push_back(
                {.wake = Wake::pods_change, .shape = {}, .level = -1, .needed = 0, .queue = {}});
        }
    }
    return out;
}

void name_wakes(Refused& refused) {
    for (const Wait& wait : refused.waits) {
        std::vector<Wake>& wakes = refused.reason.wakes;
        if (std::find(wakes.begin(), wakes.end(), wait.wake) == wakes.end()) {
            wakes.push_back(wait.wake);
        }
    }
}

bool minds_pods(const World& world, const Workload& workload) {
    return std::any_of(workload.groups.begin(), workload.groups.end(), [&](const Group& group) {
        return group.is_leaf && world.pods.concerns(group);
    });
}

}  // namespace muster
