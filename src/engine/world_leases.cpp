// Facts about leases. A lease's blocks are held by a workload of its own, one task for each, so
// that every sum and every law counts them like any holding.
#include "engine/check.h"
#include "engine/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace muster {

namespace {

constexpr std::string_view state_names[] = {"offered", "granted", "active", "recalled", "returned"};

std::string_view name_of(LeaseState state) { return state_names[static_cast<std::size_t>(state)]; }

/// A group per block, each with one task that asks for just what the block has.
WorkloadSpec holder_of(const LeaseSpec& lease) {
    WorkloadSpec out;
    out.name = fmt::format("lease {}", lease.name);
    out.queue = "";
    out.groups.push_back({.name = "lease",
                          .minimum = static_cast<std::int32_t>(lease.blocks.size()),
                          .task = {},
                          .topology = {}});
    for (const LeaseBlock& block : lease.blocks) {
        GroupSpec group{.name = block.node, .parent = 0, .task = {}, .topology = {}};
        group.task.request = {.milli_cpu = block.milli_cpu, .memory = block.memory, .extended = {}};
        group.task.name_space = "(lease)";  // no pod term of others means it
        group.task.gpu.count = std::popcount(block.gpus);
        group.task.gpu.kind = block.gpus != 0 ? GpuKind::whole : GpuKind::none;
        out.groups.push_back(std::move(group));
    }
    return out;
}

Result<> check_step(const LeaseSpec& known, const LeaseSpec& next) {
    if (next.epoch <= known.epoch) {
        return fail(Code::conflict, fmt::format("lease {} has epoch {}, expected more than {}",
                                                next.name, next.epoch, known.epoch));
    }
    if (next.state < known.state) {
        return fail(Code::conflict, fmt::format("lease {} is {} and can't be {} again", next.name,
                                                name_of(known.state), name_of(next.state)));
    }
    if (next.blocks != known.blocks || next.holder != known.holder) {
        return fail(Code::conflict,
                    fmt::format("lease {} keeps its holder and its blocks", next.name));
    }
    return {};
}

}  // namespace

Result<> World::on(const LeaseSet& fact) {
    const LeaseSpec& lease = fact.lease;
    MUSTER_CHECK(check_lease(lease));
    if (const auto known = leases.find(lease.name); known != leases.end()) {
        MUSTER_CHECK(check_step(known->second.spec, lease));
        if (lease.state == LeaseState::returned) {
            const WorkloadId holder = known->second.holder;
            drop_workload(holder);
            workloads[holder.value] = Workload{};
            free_workloads_.push_back(holder);
            leases.erase(known);
        } else {
            known->second.spec = lease;
        }
        return {};
    }
    if (lease.state == LeaseState::returned) {
        return fail(Code::not_found, fmt::format("lease {} is not known", lease.name));
    }
    for (const LeaseBlock& block : lease.blocks) {
        const NodeId node = find_node(block.node);
        if (!node.is_valid()) {
            return fail(Code::not_found,
                        fmt::format("lease {}: node {} is not known", lease.name, block.node));
        }
        const NodeFree& free = space.nodes[node.value];
        if ((block.gpus & ~free.whole) != 0 || block.milli_cpu > free.milli_cpu ||
            block.memory > free.memory || free.pods < 1) {
            return fail(Code::conflict, fmt::format("lease {}: node {} has not all of it free",
                                                    lease.name, block.node));
        }
    }
    return hold_lease(lease);
}

Result<> World::hold_lease(const LeaseSpec& lease) {
    const WorkloadId holder = new_workload();
    build_workload(holder, holder_of(lease));
    workloads[holder.value].is_lease = true;
    workloads[holder.value].is_running = true;
    const auto [entry, is_new] = leases.emplace(lease.name, Lease{lease, holder});
    if (!is_new) { return fail(Code::corrupt, fmt::format("lease {} is there twice", lease.name)); }
    for (std::uint32_t i = 0; i < lease.blocks.size(); ++i) {
        if (const NodeId node = find_node(lease.blocks[i].node); node.is_valid()) {
            hold_block(entry->second, i, node);
        }
    }
    return {};
}

/// All of its GPUs, unless the machine lost some.
void World::hold_block(const Lease& lease, std::uint32_t index, NodeId node) {
    const std::uint64_t gpus = lease.spec.blocks[index].gpus;
    const std::uint64_t there = gpus & space.nodes[node.value].whole;
    hold({lease.holder, index}, node, {.gpus = there, .mig = {}});
    if (there == gpus) { return; }
    workloads[lease.holder.value].tasks[index].is_conflict = true;
    claims.emplace(TaskRef{lease.holder, index}, Devices{.gpus = gpus, .mig = {}});
}

/// A node that comes back still has what was leased on it.
void World::hold_leases_on(NodeId node) {
    const std::string& name = machines[node.value].spec.name;
    for (const auto& [lease, entry] : leases) {
        for (std::uint32_t i = 0; i < entry.spec.blocks.size(); ++i) {
            const bool holds = workloads[entry.holder.value].tasks[i].holds();
            if (!holds && entry.spec.blocks[i].node == name) { hold_block(entry, i, node); }
        }
    }
}

}  // namespace muster
