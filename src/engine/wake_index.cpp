#include "engine/wake_index.h"

#include "engine/world.h"

#include <algorithm>

namespace muster {

void WakeIndex::add(WorkloadId id, const Workload& workload) {
    for (const Wait& wait : workload.waits) {
        switch (wait.wake) {
            case Wake::room: room_[{wait.shape, wait.level}].emplace(wait.needed, id); break;
            case Wake::queue_room: queue_[wait.queue].insert(id); break;
            case Wake::never:
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
            const auto found = room_.find({wait.shape, wait.level});
            if (found == room_.end()) { continue; }
            found->second.erase({wait.needed, id});
            if (found->second.empty()) { room_.erase(found); }
        } else if (wait.wake == Wake::queue_room) {
            queue_[wait.queue].erase(id);
        } else {
            others_[wait.wake].erase(id);
        }
    }
}

std::int64_t WakeIndex::most_room(World& world, const RoomKey& key) {
    const Room& room = world.room(key.shape);
    if (key.level < 0) { return room.total(); }
    const Topology& topology = world.topology;
    const auto level = static_cast<std::uint32_t>(key.level);
    std::int64_t most = 0;
    if (level >= topology.level_count()) {
        const auto look = [&](Position at) { most = std::max<std::int64_t>(most, room.fits(at)); };
        if (world.is_all_grown) {
            for (Position at = 0; at < topology.size(); ++at) { look(at); }
        } else {
            for (const NodeId node : world.grown) { look(topology.position(node)); }
        }
        return most;
    }
    const auto look = [&](DomainId domain) {
        if (topology.domain(domain).is_named()) { most = std::max(most, room.in_domain(domain)); }
    };
    if (world.is_all_grown) {
        for (DomainId at = topology.first_domain(level); at < topology.end_domain(level);
             ++at.value) {
            look(at);
        }
    } else {
        for (const NodeId node : world.grown) {
            look(topology.domain_of(level, topology.position(node)));
        }
    }
    return most;
}

void WakeIndex::wake_grown(World& world) {
    std::vector<WorkloadId> woken;
    if (world.is_all_grown || !world.grown.empty()) {
        for (const auto& [key, needs] : room_) {
            const std::int64_t most = most_room(world, key);
            for (const auto& [needed, id] : needs) {
                if (needed > most) { break; }
                woken.push_back(id);
            }
        }
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

void WakeIndex::wake_all(World& world, Wake wake) {
    const auto found = others_.find(wake);
    if (found == others_.end()) { return; }
    const std::vector<WorkloadId> woken(found->second.begin(), found->second.end());
    for (const WorkloadId id : woken) { world.make_ready(id); }
}

}  // namespace muster
