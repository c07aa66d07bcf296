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

/// Free GPUs that a shape of whole GPUs could use: in all, and the most on one node; and the GPUs
/// of the largest node.
struct FreeGpus {
    std::int64_t total = 0;
    std::int64_t on_one = 0;
    std::int64_t largest_node = 0;
};

class Room {
public:
    explicit Room(ShapeId shape) : shape_(shape) {}

    /// Must be called before reading, after any change of the World.
    void sync(World& world);
    /// The shape's id means another shape now.
    void forget() { layout_version_ = 0; }

    [[nodiscard]] std::uint16_t fits(Position at) const { return cells_[at].fits; }
    [[nodiscard]] Score score(Position at) const { return score_[at]; }
    [[nodiscard]] std::int64_t total() const { return total_; }
    [[nodiscard]] std::int64_t in_domain(DomainId domain) const {
        return domain_fits_[domain.value];
    }
    /// No node holds more; perhaps not the most that one holds now.
    [[nodiscard]] std::uint16_t fits_most() const { return fits_most_; }
    /// The first of the positions where most fit.
    [[nodiscard]] Position roomiest() const;
    /// Zeros but for shapes of whole GPUs.
    [[nodiscard]] FreeGpus free_gpus() const;
    /// The best score in [begin, end), the lowest position of equals; none when nothing fits.
    [[nodiscard]] std::optional<Position> best(Position begin, Position end) const;

    [[nodiscard]] std::int64_t nodes_with(Cause cause) const {
        return cause_nodes_[static_cast<std::size_t>(cause)];
    }
    /// Nodes that would hold one task if they were empty.
    [[nodiscard]] std::int64_t possible_nodes() const { return possible_nodes_; }
    [[nodiscard]] CauseSet causes(Position at) const { return cells_[at].causes; }
    [[nodiscard]] std::size_t bytes() const;

private:
    static constexpr std::size_t block = 64;

    /// What a look at one node finds and the sums are made of.
    struct Cell {
        std::uint16_t fits = 0;
        CauseSet causes = 0;
        std::uint8_t is_possible = 0;
        std::uint8_t usable = 0;  // GPUs; shapes of whole GPUs only
        std::uint8_t free = 0;    // of those, where no class keeps tasks out

        bool operator==(const Cell&) const = default;
    };
    struct Found {
        Cell cell;
        Value gain = 0;  // the score without the rank term, where one fits
    };
    /// What is the same for all nodes of a class.
    struct ClassFacts {
        bool is_known = false;
        CauseSet causes = 0;
        Score bonus = 0;  // preferred labels and taints
        std::uint64_t usable = 0;
    };

    void rebuild(World& world);
    void prefetch(const World& world, std::uint64_t end) const;
    void change(const World& world, Position at, const Found& found);
    [[nodiscard]] Found look(World& world, NodeId node);
    const ClassFacts& facts_of(const World& world, const Machine& machine);
    static Score score_of(const Found& found, Position at, const World& world);
    void put(Position at, const Cell& cell);
    void count(const Cell& cell, std::int64_t nodes);
    void sum_domains(const Topology& topology);
    void set_score(Position at, Score score);
    void refresh_block(std::size_t index);
    void refresh_dirty();

    ShapeId shape_;
    std::uint64_t layout_version_ = 0;  // of the World's order and scores
    std::uint64_t seen_ = 0;            // changes of the World looked at
    std::int64_t total_ = 0;
    std::int64_t possible_nodes_ = 0;
    std::array<std::int64_t, cause_count> cause_nodes_{};
    std::uint16_t fits_most_ = 0;
    bool is_whole_ = false;    // the shape asks for whole GPUs
    std::vector<Cell> cells_;  // by Position
    std::array<std::int64_t, gpus_per_node_max + 1> nodes_by_usable_{};
    std::array<std::int64_t, gpus_per_node_max + 1> nodes_by_free_{};
    std::vector<Score> score_;
    std::vector<Score> block_best_;
    std::vector<Score> super_best_;
    std::vector<std::uint32_t> dirty_;  // blocks whose best may have become less
    std::vector<std::int64_t> domain_fits_;
    std::vector<ClassFacts> class_facts_;  // by ClassId
};

}  // namespace muster
