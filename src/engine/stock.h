// Cutting stock for shares of one GPU: what is a remainder of r milli-GPU worth, given how often
// each size is asked for?
//
// The worths w of the sizes are the duals of "serve demand d with the fewest whole GPUs": maximise
// Σ d_s·w_s where every set of sizes that fits in 1,000 is worth at most 1,000. A remainder is
// worth its best knapsack. In plain words: 540 is worth little when nothing pairs with 460, and
// much when 460s abound.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace muster {

struct SizeDemand {
    std::int32_t milli = 0;   // 1 to 1,000; others are ignored
    std::int64_t demand = 0;  // how many are asked for; only proportions matter
};

/// worth[r] of a remainder of r milli-GPU, in 1/worth_one of a GPU; non-decreasing, worth[1000] =
/// worth_one.
struct StockWorth {
    static constexpr std::int64_t worth_one = std::int64_t{1} << 20;
    std::array<std::int64_t, 1001> worth{};
};

/// Exact while 64 bits suffice for the determinants, else (or after stock_pivots_max pivots) the
/// best feasible worths met.
[[nodiscard]] StockWorth stock_worth(std::span<const SizeDemand> sizes);

inline constexpr std::size_t stock_sizes_max = 48;  // those with the most GPU demand are kept
inline constexpr int stock_pivots_max = 400;

}  // namespace muster
