#include "engine/value.h"

#include "base/assert.h"
#include "engine/model_load.h"
#include "engine/stock.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace muster {

namespace {

constexpr std::int64_t rank_weight_milli = 1200;
constexpr std::int64_t stranded_percent = 70;
constexpr std::int64_t block_weight_milli = 30;
constexpr std::int64_t price_load_percent_max = 120;

// With churn at 100 %, found on the openb pods with their run times (sim/reference/departures.h).
constexpr std::int64_t churn_hollow_percent = 33;
constexpr std::int64_t churn_block_milli = 33;
constexpr std::int64_t churn_whole_milli = 1000;

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

/// The CPU that requests for several GPUs need, ascending. Of too many the least asked for gives
/// way to the next higher, so that a step never promises too little CPU.
std::vector<std::int64_t> block_cpu_steps(std::span<const MixClass> mix) {
    std::map<std::int64_t, __int128> demand;
    for (const MixClass& job : mix) {
        if (job.gpu_count < 2) { continue; }
        demand[job.milli_cpu] += static_cast<__int128>(job.weight) * gpu_demand(job);
    }
    while (demand.size() > cpu_steps_max) {
        auto least = demand.begin();
        for (auto at = demand.begin(); at != std::prev(demand.end()); ++at) {
            if (at->second < least->second) { least = at; }
        }
        std::next(least)->second += least->second;
        demand.erase(least);
    }
    std::vector<std::int64_t> steps;
    for (const auto& [milli_cpu, sum] : demand) { steps.push_back(milli_cpu); }
    return steps;
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

ValueModel::ValueModel(std::span<const MixClass> declared,
                       std::span<const std::int64_t> capacity_milli_by_model, Churn churn) {
    MUSTER_ASSERT(capacity_milli_by_model.size() <= gpu_models_max);
    std::vector<MixClass> mix;
    for (const MixClass& job : declared) { mix.push_back(bounded(job)); }
    if (total_demand(mix) == 0) { mix.assign(std::begin(expected), std::end(expected)); }

    const std::int64_t percent = std::clamp(churn.percent, 0, 100);
    rank_weight_ = rank_weight_milli * value_scale * (100 - percent) / 100;
    build_worth(mix, percent);
    build_blocks(mix, percent);
    const std::vector<std::int64_t> prices = build_prices(mix, capacity_milli_by_model);
    for (std::size_t i = 0; i <= capacity_milli_by_model.size(); ++i) {
        const bool is_named = i < capacity_milli_by_model.size();
        models_.push_back({.knees = build_knees(mix, is_named ? std::uint64_t{1} << i : 0),
                           .price = is_named ? prices[i] : 0});
    }
}

void ValueModel::build_worth(std::span<const MixClass> mix, std::int64_t churn) {
    std::vector<SizeDemand> sizes;
    for (const MixClass& job : mix) {
        if (job.gpu_milli > 0) {
            sizes.push_back({.milli = job.gpu_milli, .demand = job.weight * job.gpu_count});
        }
    }
    const StockWorth stock = stock_worth(sizes);
    const std::int64_t hollow = churn * churn_hollow_percent;  // of 10,000
    for (std::size_t r = 0; r < worth_.size(); ++r) {
        const auto square = static_cast<std::int64_t>(r * r) * value_scale / gpu_milli_whole;
        const std::int64_t stocked =
            stock.worth[r] * gpu_milli_whole * value_scale / StockWorth::worth_one;
        worth_[r] = (stocked * (10'000 - hollow) + square * hollow) / 10'000;
    }
}

void ValueModel::build_blocks(std::span<const MixClass> mix, std::int64_t churn) {
    const __int128 total = total_demand(mix);
    MUSTER_ASSERT(total > 0);
    std::array<__int128, gpus_per_node_max + 1> sum{};
    for (const MixClass& job : mix) {
        if (job.gpu_count < 2) { continue; }
        const __int128 demand = static_cast<__int128>(job.weight) * gpu_demand(job);
        for (std::int32_t full = 0; full <= gpu_count_max; ++full) {
            sum[static_cast<std::size_t>(full)] +=
                demand * (2 * job.gpu_count * (full / job.gpu_count) - full);
        }
    }
    BlockRow row{};
    for (std::size_t full = 0; full < row.size(); ++full) {
        const auto square = static_cast<std::int64_t>(full * full);
        row[full] = static_cast<Value>(sum[full] * block_weight_milli * value_scale / total) +
                    square * churn_block_milli * value_scale * churn / 100;
    }
    blocks_.assign(1, row);
    if (churn > 0) { build_whole(mix, churn); }
}

/// Adds what a node is worth that can serve a request for several GPUs right now.
void ValueModel::build_whole(std::span<const MixClass> mix, std::int64_t churn) {
    __int128 total = 0;
    for (const MixClass& job : mix) {
        if (job.gpu_count > 1) { total += static_cast<__int128>(job.weight) * gpu_demand(job); }
    }
    if (total == 0) { return; }
    cpu_steps_ = block_cpu_steps(mix);
    blocks_.resize(cpu_steps_.size() + 1, blocks_[0]);
    for (const MixClass& job : mix) {
        if (job.gpu_count < 2) { continue; }
        const __int128 demand = static_cast<__int128>(job.weight) * gpu_demand(job);
        const auto worth =
            static_cast<Value>(demand * churn_whole_milli * value_scale * churn / (total * 100));
        const auto step = std::lower_bound(cpu_steps_.begin(), cpu_steps_.end(), job.milli_cpu);
        for (auto i = static_cast<std::size_t>(step - cpu_steps_.begin()) + 1; i < blocks_.size();
             ++i) {
            for (auto full = static_cast<std::size_t>(job.gpu_count); full < blocks_[i].size();
                 ++full) {
                blocks_[i][full] += worth;
            }
        }
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
    MUSTER_ASSERT(total > 0);
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
    MUSTER_ASSERT(total > 0);
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

Value ValueModel::rank_cost(RankOf place) const {
    MUSTER_ASSERT(place.rank < place.nodes);
    constexpr std::uint64_t narrow =
        UINT32_MAX;  // then 64 bits hold the product, and divide faster
    if (place.nodes <= narrow) {
        return rank_weight_ * static_cast<Value>(place.rank) / static_cast<Value>(place.nodes);
    }
    return static_cast<Value>(static_cast<__int128>(rank_weight_) * place.rank / place.nodes);
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
    return node.worth - stranded(node) + blocks(node) + price(node.model) * node.free_milli;
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

Value ValueModel::blocks(const NodeSum& node) const {
    std::size_t reached = 0;
    while (reached < cpu_steps_.size() && cpu_steps_[reached] <= node.milli_cpu) { ++reached; }
    return blocks_[reached][static_cast<std::size_t>(std::clamp(node.full, 0, gpu_count_max))];
}

Value ValueModel::price(std::uint32_t model) const { return at(model).price; }

}  // namespace muster
