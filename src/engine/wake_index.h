// Who is looked at again when what changes: each waiting workload stands under the room, the queue
// or the event that could change its answer. Those who wait for room stand by kind (shape, level,
// how many), each kind in the order of decision, so that an event that frees much costs one
// comparison for each kind and one decision for each that starts.
#pragma once

#include "engine/topology.h"
#include "engine/workload_state.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace muster {

struct World;

class WakeIndex {
public:
    void add(WorkloadId id, const Workload& workload);  // under all of workload.waits
    void remove(WorkloadId id, const Workload& workload);

    /// Room or headroom may have grown since the last call: moves those who wait for headroom or
    /// for nodes to `World::ready`, and begins anew with next_for_room().
    void wake_grown(World& world);
    /// The next, in the order of decision, who waits for room that has grown and is still enough;
    /// none when there is no more. Arithmetic on the rooms; nothing is tried.
    std::optional<std::pair<Order, WorkloadId>> next_for_room(World& world);
    /// That one has been looked at.
    void pass_room(const Order& order) { passed_ = order; }
    void wake_all(World& world, Wake wake);

private:
    struct Kind {
        ShapeId shape;
        std::int32_t level = -1;
        std::int64_t needed = 0;

        auto operator<=>(const Kind&) const = default;
    };
    using InOrder = std::set<std::pair<Order, WorkloadId>>;
    /// A kind for which there was room, with the first of it that was not looked at.
    struct Open {
        std::pair<Order, WorkloadId> next;
        Kind kind;

        bool operator>(const Open& other) const { return next > other.next; }
    };

    std::int64_t most_room(World& world, const Kind& kind) const;
    void open(const Kind& kind, const InOrder& members);

    std::map<Kind, InOrder> room_;
    std::map<QueueId, std::set<WorkloadId>> queue_;
    std::map<Wake, std::set<WorkloadId>> others_;

    std::vector<Open> open_;  // a heap, the first in order on top
    std::optional<Order> passed_;
    std::vector<std::vector<DomainId>> grown_domains_;  // by level
    std::vector<Position> grown_nodes_;
};

}  // namespace muster
