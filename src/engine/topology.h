// The primary topology tree as an order of nodes: every domain of every level is a range of
// positions, so "in this rack" is arithmetic. A NodeId is stable; its position is not: a change of
// nodes or levels rebuilds the order.
#pragma once

#include "engine/space.h"
#include "engine/symbols.h"
#include "model/node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

using DomainId = Id<struct DomainTag>;
using Position = std::uint32_t;

struct Domain {
    Symbol name;  // of the label's value; invalid for the nodes that lack the label
    std::uint32_t level = 0;
    Position begin = 0;  // [begin, end)
    Position end = 0;

    [[nodiscard]] bool is_named() const { return name.is_valid(); }
};

/// What the order needs of a node.
struct NodePlace {
    NodeId node;
    std::vector<Symbol> path;  // one per level, invalid where the label is missing
    std::int32_t rank = 0;
    std::string name;
};

class Topology {
public:
    /// All nodes lose their place.
    void set_levels(std::vector<Level> levels);
    /// Takes out `stale`, puts in `fresh`, and renumbers: by path, then rank, then name, digits by
    /// their value. `node_count` bounds the NodeIds.
    void change(const std::vector<NodeId>& stale, std::vector<NodePlace> fresh,
                const Symbols& symbols, std::size_t node_count);

    /// Outermost first. A level index equal to level_count() means single nodes.
    [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
    [[nodiscard]] std::uint32_t level_count() const {
        return static_cast<std::uint32_t>(levels_.size());
    }
    /// By name or label key; "node" and the hostname key are the single nodes.
    [[nodiscard]] std::optional<std::uint32_t> find_level(std::string_view name) const;

    [[nodiscard]] Position size() const { return static_cast<Position>(node_at_.size()); }
    [[nodiscard]] NodeId node_at(Position position) const { return node_at_[position]; }
    [[nodiscard]] bool has(NodeId node) const {
        return node.value < position_.size() && position_[node.value] != UINT32_MAX;
    }
    [[nodiscard]] Position position(NodeId node) const { return position_[node.value]; }

    [[nodiscard]] const Domain& domain(DomainId id) const { return domains_[id.value]; }
    [[nodiscard]] std::size_t domain_count() const { return domains_.size(); }
    [[nodiscard]] DomainId domain_of(std::uint32_t level, Position position) const {
        return domain_of_[level][position];
    }
    /// The domains of one level are consecutive ids in the order of their positions.
    [[nodiscard]] DomainId first_domain(std::uint32_t level) const { return level_begin_[level]; }
    [[nodiscard]] DomainId end_domain(std::uint32_t level) const { return level_begin_[level + 1]; }

private:
    void renumber(std::size_t node_count);

    std::vector<Level> levels_;
    std::vector<NodePlace> places_;  // in order
    std::vector<Domain> domains_;
    std::vector<DomainId> level_begin_{DomainId(std::size_t{0})};
    std::vector<NodeId> node_at_;
    std::vector<Position> position_;
    std::vector<std::vector<DomainId>> domain_of_;
};

/// Text order in which digits count as numbers: "node-2" before "node-10". Total.
int compare_natural(std::string_view a, std::string_view b);

}  // namespace muster
