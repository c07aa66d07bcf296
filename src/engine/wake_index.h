// Who is looked at again when what changes: each waiting workload stands under the room, the queue
// or the event that could change its answer, sorted by how much it needs.
#pragma once

#include "engine/workload_state.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace muster {

struct World;

class WakeIndex {
public:
    void add(WorkloadId id, const Workload& workload);  // under all of workload.waits
    void remove(WorkloadId id, const Workload& workload);

    /// Room or headroom may have grown since the last call: moves those to `World::ready` for whom
    /// there is enough now. Arithmetic on the rooms; nothing is tried.
    void wake_grown(World& world);
    void wake_all(World& world, Wake wake);

private:
    struct RoomKey {
        ShapeId shape;
        std::int32_t level = -1;
        auto operator<=>(const RoomKey&) const = default;
    };
    using Needs = std::set<std::pair<std::int64_t, WorkloadId>>;

    static std::int64_t most_room(World& world, const RoomKey& key);

    std::map<RoomKey, Needs> room_;
    std::map<QueueId, std::set<WorkloadId>> queue_;
    std::map<Wake, std::set<WorkloadId>> others_;
};

}  // namespace muster
