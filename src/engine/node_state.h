// What nodes offer right now, told apart by number: two nodes in the same state are alike to every
// shape, so that what was found on one holds for the other. A full fleet has some dozens of states;
// under churn they have no bound, so at states_max, or two a node, all are forgotten and counted
// anew.
#pragma once

#include "base/ids.h"
#include "engine/machine.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace muster {

using StateId = Id<struct StateTag>;
inline constexpr std::size_t states_max = std::size_t{1} << 16;

class NodeStates {
public:
    /// Good until the node changes, forget_all() is called, or another call finds no place.
    StateId of(const Machine& machine, NodeId node, const Space& space);
    void change(NodeId node);
    void forget_all();
    /// More than any StateId given out.
    [[nodiscard]] std::size_t size() const { return ids_.size(); }

private:
    struct KeyHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view key) const {
            return std::hash<std::string_view>{}(key);
        }
    };

    std::unordered_map<std::string, StateId, KeyHash, std::equal_to<>> ids_;
    std::vector<StateId> of_node_;  // invalid while it is not known
    std::string key_;
};

}  // namespace muster
