#include "engine/value.h"

#include "base/assert.h"
#include "engine/model_load.h"
#include "engine/stock.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace muster {

namespace {

constexpr std::int64_t rank_weight_milli = 1200;
constexpr std::int64_t stranded_percent = 70;
constexpr std::int64_t block_weight_milli = 30;
constexpr std::int64_t price_load_percent_max = 120;

constexpr std::int64_t ratio_scale = std::int64_t{1} << 20;
constexpr std::int64_t share_scale = std::int64_t{1} << 24;
constexpr std::int64_t ratio_max =
    64 * ratio_scale;  // so little CPU per GPU that it never strands any
constexpr std::int32_t gpu_count_max = static_cast<std::int32_t>(gpus_per_node_max);
constexpr std::int64_t weight_max = std::int64_t{1} << 40;

/// Bounds every field, so that no product below can overflow.
MixClass bounded(MixClass job) {
    job.milli_cpu = std::clamp<std::int64_t>(job.milli_cpu, 0, milli_cpu_max);
    job.gpu_milli =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(job.gpu_milli, 0, gpu_milli_whole));
    job.gpu_count = std::clamp<std::int32_t>(job.gpu_count, 0, gpu_count_max);
    job.weight = std::clamp<std::int64_t>(job.weight, 0, weight_max);
    if (job.gpu_milli == 0 || job.gpu_count == 0) { job.gpu_milli = job.gpu_count = 0; }
    return job;
}

std::int64_t gpu_demand(const MixClass& job) {
    return static_cast<std::int64_t>(job.gpu_milli) * job.gpu_count;
}

__int128 total_weight(std::span<const MixClass> mix) {
    __int128 total = 0;
    for (const MixClass& job : mix) { total += job.weight; }
    return total;
}

__int128 total_demand(std::span<const MixClass> mix) {
    __int128 total = 0;
    for (const MixClass& job : mix) {
        total += static_cast<__int128>(job.weight) * gpu_demand(job);
    }
    return total;
}

Value sixth_power(Value load) {
    Value power = value_scale;
    for (int i = 0; i < 6; ++i) { power = power * load / value_scale; }
    return power;
}

constexpr MixClass expected[] = {
    {.milli_cpu = 8000, .gpu_milli = 1000, .gpu_count = 1, .weight = 40},
    {.milli_cpu = 4000, .gpu_milli = 500, .gpu_count = 1, .weight = 16},
    {.milli_cpu = 2000, .gpu_milli = 250, .gpu_count = 1, .weight = 16},
    {.milli_cpu = 16000, .gpu_milli = 1000, .gpu_count = 2, .weight = 8},
    {.milli_cpu = 32000, .gpu_milli = 1000, .gpu_count = 4, .weight = 4},
    {.milli_cpu = 64000, .gpu_milli = 1000, .gpu_count = 8, .weight = 4},
};

}  // namespace

std::span<const MixClass> default_mix() { return expected; }

Value rank_cost(RankOf place) {
    MUSTER_ASSERT(place.rank < place.nodes || place.rank == 0);
    if (place.nodes == 0) { return 0; }
    return static_cast<Value>(static_cast<unsigned __int128>(place.rank) * rank_weight_milli *
                              value_scale / place.nodes);
}

ValueModel::ValueModel(std::span<const MixClass> declared,
                       std::span<const std::int64_t> capacity_milli_by_model) {
    MUSTER_ASSERT(capacity_milli_by_model.size() <= gpu_models_max);
    std::vector<MixClass> mix;
    for (const MixClass& job : declared) { mix.push_back(bounded(job)); }
    if (total_demand(mix) == 0) { mix.assign(std::begin(expected), std::end(expected)); }

    build_worth(mix);
    build_blocks(mix);
    const std::vector<std::int64_t> prices = build_prices(mix, capacity_milli_by_model);
    for (std::size_t i = 0; i <= capacity_milli_by_model.size(); ++i) {
        const bool is_named = i < capacity_milli_by_model.size();
        models_.push_back({.knees = build_knees(mix, is_named ? std::uint64_t{1} << i : 0),
                           .price = is_named ? prices[i] : 0});
    }
}

void ValueModel::build_worth(std::span<const MixClass> mix) {
    std::vector<SizeDemand> sizes;
    for (const MixClass& job : mix) {
        if (job.gpu_milli > 0) {
            sizes.push_back({.milli = job.gpu_milli, .demand = job.weight * job.gpu_count});
        }
    }
    const StockWorth stock = stock_worth(sizes);
    for (std::size_t r = 0; r < worth_.size(); ++r) {
        worth_[r] = stock.worth[r] * gpu_milli_whole * value_scale / StockWorth::worth_one;
    }
}

void ValueModel::build_blocks(std::span<const MixClass> mix) {
    const __int128 total = total_demand(mix);
    std::array<__int128, gpus_per_node_max + 1> sum{};
    for (const MixClass& job : mix) {
        if (job.gpu_count < 2) { continue; }
        const __int128 demand = static_cast<__int128>(job.weight) * gpu_demand(job);
        for (std::int32_t full = 0; full <= gpu_count_max; ++full) {
            sum[static_cast<std::size_t>(full)] +=
                demand * (2 * job.gpu_count * (full / job.gpu_count) - full);
        }
    }
    for (std::size_t full = 0; full < blocks_.size(); ++full) {
        blocks_[full] = static_cast<Value>(sum[full] * block_weight_milli * value_scale / total);
    }
}

std::vector<Value> ValueModel::build_prices(std::span<const MixClass> mix,
                                            std::span<const std::int64_t> capacity) {
    std::vector<ModelDemand> demands;
    for (const MixClass& job : mix) {
        if (job.models == any_model || job.gpu_milli == 0) { continue; }
        demands.push_back({.models = job.models, .milli = job.weight * gpu_demand(job)});
    }
    // The mix says proportions, not amounts: all of it together is taken to ask for all the
    // capacity.
    __int128 total_capacity = 0;
    for (const std::int64_t milli : capacity) { total_capacity += milli; }
    const __int128 total = total_demand(mix);
    for (ModelDemand& demand : demands) {
        demand.milli = static_cast<std::int64_t>(demand.milli * total_capacity / total);
    }
    std::vector<Value> prices;
    for (const std::int64_t load : model_loads(demands, capacity)) {
        const Value most = value_scale * price_load_percent_max / 100;
        prices.push_back(
            sixth_power(std::min(most, static_cast<Value>(load * value_scale / load_one))));
    }
    return prices;
}

std::vector<ValueModel::Knee> ValueModel::build_knees(std::span<const MixClass> mix,
                                                      std::uint64_t model) {
    struct Kink {
        std::int64_t ratio;
        std::int64_t weight;
    };
    std::vector<Kink> kinks;
    for (const MixClass& job : mix) {
        const bool is_allowed = job.models == any_model || (job.models & model) != 0;
        if (!is_allowed || job.gpu_milli == 0 || job.milli_cpu == 0 || job.weight == 0) {
            continue;
        }
        const std::int64_t ratio = gpu_demand(job) * ratio_scale / job.milli_cpu;
        if (ratio < ratio_max) { kinks.push_back({.ratio = ratio, .weight = job.weight}); }
    }
    std::sort(kinks.begin(), kinks.end(),
              [](const Kink& a, const Kink& b) { return a.ratio < b.ratio; });

    const __int128 total = total_weight(mix) * 100;
    __int128 share = 0;
    __int128 slope = 0;
    std::vector<Knee> knees;
    const auto end_prefix = [&](std::int64_t ratio) {
        knees.push_back(
            {.ratio = ratio,
             .share = static_cast<std::int64_t>(share * stranded_percent * share_scale / total),
             .slope = static_cast<std::int64_t>(slope * stranded_percent * value_scale *
                                                (share_scale / ratio_scale) / total)});
    };
    for (const Kink& kink : kinks) {
        if (knees.empty() || knees.back().ratio != kink.ratio) { end_prefix(kink.ratio); }
        share += kink.weight;
        slope += static_cast<__int128>(kink.weight) * kink.ratio;
    }
    end_prefix(std::numeric_limits<std::int64_t>::max());
    return knees;
}

NodeSum ValueModel::sum(const NodeOpen& node) const {
    NodeSum sum{.milli_cpu = node.milli_cpu, .model = node.model};
    for (const std::int32_t free : node.gpu_free_milli) {
        sum.worth += remainder(free);
        sum.free_milli += free;
        sum.full += free >= gpu_milli_whole ? 1 : 0;
    }
    return sum;
}

Value ValueModel::value(const NodeSum& node) const {
    return node.worth - stranded(node) + blocks(node.full) + price(node.model) * node.free_milli;
}

Value ValueModel::stranded(const NodeSum& node) const {
    const std::int64_t milli_cpu = std::clamp<std::int64_t>(node.milli_cpu, 0, milli_cpu_max);
    const std::int64_t worth = node.worth * (ratio_scale / value_scale);
    const std::vector<Knee>& knees = at(node.model).knees;
    // The first class that the node's CPU still serves in full; its prefix is what strands.
    const Knee* knee = knees.data();
    for (std::size_t left = knees.size() - 1; left > 0;) {
        const std::size_t half = (left + 1) / 2;
        if (knee[half - 1].ratio * milli_cpu < worth) {
            knee += half;
            left -= half;
        } else {
            left = half - 1;
        }
    }
    return std::max<Value>(0, node.worth * knee->share - milli_cpu * knee->slope) / share_scale;
}

Value ValueModel::blocks(std::int32_t full) const {
    return blocks_[static_cast<std::size_t>(std::clamp(full, 0, gpu_count_max))];
}

Value ValueModel::price(std::uint32_t model) const { return at(model).price; }

}  // namespace muster
