#include "engine/room.h"

#include "base/assert.h"
#include "engine/world.h"

#include <algorithm>
#include <bit>

namespace muster {

namespace {

constexpr Score preference_step = 1 << 20;  // a weight of 1 outweighs a whole GPU's value
constexpr Score preference_max = 1'000;     // sum of weights that counts
constexpr std::int32_t disliked_taint_weight = 100;

Score clamp_score(Value value) {
    return static_cast<Score>(std::clamp<Value>(value, score_none + 1, INT32_MAX));
}

/// Weights of the preferred labels that hold, less the taints that ask to stay away.
Score bonus_of(const Shape& shape, const Machine& machine, const Symbols& symbols) {
    std::int32_t weight =
        -disliked_taint_weight * disliked_taints(machine.spec.taints, shape.spec.tolerations);
    for (const NodePreference& preference : shape.preferred) {
        if (all_hold(preference.matches, machine.labels, symbols)) { weight += preference.weight; }
    }
    return std::clamp(weight, -preference_max, preference_max) * preference_step;
}

/// A task that wants its GPUs near a NIC would not get them so here.
bool is_far_from_nics(const Shape& shape, const Machine& machine, NodeId node, const World& world) {
    if (!shape.spec.gpu.near_nic) { return false; }
    const std::uint64_t near = world.devices.at(machine.devices).near_nic & machine.healthy;
    return std::popcount(near & world.space.nodes[node.value].whole) < shape.spec.gpu.count;
}

}  // namespace

void Room::sync(World& world) {
    if (layout_version_ != world.layout_version || seen_ < world.journal_begin) {
        rebuild(world);
        return;
    }
    const std::uint64_t end = world.journal_begin + world.journal.size();
    if (seen_ == end) { return; }
    ++world.stamp_now;
    for (; seen_ < end; ++seen_) {
        const NodeId node = world.journal[static_cast<std::size_t>(seen_ - world.journal_begin)];
        if (world.stamp[node.value] == world.stamp_now || !world.topology.has(node)) { continue; }
        world.stamp[node.value] = world.stamp_now;
        const Position at = world.topology.position(node);
        count(at, world.topology, -1);
        look(world, at);
        count(at, world.topology, 1);
        refresh_block(at / block);
    }
}

void Room::rebuild(World& world) {
    const Position size = world.topology.size();
    layout_version_ = world.layout_version;
    seen_ = world.journal_begin + world.journal.size();
    total_ = 0;
    possible_nodes_ = 0;
    cause_nodes_.fill(0);
    fits_.assign(size, 0);
    causes_.assign(size, 0);
    possible_.assign(size, 0);
    score_.assign(size, score_none);
    block_best_.assign((size + block - 1) / block, score_none);
    super_best_.assign((block_best_.size() + block - 1) / block, score_none);
    domain_fits_.assign(world.topology.domain_count(), 0);
    class_causes_.assign(world.class_count(), -1);
    class_bonus_.assign(world.class_count(), 0);
    for (Position at = 0; at < size; ++at) {
        look(world, at);
        count(at, world.topology, 1);
    }
    for (std::size_t i = 0; i < block_best_.size(); ++i) { refresh_block(i); }
}

void Room::look(World& world, Position at) {
    const NodeId node = world.topology.node_at(at);
    const Machine& machine = world.machines[node.value];
    const Shape& shape = world.shapes.at(shape_);
    const std::size_t node_class = machine.node_class.value;
    if (node_class >= class_causes_.size()) {
        class_causes_.resize(world.class_count(), -1);
        class_bonus_.resize(world.class_count(), 0);
    }
    if (class_causes_[node_class] < 0) {
        class_causes_[node_class] = static_causes(shape, machine, world.symbols);
        class_bonus_[node_class] = bonus_of(shape, machine, world.symbols);
    }
    fits_[at] = 0;
    score_[at] = score_none;
    causes_[at] = static_cast<CauseSet>(class_causes_[node_class]);
    possible_[at] = 0;
    if (causes_[at] != 0) { return; }
    const Fit found = fit(shape, machine, node, world.space);
    fits_[at] = found.count;
    causes_[at] = found.causes;
    possible_[at] = found.is_possible ? 1 : 0;
    if (found.count == 0) { return; }
    const Value rank = world.values.rank_cost({.rank = at, .nodes = world.topology.size()});
    const Value lost = value_lost(shape, machine, node, world.space, world.values);
    const Value far = is_far_from_nics(shape, machine, node, world) ? preference_step : 0;
    score_[at] = clamp_score(Value{class_bonus_[node_class]} - far - lost - rank);
}

void Room::count(Position at, const Topology& topology, std::int64_t sign) {
    possible_nodes_ += sign * possible_[at];
    for (unsigned rest = causes_[at]; rest != 0; rest &= rest - 1) {
        cause_nodes_[static_cast<std::size_t>(__builtin_ctz(rest))] += sign;
    }
    if (fits_[at] == 0) { return; }
    total_ += sign * fits_[at];
    for (std::uint32_t level = 0; level < topology.level_count(); ++level) {
        domain_fits_[topology.domain_of(level, at).value] += sign * fits_[at];
    }
}

void Room::refresh_block(std::size_t index) {
    const auto best_of = [](const std::vector<Score>& scores, std::size_t begin) {
        const auto first = scores.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last =
            scores.begin() + static_cast<std::ptrdiff_t>(std::min(begin + block, scores.size()));
        Score best = score_none;
        for (auto at = first; at != last; ++at) { best = std::max(best, *at); }
        return best;
    };
    block_best_[index] = best_of(score_, index * block);
    super_best_[index / block] = best_of(block_best_, index / block * block);
}

std::optional<Position> Room::best(Position begin, Position end) const {
    Score found = score_none;
    Position where = 0;
    const auto scan = [&](std::size_t from, std::size_t to) {
        Score best = score_none;
        for (std::size_t at = from; at < to; ++at) { best = std::max(best, score_[at]); }
        if (best <= found) { return; }
        found = best;
        where = static_cast<Position>(
            std::find(score_.begin() + static_cast<std::ptrdiff_t>(from), score_.end(), best) -
            score_.begin());
    };
    std::size_t at = begin;
    while (at < end) {
        if (at % block != 0 || at + block > end) {
            const std::size_t stop = std::min<std::size_t>(end, (at / block + 1) * block);
            scan(at, stop);
            at = stop;
            continue;
        }
        const std::size_t index = at / block;
        if (index % block == 0 && at + block * block <= end) {
            if (super_best_[index / block] > found) {
                std::size_t inner = index;
                while (block_best_[inner] != super_best_[index / block]) { ++inner; }
                scan(inner * block, std::min<std::size_t>(score_.size(), (inner + 1) * block));
            }
            at += block * block;
            continue;
        }
        if (block_best_[index] > found) { scan(at, at + block); }
        at += block;
    }
    return found == score_none ? std::nullopt : std::optional(where);
}

std::size_t Room::bytes() const {
    return fits_.size() *
               (sizeof(fits_[0]) + sizeof(causes_[0]) + sizeof(possible_[0]) + sizeof(score_[0])) +
           domain_fits_.size() * sizeof(domain_fits_[0]) + sizeof(Room);
}

}  // namespace muster
