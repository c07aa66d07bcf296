// The value of what stays open on a node: what its free GPU, CPU and whole blocks are still good
// for, given the mix of jobs that arrive. Placing is choosing the node (and the GPU in it) that
// loses least of it. With r_i the free milli-GPU of GPU i and R their sum,
//
//   V = sum u(r_i) - 0.7 S + 30 K + price R
//
// - u: worth of a remainder, the best knapsack of requests priced by cutting stock (stock.h).
// - S: GPU stranded for lack of CPU, the sum over the GPU classes m allowed on the node of
//   p_m max(0, sum u(r_i) - c g_m / cpu_m), where c is the free CPU.
// - K: whole blocks, the sum over request sizes n > 1 of share_n (2 n floor(full / n) - full),
//   where full counts the wholly free GPUs and share_n is by GPU demand.
// - price: min(load, 1.2)^6 of the node's model; load is the demand that names models, spread
//   evenly over the capacity of those models (model_load.h).
//
// That is for work that stays. Where work leaves again, a node that is nearly empty may soon be
// whole, and what counts is to fill the fullest first. With churn h from 0 (nothing leaves) to 1,
//
// - u becomes (1 - h/3) u + h/3 r^2 / 1000: emptier GPUs are worth more than their share;
// - 30 K gains h (33 full^2 + 1000 B), with B the share of the requests for several GPUs, by GPU
//   demand, for which the node has both the GPUs and the CPU right now;
// - the rank term becomes (1 - h) of itself.
//
// A placement scores V_after - V_before - rank_cost(its node), the highest wins, ties to the
// smallest rank; the rank term keeps equal nodes from being opened all at once. Whoever scores
// keeps V_before of each node and, per candidate, changes the sums for the GPUs taken: a few table
// look-ups, no loop over GPUs or classes.
//
//   NodeSum after = before;  // before = value_model.sum(node)
//   after.worth += value_model.remainder(free - asked) - value_model.remainder(free);
//   after.free_milli -= asked;
//   after.full -= free == gpu_milli_whole ? 1 : 0;
//   after.milli_cpu -= milli_cpu_asked;
//   gain = value_model.value(after) - value_model.value(before)
//          - value_model.rank_cost({.rank = rank, .nodes = nodes});
//
// All integers, in milli-GPU × value_scale. A ValueModel is immutable and pure: build another when
// the mix or the capacity has changed. Source of the formula: a study on the openb traces.
#pragma once

#include "model/limits.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster {

/// One unit of Value is 1/value_scale of a milli-GPU.
using Value = std::int64_t;
inline constexpr Value value_scale = 1024;

inline constexpr std::size_t cpu_steps_max = 16;  // CPU needs of blocks that are told apart
inline constexpr std::uint64_t any_model = ~std::uint64_t{0};

/// Requests that look alike, and how many of them come.
struct MixClass {
    std::int64_t milli_cpu = 0;
    std::int32_t gpu_milli = 0;  // of each GPU; 0 = needs no GPU, above 1,000 counts as 1,000
    std::int32_t gpu_count = 0;
    std::uint64_t models = any_model;  // bit i: model i is allowed
    std::int64_t weight = 0;           // arrivals; only proportions matter

    auto operator<=>(const MixClass&) const = default;
};

/// What V asks of a node. `free_milli` holds one number per healthy GPU, 0 to 1,000.
struct NodeOpen {
    std::int64_t milli_cpu = 0;
    std::span<const std::int32_t> gpu_free_milli;
    std::uint32_t model = 0;  // gpu_models_max or more: a model that nobody names
};

/// The same, summed over the GPUs.
struct NodeSum {
    Value worth = 0;  // Σ remainder(r_i)
    std::int64_t free_milli = 0;
    std::int64_t milli_cpu = 0;
    std::int32_t full = 0;  // GPUs with r_i ≥ 1,000
    std::uint32_t model = 0;
};

struct RankOf {
    std::uint64_t rank = 0;
    std::uint64_t nodes = 1;
};

/// How much of the work leaves again, 0 to 100; Mix::churn() measures it.
struct Churn {
    std::int32_t percent = 0;

    bool operator==(const Churn&) const = default;
};

/// What is expected when nothing has been seen or declared: whole GPUs in ones, twos, fours and
/// eights, halves, quarters.
[[nodiscard]] std::span<const MixClass> default_mix();

class ValueModel {
public:
    ValueModel() : ValueModel(default_mix(), {}) {}
    /// `capacity_milli_by_model[i]`: GPU of model i in the cluster. A mix without GPU requests
    /// becomes the default mix.
    ValueModel(std::span<const MixClass> mix, std::span<const std::int64_t> capacity_milli_by_model,
               Churn churn = {});

    /// u(r), non-decreasing; u(0) = 0, u(1,000) = 1,000·value_scale.
    [[nodiscard]] Value remainder(std::int64_t free_milli) const {
        return worth_[static_cast<std::size_t>(free_milli < 0                 ? 0
                                               : free_milli > gpu_milli_whole ? gpu_milli_whole
                                                                              : free_milli)];
    }
    [[nodiscard]] NodeSum sum(const NodeOpen& node) const;
    [[nodiscard]] Value value(const NodeSum& node) const;
    [[nodiscard]] Value value(const NodeOpen& node) const { return value(sum(node)); }
    /// 1,200·rank/nodes milli-GPU, less with churn.
    [[nodiscard]] Value rank_cost(RankOf place) const;

    /// The parts, for explanations and tests.
    [[nodiscard]] Value stranded(const NodeSum& node) const;  // 0.7 S
    [[nodiscard]] Value blocks(const NodeSum& node) const;    // 30 K
    [[nodiscard]] Value price(std::uint32_t model) const;     // of one milli-GPU

private:
    /// S is piecewise linear: with the classes in ascending GPU per CPU, those with Σu > c·ratio
    /// are a prefix, and S = Σu·share − c·slope with the prefix's sums.
    struct Knee {
        std::int64_t ratio =
            0;  // milli-GPU per milli-CPU × ratio_scale, of the class that ends this prefix
        std::int64_t share = 0;  // 0.7·Σ p_m, × share_scale, of the classes before it
        std::int64_t slope =
            0;  // 0.7·Σ p_m·ratio_m × value_scale × share_scale, of the classes before it
    };
    struct Model {
        std::vector<Knee> knees;  // the last one has an unreachable ratio
        Value price = 0;
    };

    void build_worth(std::span<const MixClass> mix, std::int64_t churn);
    void build_blocks(std::span<const MixClass> mix, std::int64_t churn);
    void build_whole(std::span<const MixClass> mix, std::int64_t churn);
    static std::vector<Value> build_prices(std::span<const MixClass> mix,
                                           std::span<const std::int64_t> capacity);
    static std::vector<Knee> build_knees(std::span<const MixClass> mix, std::uint64_t model);

    [[nodiscard]] const Model& at(std::uint32_t model) const {
        return models_[model < models_.size() - 1 ? model : models_.size() - 1];
    }

    std::array<Value, static_cast<std::size_t>(gpu_milli_whole) + 1> worth_{};
    /// Blocks by the number of cpu_steps_ that the node's CPU reaches and by its full GPUs.
    using BlockRow = std::array<Value, gpus_per_node_max + 1>;
    std::vector<BlockRow> blocks_;
    std::vector<std::int64_t> cpu_steps_;  // ascending; at most cpu_steps_max
    Value rank_weight_ = 0;
    std::vector<Model> models_;  // the last one stands for every model without a capacity entry
};

}  // namespace muster
