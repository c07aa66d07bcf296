// Law 7 by trying: would anyone start now whom nobody asked? And do the rooms, which answer in the
// engine's place, say what a look at every node says?
#include "engine/decide.h"
#include "engine/place.h"
#include "sim/laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace muster {

namespace {

void check_room(World& world, ShapeId id, std::vector<std::string>& broken) {
    const Room& room = world.room(id);
    const Shape& shape = world.shapes.at(id);
    const Topology& topology = world.topology;
    Room fresh(id);
    fresh.sync(world);
    const auto same = [&](std::string_view what, std::int64_t says, std::int64_t computed) {
        if (says != computed) {
            broken.push_back(fmt::format("law 3: room of shape {}: {} is {}, computed {}", id.value,
                                         what, says, computed));
        }
    };
    std::vector<std::int64_t> domains(topology.domain_count(), 0);
    std::array<std::int64_t, cause_count> causes{};
    std::int64_t total = 0;
    std::int64_t possible = 0;
    std::optional<Position> best;
    for (Position at = 0; at < topology.size(); ++at) {
        const NodeId node = topology.node_at(at);
        const Machine& machine = world.machines[node.value];
        Fit found{.count = 0,
                  .causes = static_causes(shape, machine, world.symbols),
                  .is_possible = false};
        if (found.causes == 0) {
            found = fit(shape, machine, node, world.space, usable_gpus(shape, machine));
        }
        const std::string name = " of node " + machine.spec.name;
        same("fits" + name, room.fits(at), found.count);
        same("causes" + name, room.causes(at), found.causes);
        same("score" + name, room.score(at), fresh.score(at));
        total += found.count;
        possible += found.is_possible ? 1 : 0;
        for (std::size_t i = 0; i < cause_count; ++i) {
            causes[i] += (found.causes >> i & 1) != 0 ? 1 : 0;
        }
        for (std::uint32_t level = 0; level < topology.level_count(); ++level) {
            domains[topology.domain_of(level, at).value] += found.count;
        }
        if (found.count > 0 && (!best || room.score(at) > room.score(*best))) { best = at; }
    }
    same("total", room.total(), total);
    same("possible nodes", room.possible_nodes(), possible);
    for (std::size_t i = 0; i < cause_count; ++i) {
        same(fmt::format("nodes with cause {}", i), room.nodes_with(static_cast<Cause>(i)),
             causes[i]);
    }
    for (std::size_t i = 0; i < domains.size(); ++i) {
        same(fmt::format("domain {}", i), room.in_domain(DomainId(i)), domains[i]);
    }
    const auto said = room.best(0, topology.size());
    same("best position", said ? std::int64_t{*said} : -1, best ? std::int64_t{*best} : -1);
}

/// Some of its elastic rest would fit, and nothing will look for it.
void check_rest(World& world, WorkloadId id, std::vector<std::string>& broken) {
    const std::string& name = world.workloads[id.value].name;
    Trial trial(world);
    place_workload(world, trial, id, Goal::grow);
    if (const auto placed = trial.placed_since(0); !placed.empty()) {
        broken.push_back(fmt::format("law 7: {} runs and {} more of its tasks, from {}, would fit",
                                     name, placed.size(), placed.front().task));
    }
}

}  // namespace

std::vector<std::string> missed_wakes(World& world) {
    world.refresh();
    std::vector<std::string> broken;
    std::set<ShapeId> shapes;
    for (std::size_t i = 0; i < world.workloads.size(); ++i) {
        if (!world.workloads[i].is_present) { continue; }
        for (const Group& group : world.workloads[i].groups) {
            if (group.is_leaf) { shapes.insert(group.shape); }
        }
    }
    for (const ShapeId shape : shapes) { check_room(world, shape, broken); }
    for (std::size_t i = 0; i < world.workloads.size(); ++i) {
        const WorkloadId id(i);
        const Workload& workload = world.workloads[i];
        if (!workload.is_present) { continue; }
        if (workload.is_running) {
            if (!workload.is_lease && wants_more(workload) && !world.growing.contains(id)) {
                check_rest(world, id, broken);
            }
            continue;
        }
        const auto answer = answer_for(world, id);
        if (const auto* placement = std::get_if<Placement>(&answer)) {
            broken.push_back(fmt::format("law 7: {} would start now on {} and waits with \"{}\"",
                                         workload.name, placement->domain, workload.reason->text));
        }
    }
    return broken;
}

}  // namespace muster
