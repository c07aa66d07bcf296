#include "sim/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <utility>

namespace muster::sim {

namespace {

/// A node with the domains that it is in, outermost first; empty where it is in none.
struct Row {
    std::vector<std::string_view> path;
    const Machine* machine = nullptr;
    NodeId id;
};

std::string_view label_of(const NodeSpec& node, const std::string& key) {
    for (const Label& label : node.labels) {
        if (label.key == key) { return label.value; }
    }
    return {};
}

bool is_before(const Row& a, const Row& b) {
    for (std::size_t i = 0; i < a.path.size(); ++i) {
        if (a.path[i].empty() != b.path[i].empty()) { return b.path[i].empty(); }
        const int order = compare_natural(a.path[i], b.path[i]);
        if (order != 0) { return order < 0; }
    }
    if (a.machine->spec.rank != b.machine->spec.rank) {
        return a.machine->spec.rank < b.machine->spec.rank;
    }
    return compare_natural(a.machine->spec.name, b.machine->spec.name) < 0;
}

std::vector<Row> rows_of(const World& world) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < world.machines.size(); ++i) {
        const Machine& machine = world.machines[i];
        if (!machine.is_present) { continue; }
        Row row{.path = {}, .machine = &machine, .id = NodeId(i)};
        for (const Level& level : world.topology.levels()) {
            row.path.push_back(label_of(machine.spec, level.key));
        }
        rows.push_back(std::move(row));
    }
    std::ranges::sort(rows, is_before);
    return rows;
}

/// Whole GPUs that a task could get now.
int free_gpus(const World& world, const Row& row) {
    if (!row.machine->spec.is_ready || row.machine->spec.is_cordoned) { return 0; }
    return std::popcount(world.space.nodes[row.id.value].whole & row.machine->healthy);
}

/// GPUs with room on them that are not wholly free: "gpu 3 0.5", and MIG cards with their slices.
std::string parts_of(const World& world, const Row& row) {
    std::string out;
    const std::uint64_t whole = world.space.nodes[row.id.value].whole;
    for (std::uint32_t i = 0; i < row.machine->gpu_count(); ++i) {
        const std::uint32_t at = row.machine->gpu_begin + i;
        if ((row.machine->mig_gpus >> i & 1) != 0) {
            const auto used = static_cast<unsigned>(world.space.mig[at] & 0xff);
            out += fmt::format(", gpu {} {} of 8 slices free", i, 8 - std::popcount(used));
        } else if ((whole >> i & 1) == 0 && world.space.gpus[at].milli > 0) {
            out +=
                fmt::format(", gpu {} {} free", i, write_thousandths(world.space.gpus[at].milli));
        }
    }
    return out;
}

std::string state_of(const Row& row) {
    std::string out;
    const int sick =
        std::popcount(~row.machine->healthy) - 64 + static_cast<int>(row.machine->gpu_count());
    if (sick > 0) { out += fmt::format(", {} unhealthy", sick); }
    if (!row.machine->spec.is_ready) { out += ", not ready"; }
    if (row.machine->spec.is_cordoned) { out += ", cordoned"; }
    return out;
}

std::string show_node(const World& world, const Row& row) {
    const NodeSpec& spec = row.machine->spec;
    if (spec.gpus.empty()) {
        return fmt::format("{}  {} cpu free{}", spec.name,
                           write_thousandths(world.space.nodes[row.id.value].milli_cpu),
                           state_of(row));
    }
    return fmt::format("{}  {} free{}{}", spec.name, free_gpus(world, row), parts_of(world, row),
                       state_of(row));
}

struct Tally {
    std::int64_t running = 0;
    std::int64_t waiting = 0;
};

std::map<std::uint32_t, Tally> tally_queues(const World& world) {
    std::map<std::uint32_t, Tally> tallies;
    for (const Workload& workload : world.workloads) {
        if (!workload.is_present || !workload.queue.is_valid()) { continue; }
        Tally& tally = tallies[workload.queue.value];
        (workload.is_waiting() ? tally.waiting : tally.running) += 1;
    }
    return tallies;
}

std::string write_amount(std::string_view resource, std::int64_t count) {
    if (resource == "gpu" || resource == "cpu") { return write_thousandths(count); }
    if (resource == "memory") { return fmt::format("{}Mi", count >> 20); }
    return fmt::format("{}", count);
}

std::int64_t used_of(const World& world, const Queue& queue, std::string_view resource) {
    if (resource == "gpu") { return queue.usage.gpu_milli; }
    if (resource == "cpu") { return queue.usage.milli_cpu; }
    if (resource == "memory") { return queue.usage.memory; }
    for (const auto& [symbol, count] : queue.usage.extended) {
        if (world.symbols.text(symbol) == resource) { return count; }
    }
    return 0;
}

std::string show_queue(const World& world, const Queue& queue, const Tally& tally) {
    std::string out = queue.spec.name + " ";
    bool has_gpu = false;
    for (const Amount& amount : queue.spec.cap.amounts) {
        has_gpu |= amount.name == "gpu";
        out += fmt::format(" {} of {} {},",
                           write_amount(amount.name, used_of(world, queue, amount.name)),
                           write_amount(amount.name, amount.count), amount.name);
    }
    if (!has_gpu) { out += fmt::format(" {} gpu,", write_thousandths(queue.usage.gpu_milli)); }
    out += fmt::format(" {} run, {} wait", tally.running, tally.waiting);
    return out;
}

}  // namespace

std::string write_thousandths(std::int64_t milli) {
    std::string out = fmt::format("{}{}", milli < 0 ? "-" : "", std::abs(milli) / 1000);
    if (milli % 1000 == 0) { return out; }
    out += fmt::format(".{:03}", std::abs(milli) % 1000);
    while (out.back() == '0') { out.pop_back(); }
    return out;
}

std::string write_bits(std::uint64_t bits) {
    std::string out;
    for (int first = 0; first < 64; ++first) {
        if ((bits >> first & 1) == 0) { continue; }
        int last = first;
        while (last + 1 < 64 && (bits >> (last + 1) & 1) != 0) { ++last; }
        out += fmt::format("{}{}", out.empty() ? "" : ",", first);
        if (last > first) { out += fmt::format("{}{}", last == first + 1 ? "," : "-", last); }
        first = last;
    }
    return out;
}

std::string write_devices(const Devices& devices) {
    std::string out;
    const auto add = [&](std::string part) { out += (out.empty() ? "" : " ") + part; };
    if (devices.gpus != 0) { add("gpu " + write_bits(devices.gpus)); }
    for (const MigSlot& slot : devices.mig) { add(fmt::format("mig {}:{}", slot.gpu, slot.start)); }
    if (devices.numa >= 0) { add(fmt::format("numa {}", devices.numa)); }
    return out;
}

Lines show_topology(const World& world) {
    const std::vector<Row> rows = rows_of(world);
    const std::size_t levels = world.topology.levels().size();
    Lines lines;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::size_t depth = 0;
        bool is_new = i == 0;
        for (std::size_t level = 0; level < levels; ++level) {
            is_new = is_new || rows[i].path[level] != rows[i - 1].path[level];
            if (rows[i].path[level].empty()) { continue; }
            if (is_new) {
                int total = 0;
                for (std::size_t k = i; k < rows.size(); ++k) {
                    if (!std::equal(rows[i].path.begin(),
                                    rows[i].path.begin() + static_cast<std::ptrdiff_t>(level) + 1,
                                    rows[k].path.begin())) {
                        break;
                    }
                    total += free_gpus(world, rows[k]);
                }
                lines.push_back(
                    fmt::format("{:{}}{}  {} free", "", depth * 2, rows[i].path[level], total));
            }
            ++depth;
        }
        lines.push_back(fmt::format("{:{}}{}", "", depth * 2, show_node(world, rows[i])));
    }
    return lines;
}

Lines show_queues(const World& world) {
    const std::map<std::uint32_t, Tally> tallies = tally_queues(world);
    Lines lines;
    std::vector<std::pair<QueueId, std::size_t>> path;  // to do, with its depth
    const auto push_children = [&](QueueId parent, std::size_t depth) {
        std::vector<QueueId> children;
        for (std::size_t i = 0; i < world.queues.size(); ++i) {
            const Queue& queue = world.queues.at(QueueId(i));
            if (queue.is_present && queue.parent == parent) { children.push_back(QueueId(i)); }
        }
        std::ranges::sort(children, [&](QueueId a, QueueId b) {
            return compare_natural(world.queues.at(a).spec.name, world.queues.at(b).spec.name) > 0;
        });
        for (const QueueId child : children) { path.emplace_back(child, depth); }
    };
    push_children(QueueId(), 0);
    while (!path.empty()) {
        const auto [id, depth] = path.back();
        path.pop_back();
        const auto tally = tallies.find(id.value);
        lines.push_back(fmt::format("{:{}}{}", "", depth * 2,
                                    show_queue(world, world.queues.at(id),
                                               tally == tallies.end() ? Tally{} : tally->second)));
        push_children(id, depth + 1);
    }
    return lines;
}

Lines show_plan(const Plan& plan) {
    Lines lines;
    for (const Release& release : plan.releases) {
        lines.push_back(fmt::format("{} is released whole", release.workload));
    }
    for (const Placement& placement : plan.placements) {
        const std::string where = placement.domain.empty() ? "" : " in " + placement.domain;
        lines.push_back(fmt::format("{} starts{}", placement.workload, where));
        for (const TaskPlace& place : placement.tasks) {
            const std::string devices = write_devices(place.devices);
            lines.push_back(fmt::format("  {}/{}  {}{}{}", placement.workload, place.task,
                                        place.node, devices.empty() ? "" : "  ", devices));
        }
    }
    for (const Refusal& refusal : plan.refusals) {
        lines.push_back(fmt::format("{} waits: {}", refusal.workload, refusal.reason.text));
    }
    if (lines.empty()) { lines.emplace_back("nothing new"); }
    return lines;
}

Lines show_waiting(const World& world) {
    std::vector<std::pair<Order, const Workload*>> waiting;
    for (const Workload& workload : world.workloads) {
        if (workload.is_waiting()) { waiting.emplace_back(workload.order, &workload); }
    }
    std::ranges::sort(waiting, {}, [](const auto& entry) { return entry.first; });
    Lines lines;
    for (const auto& [order, workload] : waiting) {
        lines.push_back(
            fmt::format("{}  {}", workload->name,
                        workload->reason ? workload->reason->text : "was not looked at yet"));
    }
    if (lines.empty()) { lines.emplace_back("nobody waits"); }
    return lines;
}

}  // namespace muster::sim
