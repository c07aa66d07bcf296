#include "engine/devices.h"

#include "base/assert.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

namespace muster {
namespace {

constexpr std::size_t fast_zones_max = 4;

std::uint64_t lowest(std::uint64_t mask, int count) {
    std::uint64_t rest = mask;
    for (int i = 0; i < count; ++i) { rest &= rest - 1; }
    return mask & ~rest;
}

std::int64_t pairs_of(std::uint64_t mask) {
    const std::int64_t count = std::popcount(mask);
    return count * (count - 1) / 2;
}

/// One free set and what is asked of it; compares subsets by the order that the header states.
class Choice {
public:
    Choice(const NodeDevices& node, std::uint64_t free_mask, int count, bool near_nic)
        : node_(node),
          free_(free_mask),
          count_(count),
          near_nic_(near_nic) {
        for (std::uint64_t rest = free_; rest != 0; rest &= rest - 1) {
            gpus_[static_cast<std::size_t>(free_count_++)] = std::countr_zero(rest);
        }
        for (int i = 0; i < free_count_; ++i) {
            std::int64_t sum = 0;
            for (int k = 0; k < free_count_; ++k) {
                if (k != i) { sum += worth(gpu(i), gpu(k)); }
            }
            degree_[static_cast<std::size_t>(i)] = sum;
        }
    }

    std::uint64_t exhaustive() {
        extend(0, {});
        return best_.mask;
    }

    std::uint64_t greedy() {
        for (int seed = 0; seed < free_count_; ++seed) { offer(grow(seed)); }
        return best_.mask;
    }

private:
    struct Set {
        std::uint64_t mask = 0;
        int size = 0;
        int worst = std::numeric_limits<int>::max();
        std::int64_t sum = 0;
        std::int64_t degree = 0;  // of its members, over all free GPUs
    };

    [[nodiscard]] int gpu(int index) const { return gpus_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] int worth(int a, int b) const {
        return node_.worth[static_cast<std::size_t>(a * node_.gpu_count + b)];
    }

    [[nodiscard]] Set with(Set set, int index) const {
        for (std::uint64_t rest = set.mask; rest != 0; rest &= rest - 1) {
            const int value = worth(gpu(index), std::countr_zero(rest));
            set.worst = std::min(set.worst, value);
            set.sum += value;
        }
        set.mask |= std::uint64_t{1} << gpu(index);
        set.size += 1;
        set.degree += degree_[static_cast<std::size_t>(index)];
        return set;
    }

    void extend(int from, const Set& set) {
        if (set.size == count_) { return offer(set); }
        for (int i = from; i <= free_count_ - (count_ - set.size); ++i) {
            const Set next = with(set, i);
            if (has_best_ && next.worst < best_.worst) { continue; }
            extend(i + 1, next);
        }
    }

    [[nodiscard]] Set grow(int seed) const {
        Set set = with({}, seed);
        while (set.size < count_) {
            int best = -1;
            Set best_set;
            const auto rank = [&](int index, const Set& grown) {
                const std::uint64_t bit = std::uint64_t{1} << gpu(index);
                const bool is_near = near_nic_ && (node_.near_nic & bit) != 0;
                return std::tuple(grown.worst, grown.sum, -zone_count(grown.mask), is_near,
                                  -grown.degree, -index);
            };
            for (int i = 0; i < free_count_; ++i) {
                if ((set.mask >> gpu(i) & 1) != 0) { continue; }
                const Set grown = with(set, i);
                if (best < 0 || rank(i, grown) > rank(best, best_set)) {
                    best = i;
                    best_set = grown;
                }
            }
            set = best_set;
        }
        return set;
    }

    void offer(const Set& set) {
        if (has_best_) {
            const auto paths = std::tuple(set.worst, set.sum);
            const auto best_paths = std::tuple(best_.worst, best_.sum);
            if (paths < best_paths) { return; }
            if (paths == best_paths && rest_of(set) <= rest_of(best_)) { return; }
        }
        best_ = set;
        has_best_ = true;
    }

    using Rest = std::tuple<int, int, int, std::int64_t, std::int64_t, std::uint64_t>;

    /// Everything after the paths; larger is better.
    [[nodiscard]] Rest rest_of(const Set& set) const {
        const std::uint64_t stays = free_ & ~set.mask;
        const int near = near_nic_ ? std::popcount(set.mask & node_.near_nic) : 0;
        int opened = 0;
        for (const std::uint64_t group : node_.groups) {
            opened += static_cast<int>((group & ~free_) == 0 && (group & set.mask) != 0);
        }
        std::int64_t zone_pairs = 0;
        for (const std::uint64_t zone : node_.zones) { zone_pairs += pairs_of(stays & zone); }
        return {-zone_count(set.mask), near, -opened, set.sum - set.degree, zone_pairs, ~set.mask};
    }

    [[nodiscard]] int zone_count(std::uint64_t mask) const {
        int count = 0;
        for (const std::uint64_t zone : node_.zones) {
            count += static_cast<int>((zone & mask) != 0);
        }
        return count;
    }

    const NodeDevices& node_;
    std::uint64_t free_;
    int count_;
    bool near_nic_;
    std::array<int, gpus_per_node_max> gpus_{};
    int free_count_ = 0;
    std::array<std::int64_t, gpus_per_node_max> degree_{};
    Set best_;
    bool has_best_ = false;
};

/// All paths alike: only zones matter, and it does not matter which GPUs of a zone are taken.
bool is_fast(const NodeDevices& node, std::uint64_t free_mask, bool near_nic) {
    const bool is_nic_choice =
        near_nic && (free_mask & node.near_nic) != 0 && (free_mask & ~node.near_nic) != 0;
    return node.is_uniform && node.zones.size() <= fast_zones_max && !is_nic_choice;
}

/// The same order as Choice, computed from counts per zone: the fewest zones, then the fewest
/// untouched ones. All zones but one are emptied, since what stays is worth most when it stays
/// together.
std::uint64_t choose_uniform(const NodeDevices& node, std::uint64_t free_mask, int count) {
    if (node.zones.size() <= 1) { return lowest(free_mask, count); }

    std::array<std::uint64_t, fast_zones_max> free_in{};
    const std::size_t zone_count = node.zones.size();
    std::int64_t pairs_total = 0;
    for (std::size_t z = 0; z < zone_count; ++z) {
        free_in[z] = free_mask & node.zones[z];
        pairs_total += pairs_of(free_in[z]);
    }
    using Rank = std::tuple<int, int, std::int64_t, std::uint64_t>;  // smaller is better
    Rank best{std::numeric_limits<int>::max(), 0, 0, 0};
    for (std::uint32_t chosen = 1; chosen < (1U << zone_count); ++chosen) {
        const int size = std::popcount(chosen);
        if (size > std::get<0>(best)) { continue; }
        std::uint64_t all = 0;
        int opened = 0;
        std::int64_t pairs_lost = 0;
        for (std::size_t z = 0; z < zone_count; ++z) {
            if ((chosen >> z & 1) == 0) { continue; }
            all |= free_in[z];
            pairs_lost += pairs_of(free_in[z]);
            opened +=
                static_cast<int>(free_in[z] == node.zones[z] && std::popcount(free_in[z]) > 1);
        }
        const int stays = std::popcount(all) - count;
        if (stays < 0) { continue; }
        const std::int64_t pairs_stay = std::int64_t{stays} * (stays - 1) / 2;
        for (std::size_t z = 0; z < zone_count; ++z) {
            const int here = std::popcount(free_in[z]);
            if ((chosen >> z & 1) == 0 || here < stays) { continue; }
            const std::uint64_t mask = (all & ~free_in[z]) | lowest(free_in[z], here - stays);
            best = std::min(best, Rank{size, opened, pairs_lost - pairs_stay - pairs_total, mask});
        }
    }
    return std::get<3>(best);
}

std::uint64_t subsets(int from, int count) {
    std::uint64_t result = 1;
    for (int i = 1; i <= std::min(count, from - count); ++i) {
        result = result * static_cast<std::uint64_t>(from - i + 1) / static_cast<std::uint64_t>(i);
        if (result > device_subsets_max) { return result; }
    }
    return result;
}

/// The zone of a single-numa-node placement; −2 when there is none.
std::int8_t pick_zone(const NodeDevices& node, std::uint64_t free_mask, int count,
                      std::span<const std::int64_t> zone_free_milli_cpu, std::int64_t milli_cpu) {
    constexpr std::int8_t none = -2;
    const bool is_cpu_tied = milli_cpu > 0;
    const bool is_gpu_tied =
        count > 0 && node.zones.size() > (node.unknown_zone_gpus != 0 ? 1U : 0U);
    if (!is_cpu_tied && !is_gpu_tied) {
        return std::popcount(free_mask) >= count ? std::int8_t{-1} : none;
    }

    std::int8_t best = none;
    std::tuple<int, std::int64_t> best_left;
    for (std::size_t z = 0; z < numa_zones_max; ++z) {
        const std::int64_t cpu = z < zone_free_milli_cpu.size() ? zone_free_milli_cpu[z] : 0;
        const std::uint64_t gpus = free_mask & (node.zone_gpus[z] | node.unknown_zone_gpus);
        if (is_cpu_tied && cpu < milli_cpu) { continue; }
        if (!is_cpu_tied && node.zone_gpus[z] == 0) { continue; }
        if (std::popcount(gpus) < count) { continue; }
        const std::tuple left(std::popcount(gpus) - count, is_cpu_tied ? cpu - milli_cpu : 0);
        if (best == none || left < best_left) {
            best = static_cast<std::int8_t>(z);
            best_left = left;
        }
    }
    return best;
}

std::uint64_t zone_mask(const NodeDevices& node, std::int8_t zone) {
    if (zone < 0) { return ~std::uint64_t{0}; }
    return node.zone_gpus[static_cast<std::size_t>(zone)] | node.unknown_zone_gpus;
}

}  // namespace

std::uint64_t choose_whole(const NodeDevices& node, std::uint64_t free_mask, int count,
                           bool near_nic) {
    const int free_count = std::popcount(free_mask);
    MUSTER_ASSERT(node.gpu_count == 64 || free_mask >> node.gpu_count == 0);
    if (count <= 0 || count > free_count) { return 0; }
    if (count == free_count) { return free_mask; }
    if (is_fast(node, free_mask, near_nic)) { return choose_uniform(node, free_mask, count); }
    Choice choice(node, free_mask, count, near_nic);
    return subsets(free_count, count) <= device_subsets_max ? choice.exhaustive() : choice.greedy();
}

std::optional<NumaChoice> choose_single_numa(const NodeDevices& node, std::uint64_t free_mask,
                                             int count,
                                             std::span<const std::int64_t> zone_free_milli_cpu,
                                             std::int64_t milli_cpu, bool near_nic) {
    const std::int8_t zone = pick_zone(node, free_mask, count, zone_free_milli_cpu, milli_cpu);
    if (zone < -1) { return std::nullopt; }
    return NumaChoice{zone, choose_whole(node, free_mask & zone_mask(node, zone), count, near_nic)};
}

std::uint32_t DeviceTable::intern(const NodeSpec& node) {
    NodeDevices devices = compile_devices(node);
    const auto found = std::find(nodes_.begin(), nodes_.end(), devices);
    if (found != nodes_.end()) { return static_cast<std::uint32_t>(found - nodes_.begin()); }
    nodes_.push_back(std::move(devices));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint64_t DeviceTable::choose_whole(std::uint32_t id, std::uint64_t free_mask, int count,
                                        bool near_nic) {
    MUSTER_ASSERT(id < nodes_.size());
    const NodeDevices& node = nodes_[id];
    const int free_count = std::popcount(free_mask);
    if (count <= 0 || count >= free_count || is_fast(node, free_mask, near_nic)) {
        return muster::choose_whole(node, free_mask, count, near_nic);
    }
    if (answers_.empty()) { answers_.resize(device_answers_max); }
    std::uint64_t hash = free_mask * 0x9e3779b97f4a7c15U;
    hash ^=
        (std::uint64_t{id} << 8 | static_cast<std::uint64_t>(count) << 1 | (near_nic ? 1U : 0U)) *
        0xff51afd7ed558ccdU;
    Answer& answer = answers_[(hash ^ hash >> 32) % device_answers_max];
    if (answer.free_mask != free_mask || answer.id != id || answer.count != count ||
        answer.near_nic != near_nic) {
        answer = {.free_mask = free_mask,
                  .gpus = muster::choose_whole(node, free_mask, count, near_nic),
                  .id = id,
                  .count = static_cast<std::uint8_t>(count),
                  .near_nic = near_nic};
    }
    return answer.gpus;
}

std::optional<NumaChoice> DeviceTable::choose_single_numa(
    std::uint32_t id, std::uint64_t free_mask, int count,
    std::span<const std::int64_t> zone_free_milli_cpu, std::int64_t milli_cpu, bool near_nic) {
    MUSTER_ASSERT(id < nodes_.size());
    const std::int8_t zone =
        pick_zone(nodes_[id], free_mask, count, zone_free_milli_cpu, milli_cpu);
    if (zone < -1) { return std::nullopt; }
    return NumaChoice{zone,
                      choose_whole(id, free_mask & zone_mask(nodes_[id], zone), count, near_nic)};
}

int DeviceTable::distance(std::uint32_t id, std::uint64_t free_mask, int count, bool near_nic) {
    if (count < 2 || nodes_[id].gpu_count < 2) { return 0; }
    const auto size = static_cast<std::size_t>(nodes_[id].gpu_count);
    std::uint16_t worst = nodes_[id].worth[1];  // of the first two, as of all when they are alike
    if (!nodes_[id].is_uniform) {
        worst = UINT16_MAX;
        const std::uint64_t chosen = choose_whole(id, free_mask, count, near_nic);
        for (std::uint64_t rest = chosen; rest != 0; rest &= rest - 1) {
            const auto a = static_cast<std::size_t>(std::countr_zero(rest));
            for (std::uint64_t other = rest & (rest - 1); other != 0; other &= other - 1) {
                worst = std::min(
                    worst,
                    nodes_[id].worth[a * size + static_cast<std::size_t>(std::countr_zero(other))]);
            }
        }
    }
    if (worst == 0 || worst > link_worth(Link::pix, 0)) { return 0; }
    if (worst >= link_worth(Link::pxb, 0)) { return 1; }
    return worst >= link_worth(Link::phb, 0) ? 2 : 3;
}

}  // namespace muster
