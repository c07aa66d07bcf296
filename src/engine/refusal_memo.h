// When one GPU becomes free, hundreds of workloads that ask for one are looked at again, and all
// but the first are refused for the same reason. Here that reason is kept until the World changes.
// Changes what a refusal costs, never what it says. Lives for one cycle.
#pragma once

#include "engine/explain.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace muster {

class RefusalMemo {
public:
    /// A refusal for want of room that stands for this workload too; null when none is known. Good
    /// only after admission and the gang check.
    const Refused* find(const World& world, const Workload& workload) {
        if (kept_.empty() || !is_plain(world, workload)) { return nullptr; }
        if (state_ != state_of(world)) {
            kept_.clear();
            return nullptr;
        }
        const auto found = kept_.find(key_of(workload));
        return found == kept_.end() ? nullptr : &found->second;
    }

    void keep(const World& world, const Workload& workload, const Refused& refused) {
        const bool is_arithmetic =
            refused.reason.why == Why::no_room || refused.reason.why == Why::no_domain;
        if (!is_arithmetic || !is_plain(world, workload)) { return; }
        if (state_ != state_of(world)) {
            kept_.clear();
            state_ = state_of(world);
        }
        kept_.emplace(key_of(workload), refused);
    }

private:
    /// Changes of nodes so far, and of all that rooms are made from.
    using State = std::pair<std::uint64_t, std::uint64_t>;
    using Key = std::tuple<ShapeId, std::int32_t, std::string, std::string>;

    static State state_of(const World& world) {
        return {world.journal_begin + world.journal.size(), world.layout_version};
    }
    static bool is_plain(const World& world, const Workload& workload) {
        return workload.groups.size() == 1 && workload.linked.empty() &&
               !world.pods.concerns(workload.groups[0]);
    }
    /// All that the arithmetic and its sentence are made of.
    static Key key_of(const Workload& workload) {
        const Group& group = workload.groups[0];
        return {group.shape, group.minimum - group.placed - group.finished, group.name,
                group.topology.required};
    }

    State state_;
    std::map<Key, Refused> kept_;
};

}  // namespace muster
