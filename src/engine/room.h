// How much room the cluster has for one shape: per position how many tasks fit, why none does, and
// what placing one costs; summed per domain. "How many fit in this rack" is a look-up, "cannot
// run" is a sum that is zero, with the reasons counted. Kept up by looking again at the nodes that
// changed since the last use, never at all of them.
#pragma once

#include "engine/fit.h"
#include "engine/topology.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace muster {

struct World;

/// Larger is better: minus the value lost, minus the rank term, plus what the task prefers.
using Score = std::int32_t;
inline constexpr Score score_none = INT32_MIN;

class Room {
public:
    explicit Room(ShapeId shape) : shape_(shape) {}

    /// Must be called before reading, after any change of the World.
    void sync(World& world);

    [[nodiscard]] std::uint16_t fits(Position at) const { return fits_[at]; }
    [[nodiscard]] Score score(Position at) const { return score_[at]; }
    [[nodiscard]] std::int64_t total() const { return total_; }
    [[nodiscard]] std::int64_t in_domain(DomainId domain) const {
        return domain_fits_[domain.value];
    }
    /// The best score in [begin, end), the lowest position of equals; none when nothing fits.
    [[nodiscard]] std::optional<Position> best(Position begin, Position end) const;

    [[nodiscard]] std::int64_t nodes_with(Cause cause) const {
        return cause_nodes_[static_cast<std::size_t>(cause)];
    }
    /// Nodes that would hold one task if they were empty.
    [[nodiscard]] std::int64_t possible_nodes() const { return possible_nodes_; }
    [[nodiscard]] CauseSet causes(Position at) const { return causes_[at]; }
    [[nodiscard]] std::size_t bytes() const;

private:
    static constexpr std::size_t block = 64;

    void rebuild(World& world);
    void look(World& world, Position at);
    void count(Position at, const Topology& topology, std::int64_t sign);
    void refresh_block(std::size_t index);

    ShapeId shape_;
    std::uint64_t layout_version_ = 0;  // of the World's order and scores
    std::uint64_t seen_ = 0;            // changes of the World looked at
    std::int64_t total_ = 0;
    std::int64_t possible_nodes_ = 0;
    std::array<std::int64_t, cause_count> cause_nodes_{};
    std::vector<std::uint16_t> fits_;
    std::vector<CauseSet> causes_;
    std::vector<std::uint8_t> possible_;
    std::vector<Score> score_;
    std::vector<Score> block_best_;
    std::vector<Score> super_best_;
    std::vector<std::int64_t> domain_fits_;
    std::vector<std::int32_t> class_causes_;  // by ClassId, −1 unknown
    std::vector<Score> class_bonus_;          // preferred labels and taints, by ClassId
};

}  // namespace muster
