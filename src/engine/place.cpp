#include "engine/place.h"

#include "engine/spread.h"

#include <algorithm>
#include <map>

namespace muster {

namespace {

using GroupIndex = std::int32_t;

/// Tasks that a leaf needs at least, and would like, beyond what it has.
struct Ask {
    std::int64_t least = 0;
    std::int64_t most = 0;
};

class Placer {
public:
    Placer(World& world, Trial& trial, WorkloadId id, Goal goal)
        : world_(world),
          trial_(trial),
          id_(id),
          workload_(world.workloads[id.value]),
          goal_(goal) {
        tries_left_ = placement_tries_max + static_cast<std::int64_t>(workload_.tasks.size());
    }

    bool place_root() { return place_group(0, whole()); }

    /// Each role by itself; inside the domains that its groups are bound to.
    void grow(GroupIndex group, Region region) {
        const Group& here = at(group);
        const auto member = member_of(group);
        if (!member && !here.is_leaf) {  // one that has nobody yet starts whole or not at all
            const Trial::Mark mark = trial_.mark();
            if (!place_group(group, region)) {
                trial_.roll_back_to(mark);
            } else if (trial_.mark() > mark) {
                grow(group, region);
            }
            return;
        }
        // A leaf takes what one domain gives, then what the next one does.
        for (bool is_growing = here.is_leaf; is_growing;) {
            const Trial::Mark mark = trial_.mark();
            if (!place_group(group, region)) { trial_.roll_back_to(mark); }
            is_growing = trial_.mark() > mark;
        }
        if (here.is_leaf) { return; }
        if (!here.topology.required.empty()) {
            const auto required = resolve_level(world_, here.topology.required);
            // A level that is gone holds nobody; one that is a label keeps those who started.
            if (!required || *required == level_is_label) { return; }
            if (*required > region.level) { region = region_at(*required, *member, region.mask); }
        }
        for (const GroupIndex child : here.children) { grow(child, region); }
    }

    [[nodiscard]] Region whole() const { return {0, world_.topology.size(), -1, nullptr}; }

private:
    enum class Aim : std::uint8_t { full, least };

    [[nodiscard]] const Group& at(GroupIndex group) const {
        return workload_.groups[static_cast<std::size_t>(group)];
    }
    [[nodiscard]] std::int32_t node_level() const {
        return static_cast<std::int32_t>(world_.topology.level_count());
    }

    [[nodiscard]] Ask ask_of(const Group& leaf) const {
        const std::int64_t have = leaf.placed + leaf.finished;
        Ask ask{std::max<std::int64_t>(0, leaf.minimum - have),
                std::max<std::int64_t>(0, leaf.count - have)};
        if (goal_ == Goal::repair) {
            ask.least = ask.most = std::max<std::int64_t>(0, leaf.held_minimum - have);
        }
        if (goal_ == Goal::grow) { ask.least = std::max<std::int64_t>(1, ask.least); }
        if (workload_.queue.is_valid()) {
            const Charge charge = world_.charge_of(world_.shapes.at(leaf.shape));
            ask.most = std::min(
                ask.most,
                std::max(ask.least, world_.queues.allowed(workload_.queue, charge, ask.most)));
        }
        return ask;
    }

    /// Position of some member that runs, if one does.
    [[nodiscard]] std::optional<Position> member_of(GroupIndex group) const {
        const Group& here = at(group);
        if (here.is_leaf && here.placed > 0) {
            for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(here.count); ++i) {
                const Task& task = workload_.tasks[here.first_task + i];
                if (task.state == TaskState::placed && world_.topology.has(task.node)) {
                    return world_.topology.position(task.node);
                }
            }
        }
        for (const GroupIndex child : here.children) {
            if (const auto found = member_of(child)) { return found; }
        }
        return std::nullopt;
    }

    [[nodiscard]] Region region_at(std::int32_t level, Position position,
                                   const std::vector<std::uint8_t>* mask) const {
        if (level < 0) { return {0, world_.topology.size(), -1, mask}; }
        if (level >= node_level()) { return {position, position + 1, node_level(), mask}; }
        const Domain& domain = world_.topology.domain(
            world_.topology.domain_of(static_cast<std::uint32_t>(level), position));
        return {domain.begin, domain.end, level, mask};
    }

    // ---- one group

    bool place_group(GroupIndex group, const Region& region) {
        const Group& here = at(group);
        if (here.is_leaf && ask_of(here).most == 0 && ask_of(here).least == 0) { return true; }
        if (goal_ == Goal::repair && !here.is_leaf && !member_of(group)) { return true; }
        if (slack_in(group, region, Aim::least) < 0) { return false; }  // a proof, without a visit
        if (!here.topology.required.empty() && !resolve_level(world_, here.topology.required)) {
            return false;  // for one that runs already: a level that is gone holds nobody
        }
        const std::int32_t required =
            here.topology.required.empty()
                ? -1
                : resolve_level(world_, here.topology.required).value_or(-1);
        if (required == level_is_label) {
            return place_by_label(group, region, here.topology.required);
        }
        const std::int32_t preferred =
            here.topology.preferred.empty()
                ? -1
                : resolve_level(world_, here.topology.preferred).value_or(-1);
        const std::int32_t outer = std::max(region.level, required);
        const bool is_named = required >= 0;
        // Tightest first. Up to the preferred level the minimum is better than all of it further
        // out.
        const auto climb = [&](std::int32_t from, std::int32_t to, Aim aim) {
            for (std::int32_t level = from; level >= to; --level) {
                if (try_level(group, region, level, aim, is_named ? required : -1)) { return true; }
            }
            return false;
        };
        if (preferred > outer) {
            if (climb(node_level(), preferred, Aim::full) ||
                climb(node_level(), preferred, Aim::least)) {
                return true;
            }
            return climb(preferred - 1, outer, Aim::full) ||
                   climb(preferred - 1, outer, Aim::least);
        }
        return climb(node_level(), outer, Aim::full) || climb(node_level(), outer, Aim::least);
    }

    struct Candidate {
        std::int64_t slack;
        Position begin;
    };

    /// All domains of `level` in the region where the arithmetic says yes, the tightest first.
    bool try_level(GroupIndex group, const Region& region, std::int32_t level, Aim aim,
                   std::int32_t named) {
        const auto member = member_of(group);
        if (!member && level >= node_level() && level != region.level && named < 0 &&
            is_single(group)) {
            // One task: the best node of the region, without a look at each.
            return try_region(group, region, aim);
        }
        const std::optional<Needs> needs = needs_of(group, aim);
        if (needs && level >= node_level() && !can_one_node_do(*needs)) { return false; }
        std::vector<Candidate> found;
        const auto consider = [&](const Region& domain) {
            const std::int64_t slack =
                needs ? slack_of(*needs, domain) : slack_in(group, domain, aim);
            if (slack >= 0 && is_inside_named(named, domain.begin)) {
                found.push_back({aim == Aim::least ? -slack : slack, domain.begin});
            }
        };
        if (member) {
            consider(region_at(level, *member, region.mask));
        } else if (level == region.level) {
            consider(region);
        } else if (level >= node_level()) {
            for (Position at = region.begin; at < region.end; ++at) {
                consider(region_at(level, at, region.mask));
            }
        } else if (region.begin < region.end) {
            const auto inner = static_cast<std::uint32_t>(level);
            const DomainId last = world_.topology.domain_of(inner, region.end - 1);
            for (DomainId domain = world_.topology.domain_of(inner, region.begin); domain <= last;
                 ++domain.value) {
                consider(region_at(level, world_.topology.domain(domain).begin, region.mask));
            }
        }
        const bool is_region = !member && level == region.level;
        return try_in_order(group, found, aim, [&](Position begin) {
            return is_region ? region : region_at(level, begin, region.mask);
        });
    }

    [[nodiscard]] bool is_inside_named(std::int32_t level, Position at) const {
        if (level < 0 || level >= node_level()) { return true; }
        const Topology& topology = world_.topology;
        return topology.domain(topology.domain_of(static_cast<std::uint32_t>(level), at))
            .is_named();
    }

    /// The first of them nearly always does, so the others are put in order only when it does not.
    template <class RegionOf>
    bool try_in_order(GroupIndex group, std::vector<Candidate>& found, Aim aim,
                      RegionOf region_of) {
        if (found.empty()) { return false; }
        const bool is_by_score =
            region_of(found.front().begin).level >= node_level() && at(group).is_leaf;
        const Room* scores = is_by_score ? &world_.room(at(group).shape) : nullptr;
        const auto is_before = [&](const Candidate& a, const Candidate& b) {
            if (a.slack != b.slack) { return a.slack < b.slack; }
            if (scores != nullptr) {
                const Score left = scores->score(a.begin);
                const Score right = scores->score(b.begin);
                if (left != right) { return left > right; }
            }
            return a.begin < b.begin;
        };
        const auto try_one = [&](const Candidate& one) {
            return try_region(group, region_of(one.begin), aim);
        };
        std::swap(*std::min_element(found.begin(), found.end(), is_before), found.front());
        if (try_one(found.front())) { return true; }
        if (is_by_score) { scores = &world_.room(at(group).shape); }  // without what was tried
        const std::size_t tried = std::min(found.size(), domain_tries_max);
        std::partial_sort(found.begin() + 1, found.begin() + static_cast<std::ptrdiff_t>(tried),
                          found.end(), is_before);
        return std::any_of(found.begin() + 1, found.begin() + static_cast<std::ptrdiff_t>(tried),
                           try_one);
    }

    [[nodiscard]] bool is_single(GroupIndex group) const {
        const Group& here = at(group);
        return here.is_leaf && ask_of(here).most == 1 && !world_.pods.concerns(here);
    }

    /// What is asked of every domain alike, with the rooms to look in.
    using Needs = std::vector<std::pair<const Room*, std::int64_t>>;

    /// Nothing where it depends on the domain which children count, or where the needs are so many
    /// that a room could be dropped while another is made.
    std::optional<Needs> needs_of(GroupIndex group, Aim aim) {
        std::map<ShapeId, std::int64_t> sums;
        if (has_choice(group, aim) || !add_needs(group, whole(), aim, sums) ||
            sums.size() > rooms_min / 2) {
            return std::nullopt;
        }
        Needs needs;
        for (const auto& [shape, need] : sums) { needs.emplace_back(&world_.room(shape), need); }
        return needs;
    }

    [[nodiscard]] bool has_choice(GroupIndex group, Aim aim) const {
        const Group& here = at(group);
        if (here.is_leaf) { return false; }
        if (aim != Aim::full && here.minimum != static_cast<std::int32_t>(here.children.size())) {
            return true;
        }
        return std::any_of(here.children.begin(), here.children.end(),
                           [&](GroupIndex child) { return has_choice(child, aim); });
    }

    std::int64_t slack_of(const Needs& needs, const Region& region) const {
        std::int64_t slack = INT64_MAX;
        for (const auto& [room, need] : needs) {
            slack = std::min(slack, room_in(*room, world_.topology, region) - need);
        }
        return slack == INT64_MAX ? 0 : slack;
    }

    static bool can_one_node_do(const Needs& needs) {
        return std::all_of(needs.begin(), needs.end(),
                           [](const auto& need) { return need.second <= need.first->fits_most(); });
    }

    /// Room beyond what is asked, of the shape that is scarcest; negative when some shape has too
    /// little. Necessary, and for one role without pod affinity sufficient.
    std::int64_t slack_in(GroupIndex group, const Region& region, Aim aim) {
        if (at(group).is_leaf) {
            const Ask ask = ask_of(at(group));
            const std::int64_t need = aim == Aim::full ? ask.most : ask.least;
            if (need <= 0) { return 0; }
            return room_in(world_.room(at(group).shape), world_.topology, region) - need;
        }
        std::map<ShapeId, std::int64_t> needs;
        std::int64_t slack = INT64_MAX;
        if (!add_needs(group, region, aim, needs)) { return -1; }
        for (const auto& [shape, need] : needs) {
            slack = std::min(slack, room_in(world_.room(shape), world_.topology, region) - need);
        }
        return slack == INT64_MAX ? 0 : slack;
    }

    bool add_needs(GroupIndex group, const Region& region, Aim aim,
                   std::map<ShapeId, std::int64_t>& needs) {
        const Group& here = at(group);
        if (here.is_leaf) {
            const Ask ask = ask_of(here);
            if (const std::int64_t need = aim == Aim::full ? ask.most : ask.least; need > 0) {
                needs[here.shape] += need;
            }
            return true;
        }
        if (aim == Aim::full || here.minimum == static_cast<std::int32_t>(here.children.size())) {
            return std::all_of(here.children.begin(), here.children.end(), [&](GroupIndex child) {
                return add_needs(child, region, aim, needs);
            });
        }
        const auto able =
            std::count_if(here.children.begin(), here.children.end(),
                          [&](GroupIndex child) { return slack_in(child, region, aim) >= 0; });
        return able >= here.minimum;
    }

    bool try_region(GroupIndex group, const Region& region, Aim aim) {
        const Trial::Mark mark = trial_.mark();
        if (at(group).is_leaf ? place_leaf(group, region, aim)
                              : place_children(group, region, aim)) {
            return true;
        }
        trial_.roll_back_to(mark);
        return false;
    }

    /// In the order given; if that fails, the largest tasks first.
    bool place_children(GroupIndex group, const Region& region, Aim aim) {
        const Trial::Mark mark = trial_.mark();
        std::vector<GroupIndex> order = at(group).children;
        if (place_in_order(group, order, region, aim)) { return true; }
        trial_.roll_back_to(mark);
        const std::vector<GroupIndex> declared = order;
        std::sort(order.begin(), order.end(), [&](GroupIndex a, GroupIndex b) {
            return weight(a) != weight(b) ? weight(a) > weight(b) : a < b;
        });
        return order != declared && place_in_order(group, order, region, aim);
    }

    bool place_in_order(GroupIndex group, const std::vector<GroupIndex>& order,
                        const Region& region, Aim aim) {
        const std::size_t children = order.size();
        const std::size_t needed = aim == Aim::full || goal_ == Goal::repair
                                       ? children
                                       : static_cast<std::size_t>(at(group).minimum);
        std::size_t done = 0;
        for (std::size_t i = 0; i < children; ++i) {
            const Trial::Mark mark = trial_.mark();
            if (place_group(order[i], region)) {
                ++done;
            } else {
                trial_.roll_back_to(mark);
            }
            if (done + (children - i - 1) < needed) { return false; }
        }
        return true;
    }

    /// Size of the group's largest task, in thousandths of a GPU, then CPU.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> weight(GroupIndex group) const {
        const Group& here = at(group);
        if (here.is_leaf) {
            const Charge charge = world_.charge_of(world_.shapes.at(here.shape));
            return {charge.gpu_milli, charge.milli_cpu};
        }
        std::pair<std::int64_t, std::int64_t> most{0, 0};
        for (const GroupIndex child : here.children) { most = std::max(most, weight(child)); }
        return most;
    }

    // ---- one role

    bool place_leaf(GroupIndex group, const Region& region, Aim aim) {
        const Group& here = at(group);
        const Ask ask = ask_of(here);
        if (world_.pods.concerns(here)) { return place_one_by_one(group, region, ask); }
        const Room& room = world_.room(here.shape);
        const std::int64_t wanted = std::min(ask.most, room_in(room, world_.topology, region));
        if (wanted < (aim == Aim::full ? ask.most : ask.least)) { return false; }
        std::int64_t placed = 0;
        std::uint32_t next = 0;
        // A room may be a little smaller than the sum says (zones share GPUs of unknown zone): what
        // was left over is spread again over the room that is left.
        for (std::int64_t before = -1; placed < wanted && placed > before;) {
            before = placed;
            const Room& now = world_.room(here.shape);
            for (const auto& [position, count] :
                 spread_tasks(now, world_.topology, region, wanted - placed)) {
                for (std::int64_t i = 0; i < count; ++i, ++placed) {
                    if (--tries_left_ < 0) { return false; }
                    next = next_waiting(here, next);
                    if (!trial_.place({id_, here.first_task + next},
                                      world_.topology.node_at(position))) {
                        break;
                    }
                    ++next;
                }
            }
        }
        return placed >= (aim == Aim::full ? wanted : ask.least);
    }

    [[nodiscard]] std::uint32_t next_waiting(const Group& leaf, std::uint32_t from) const {
        while (workload_.tasks[leaf.first_task + from].state != TaskState::waiting) { ++from; }
        return from;
    }

    /// Where tasks mind each other: the best allowed node for one, then again with it in place.
    bool place_one_by_one(GroupIndex group, const Region& region, const Ask& ask) {
        const Trial::Mark mark = trial_.mark();
        const Group& here = at(group);
        std::vector<Position> chosen;
        std::uint32_t next = 0;
        while (static_cast<std::int64_t>(chosen.size()) < ask.most && --tries_left_ >= 0) {
            next = next_waiting(here, next);
            const auto best = best_allowed(here, region);
            if (!best ||
                !trial_.place({id_, here.first_task + next}, world_.topology.node_at(*best))) {
                break;
            }
            chosen.push_back(*best);
            ++next;
        }
        if (static_cast<std::int64_t>(chosen.size()) < ask.least) { return false; }
        // Ranks along the tree: the same nodes again, in order, if the order does no harm.
        std::vector<Position> sorted = chosen;
        std::sort(sorted.begin(), sorted.end());
        if (sorted == chosen || put(here, sorted, mark)) { return true; }
        return put(here, chosen, mark);
    }

    bool put(const Group& here, const std::vector<Position>& positions, Trial::Mark mark) {
        trial_.roll_back_to(mark);
        std::uint32_t next = 0;
        for (const Position position : positions) {
            next = next_waiting(here, next);
            const PodVerdict verdict = world_.pods.judge(here, world_);
            if (verdict.allowed[position] == 0 ||
                !trial_.place({id_, here.first_task + next}, world_.topology.node_at(position))) {
                return false;
            }
            ++next;
        }
        return true;
    }

    std::optional<Position> best_allowed(const Group& here, const Region& region) {
        const Room& room = world_.room(here.shape);
        const PodVerdict verdict = world_.pods.judge(here, world_);
        std::optional<Position> best;
        std::pair<std::int32_t, Score> best_key{};
        for (Position at = region.begin; at < region.end; ++at) {
            if (room.fits(at) == 0 || verdict.allowed[at] == 0 || !region.has(at)) { continue; }
            const std::pair<std::int32_t, Score> key{verdict.preference[at], room.score(at)};
            if (!best || key > best_key) {
                best = at;
                best_key = key;
            }
        }
        return best;
    }

    // ---- levels that are labels outside the tree

    /// Nodes that share a value of the label, value by value, in the order of the first position.
    bool place_by_label(GroupIndex group, const Region& region, const std::string& name) {
        const Symbol key = world_.symbols.find(name);
        std::map<Symbol, std::vector<std::uint8_t>> masks;
        std::vector<Symbol> order;
        for (Position at = region.begin; at < region.end; ++at) {
            const Symbol value =
                find_label(world_.machines[world_.topology.node_at(at).value].labels, key);
            if (!value.is_valid() || !region.has(at)) { continue; }
            std::vector<std::uint8_t>& mask = masks[value];
            if (mask.empty()) {
                mask.assign(world_.topology.size(), 0);
                order.push_back(value);
            }
            mask[at] = 1;
        }
        if (const auto member = member_of(group)) {
            order = {
                find_label(world_.machines[world_.topology.node_at(*member).value].labels, key)};
            if (!masks.contains(order.front())) { return false; }
        }
        for (const Aim aim : {Aim::full, Aim::least}) {
            std::vector<std::pair<std::int64_t, std::size_t>> found;
            for (std::size_t i = 0; i < order.size(); ++i) {
                const Region part{region.begin, region.end, region.level, &masks[order[i]]};
                if (const std::int64_t slack = slack_in(group, part, aim); slack >= 0) {
                    found.emplace_back(aim == Aim::least ? -slack : slack, i);
                }
            }
            std::sort(found.begin(), found.end());
            if (found.size() > domain_tries_max) { found.resize(domain_tries_max); }
            for (const auto& [slack, i] : found) {
                const Region part{region.begin, region.end, region.level, &masks[order[i]]};
                if (try_region(group, part, aim)) { return true; }
            }
        }
        return false;
    }

    World& world_;
    Trial& trial_;
    WorkloadId id_;
    const Workload& workload_;
    Goal goal_;
    std::int64_t tries_left_ = 0;
};

}  // namespace

std::optional<std::int32_t> resolve_level(const World& world, std::string_view name) {
    if (const auto level = world.topology.find_level(name)) {
        return static_cast<std::int32_t>(*level);
    }
    const Symbol key = world.symbols.find(name);
    if (!key.is_valid()) { return std::nullopt; }
    for (Position at = 0; at < world.topology.size(); ++at) {
        if (find_label(world.machines[world.topology.node_at(at).value].labels, key).is_valid()) {
            return level_is_label;
        }
    }
    return std::nullopt;
}

bool place_workload(World& world, Trial& trial, WorkloadId id, Goal goal) {
    // A foreign bind may have it run while others of its tasks leave: nobody may take their place.
    if (world.workloads[id.value].leaving > 0) { return false; }
    Placer placer(world, trial, id, goal);
    if (goal != Goal::grow) { return placer.place_root(); }
    placer.grow(0, placer.whole());
    return true;
}

}  // namespace muster
