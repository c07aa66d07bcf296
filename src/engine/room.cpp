#include "engine/room.h"

#include "base/assert.h"
#include "engine/world.h"

#include <algorithm>
#include <bit>
#include <utility>

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

/// Where the GPUs that a task would get talk fast goes before what is left open.
int steps_apart(const Shape& shape, const Machine& machine, NodeId node, std::uint64_t usable,
                World& world) {
    const GpuNeed& need = shape.spec.gpu;
    if (need.kind != GpuKind::whole || need.count < 2) { return 0; }
    return world.devices.distance(machine.devices, usable & world.space.nodes[node.value].whole,
                                  need.count, need.near_nic);
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
    prefetch(world, end);
    ++world.stamp_now;
    NodeId last;
    Found found;
    for (; seen_ < end; ++seen_) {
        const NodeId node = world.journal[static_cast<std::size_t>(seen_ - world.journal_begin)];
        if (world.stamp[node.value] == world.stamp_now || !world.topology.has(node)) { continue; }
        world.stamp[node.value] = world.stamp_now;
        if (!last.is_valid() || !world.looks_alike(last, node)) { found = look(world, node); }
        last = node;
        change(world, world.topology.position(node), found);
    }
    refresh_dirty();
}

/// With many shapes in use a room is long out of the caches when its turn comes: ask for all that
/// will be written before the first write waits for it.
void Room::prefetch(const World& world, std::uint64_t end) const {
    constexpr std::uint64_t most = 512;
    for (std::uint64_t i = seen_; i < std::min(end, seen_ + most); ++i) {
        const NodeId node = world.journal[static_cast<std::size_t>(i - world.journal_begin)];
        if (!world.topology.has(node)) { continue; }
        const Position at = world.topology.position(node);
        __builtin_prefetch(&cells_[at], 1);
        __builtin_prefetch(&score_[at], 1);
    }
}

void Room::rebuild(World& world) {
    const Position size = world.topology.size();
    layout_version_ = world.layout_version;
    seen_ = world.journal_begin + world.journal.size();
    is_whole_ = world.shapes.at(shape_).spec.gpu.kind == GpuKind::whole;
    total_ = 0;
    possible_nodes_ = 0;
    fits_most_ = 0;
    cause_nodes_.fill(0);
    nodes_by_usable_.fill(0);
    nodes_by_free_.fill(0);
    cells_.resize(size);
    score_.resize(size);
    block_best_.assign((size + block - 1) / block, score_none);
    super_best_.assign((block_best_.size() + block - 1) / block, score_none);
    dirty_.clear();
    class_facts_.assign(world.class_count(), {});
    // Each state is looked at once. Not kept beyond: states come and go.
    std::vector<std::uint32_t> index_of_state;
    std::vector<Found> seen;
    std::vector<std::int64_t> nodes;  // in that state
    constexpr std::uint32_t none = UINT32_MAX;
    for (Position at = 0; at < size; ++at) {
        const NodeId node = world.topology.node_at(at);
        const StateId state = world.state(node);
        if (state.value >= index_of_state.size()) {
            index_of_state.resize(std::max<std::size_t>(world.state_count(), 64), none);
        }
        std::uint32_t& index = index_of_state[state.value];
        if (index == none) {
            index = static_cast<std::uint32_t>(seen.size());
            seen.push_back(look(world, node));
            nodes.push_back(0);
        }
        ++nodes[index];
        put(at, seen[index].cell);
        score_[at] = score_of(seen[index], at, world);
    }
    for (std::size_t i = 0; i < seen.size(); ++i) { count(seen[i].cell, nodes[i]); }
    sum_domains(world.topology);
    for (std::size_t i = 0; i < block_best_.size(); ++i) { refresh_block(i); }
}

void Room::change(const World& world, Position at, const Found& found) {
    if (const Cell before = cells_[at]; before != found.cell) {
        count(before, -1);
        put(at, found.cell);
        count(found.cell, 1);
        const std::int64_t more = std::int64_t{found.cell.fits} - before.fits;
        const Topology& topology = world.topology;
        for (std::uint32_t level = 0; more != 0 && level < topology.level_count(); ++level) {
            domain_fits_[topology.domain_of(level, at).value] += more;
        }
    }
    set_score(at, score_of(found, at, world));
}

const Room::ClassFacts& Room::facts_of(const World& world, const Machine& machine) {
    const std::size_t node_class = machine.node_class.value;
    if (node_class >= class_facts_.size()) { class_facts_.resize(world.class_count()); }
    ClassFacts& facts = class_facts_[node_class];
    if (!facts.is_known) {
        const Shape& shape = world.shapes.at(shape_);
        facts = {.is_known = true,
                 .causes = static_causes(shape, machine, world.symbols),
                 .bonus = bonus_of(shape, machine, world.symbols),
                 .usable = usable_gpus(shape, machine)};
    }
    return facts;
}

Room::Found Room::look(World& world, NodeId node) {
    const Machine& machine = world.machines[node.value];
    const Shape& shape = world.shapes.at(shape_);
    const ClassFacts& facts = facts_of(world, machine);
    Found found;
    Cell& cell = found.cell;
    cell.causes = facts.causes;
    if (is_whole_) { cell.usable = static_cast<std::uint8_t>(std::popcount(facts.usable)); }
    if (facts.causes != 0) { return found; }
    if (is_whole_) {
        cell.free = static_cast<std::uint8_t>(
            std::popcount(facts.usable & world.space.nodes[node.value].whole));
    }
    const Fit fitting = fit(shape, machine, node, world.space, facts.usable);
    cell.fits = fitting.count;
    cell.causes = fitting.causes;
    cell.is_possible = fitting.is_possible ? 1 : 0;
    if (cell.fits > 0) {
        const Value far =
            preference_step * (steps_apart(shape, machine, node, facts.usable, world) +
                               (is_far_from_nics(shape, machine, node, world) ? 1 : 0));
        found.gain =
            facts.bonus - far -
            value_lost(shape, machine, world.space, world.values, world.opened(node), facts.usable);
    }
    return found;
}

Score Room::score_of(const Found& found, Position at, const World& world) {
    if (found.cell.fits == 0) { return score_none; }
    return clamp_score(found.gain - world.rank_cost(at));
}

void Room::put(Position at, const Cell& cell) {
    cells_[at] = cell;
    fits_most_ = std::max(fits_most_, cell.fits);
}

/// From the innermost level outwards: a domain's domains stand one after the other.
void Room::sum_domains(const Topology& topology) {
    domain_fits_.assign(topology.domain_count(), 0);
    for (std::uint32_t level = topology.level_count(); level-- > 0;) {
        const bool is_innermost = level + 1 == topology.level_count();
        for (DomainId id = topology.first_domain(level); id < topology.end_domain(level);
             ++id.value) {
            const Domain& domain = topology.domain(id);
            std::int64_t& sum = domain_fits_[id.value];
            for (Position at = domain.begin; at < domain.end;) {
                if (is_innermost) {
                    sum += cells_[at++].fits;
                    continue;
                }
                const DomainId part = topology.domain_of(level + 1, at);
                sum += domain_fits_[part.value];
                at = topology.domain(part).end;
            }
        }
    }
}

/// Adds `nodes` more in which this was found to the sums over the cluster.
void Room::count(const Cell& cell, std::int64_t nodes) {
    possible_nodes_ += nodes * cell.is_possible;
    for (unsigned rest = cell.causes; rest != 0; rest &= rest - 1) {
        cause_nodes_[static_cast<std::size_t>(std::countr_zero(rest))] += nodes;
    }
    if (is_whole_) {
        nodes_by_usable_[cell.usable] += nodes;
        nodes_by_free_[cell.free] += nodes;
    }
    total_ += nodes * cell.fits;
}

/// A better score is its blocks' best at once; one that was the best and fell is looked for later.
void Room::set_score(Position at, Score score) {
    const Score before = std::exchange(score_[at], score);
    const std::size_t index = at / block;
    Score& best = block_best_[index];
    if (score >= best) {
        best = score;
        Score& super = super_best_[index / block];
        super = std::max(super, score);
    } else if (before == best) {
        dirty_.push_back(static_cast<std::uint32_t>(index));
    }
}

void Room::refresh_dirty() {
    std::sort(dirty_.begin(), dirty_.end());
    dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
    for (const std::uint32_t index : dirty_) { refresh_block(index); }
    dirty_.clear();
}

void Room::refresh_block(std::size_t index) {
    const auto best_of = [](const std::vector<Score>& scores, std::size_t begin) {
        const std::size_t end = std::min(begin + block, scores.size());
        Score best = score_none;
        for (std::size_t at = begin; at < end; ++at) { best = std::max(best, scores[at]); }
        return best;
    };
    block_best_[index] = best_of(score_, index * block);
    super_best_[index / block] = best_of(block_best_, index / block * block);
}

Position Room::roomiest() const {
    const auto fewer = [](const Cell& a, const Cell& b) { return a.fits < b.fits; };
    return static_cast<Position>(std::max_element(cells_.begin(), cells_.end(), fewer) -
                                 cells_.begin());
}

FreeGpus Room::free_gpus() const {
    FreeGpus out;
    for (std::size_t i = 0; i < nodes_by_free_.size(); ++i) {
        const auto gpus = static_cast<std::int64_t>(i);
        out.total += gpus * nodes_by_free_[i];
        if (nodes_by_free_[i] > 0) { out.on_one = gpus; }
        if (nodes_by_usable_[i] > 0) { out.largest_node = gpus; }
    }
    return out;
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
    return cells_.size() * (sizeof(Cell) + sizeof(Score)) +
           domain_fits_.size() * sizeof(domain_fits_[0]) + sizeof(Room);
}

}  // namespace muster
