#include "engine/wake_index.h"

#include "engine/world.h"

#include <algorithm>
#include <functional>

namespace muster {

void WakeIndex::add(WorkloadId id, const Workload& workload) {
    for (const Wait& wait : workload.waits) {
        switch (wait.wake) {
            case Wake::room:
                room_[{wait.shape, wait.level, wait.needed}].emplace(workload.order, id);
                break;
            case Wake::queue_room: queue_[wait.queue].insert(id); break;
            case Wake::never:
            case Wake::tasks_leave:         // the last of them wakes it
            case Wake::head_leaves: break;  // the queue's own order knows its head
            case Wake::node_change:
            case Wake::linked_arrives:
            case Wake::queue_set:
            case Wake::topology_set:
            case Wake::pods_change: others_[wait.wake].insert(id); break;
        }
    }
}

void WakeIndex::remove(WorkloadId id, const Workload& workload) {
    for (const Wait& wait : workload.waits) {
        if (wait.wake == Wake::room) {
            const auto found = room_.find({wait.shape, wait.level, wait.needed});
            if (found == room_.end()) { continue; }
            found->second.erase({workload.order, id});
            if (found->second.empty()) { room_.erase(found); }
        } else if (wait.wake == Wake::queue_room) {
            queue_[wait.queue].erase(id);
        } else {
            others_[wait.wake].erase(id);
        }
    }
}

/// In one domain of those where some room may have grown.
std::int64_t WakeIndex::most_room(World& world, const Kind& kind) const {
    const Room& room = world.room(kind.shape);
    if (kind.level < 0) { return room.total(); }
    std::int64_t most = 0;
    if (static_cast<std::size_t>(kind.level) >= grown_domains_.size()) {
        for (const Position at : grown_nodes_) {
            most = std::max<std::int64_t>(most, room.fits(at));
        }
        return most;
    }
    for (const DomainId domain : grown_domains_[static_cast<std::size_t>(kind.level)]) {
        most = std::max(most, room.in_domain(domain));
    }
    return most;
}

void WakeIndex::open(const Kind& kind, const InOrder& members) {
    const auto next = passed_ ? members.upper_bound({*passed_, WorkloadId{}}) : members.begin();
    if (next == members.end()) { return; }
    open_.push_back({*next, kind});
    std::push_heap(open_.begin(), open_.end(), std::greater{});
}

void WakeIndex::wake_grown(World& world) {
    const Topology& topology = world.topology;
    grown_nodes_.clear();
    if (world.is_all_grown) {
        for (Position at = 0; at < topology.size(); ++at) { grown_nodes_.push_back(at); }
    } else {
        for (const NodeId node : world.grown) {
            if (topology.has(node)) { grown_nodes_.push_back(topology.position(node)); }
        }
    }
    grown_domains_.assign(topology.level_count(), {});
    for (std::uint32_t level = 0; level < topology.level_count(); ++level) {
        std::vector<DomainId>& grown = grown_domains_[level];
        for (const Position at : grown_nodes_) {
            const DomainId domain = topology.domain_of(level, at);
            if (topology.domain(domain).is_named()) { grown.push_back(domain); }
        }
        std::sort(grown.begin(), grown.end());
        grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    }
    open_.clear();
    passed_.reset();
    std::vector<WorkloadId> woken;
    if (world.is_all_grown || !world.grown.empty()) {
        for (const auto& [kind, members] : room_) { open(kind, members); }
        if (const auto found = others_.find(Wake::node_change); found != others_.end()) {
            woken.insert(woken.end(), found->second.begin(), found->second.end());
        }
    }
    for (const QueueId queue : world.eased) {
        const auto found = queue_.find(queue);
        if (found != queue_.end()) {
            woken.insert(woken.end(), found->second.begin(), found->second.end());
        }
    }
    for (const WorkloadId id : woken) { world.make_ready(id); }
    world.grown.clear();
    world.eased.clear();
    world.is_all_grown = false;
}

std::optional<std::pair<Order, WorkloadId>> WakeIndex::next_for_room(World& world) {
    while (!open_.empty()) {
        const Open first = open_.front();
        const auto found = room_.find(first.kind);
        const bool is_there = found != room_.end() && found->second.contains(first.next) &&
                              (!passed_ || first.next.first > *passed_);
        if (is_there && most_room(world, first.kind) >= first.kind.needed) { return first.next; }
        std::pop_heap(open_.begin(), open_.end(), std::greater{});
        open_.pop_back();
        // Who was looked at, or left, makes place for the next of the kind; without room none is.
        if (found != room_.end() && !is_there) { open(first.kind, found->second); }
    }
    return std::nullopt;
}

void WakeIndex::wake_all(World& world, Wake wake) {
    const auto found = others_.find(wake);
    if (found == others_.end()) { return; }
    const std::vector<WorkloadId> woken(found->second.begin(), found->second.end());
    for (const WorkloadId id : woken) { world.make_ready(id); }
}

}  // namespace muster
