#include "engine/stock.h"

#include "base/assert.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace muster {

namespace {

constexpr std::size_t whole = 1000;
constexpr std::int64_t demand_max = std::int64_t{1} << 24;
constexpr std::int64_t entry_max =
    std::int64_t{1} << 44;  // a sum of 1,000 of them, and a product of two, stay exact

using Row = std::vector<std::int64_t>;

/// The most demanded sizes, ascending, with demands scaled into 1..demand_max.
std::vector<SizeDemand> kept_sizes(std::span<const SizeDemand> sizes) {
    std::map<std::int32_t, __int128> by_size;
    for (const SizeDemand& size : sizes) {
        if (size.milli < 1 || size.milli > static_cast<std::int32_t>(whole) || size.demand < 1) {
            continue;
        }
        by_size[size.milli] += size.demand;
    }
    std::vector<std::pair<__int128, std::int32_t>> order;  // by GPU asked for
    __int128 largest = 1;
    for (const auto& [milli, demand] : by_size) {
        order.emplace_back(demand * milli, milli);
        largest = std::max(largest, demand);
    }
    std::sort(order.begin(), order.end(), std::greater<>());
    if (order.size() > stock_sizes_max) { order.resize(stock_sizes_max); }
    std::vector<SizeDemand> kept;
    for (const auto& [gpu, milli] : order) {
        __int128 demand = by_size[milli];
        if (largest > demand_max) { demand = demand * demand_max / largest; }
        kept.push_back({.milli = milli,
                        .demand = std::max<std::int64_t>(1, static_cast<std::int64_t>(demand))});
    }
    std::sort(kept.begin(), kept.end(),
              [](const auto& a, const auto& b) { return a.milli < b.milli; });
    return kept;
}

/// best[r]: the most that sizes with these values can be worth within r.
std::array<std::int64_t, whole + 1> knapsack(std::span<const SizeDemand> sizes, const Row& values) {
    std::array<std::int64_t, whole + 1> best{};
    for (std::size_t r = 1; r <= whole; ++r) {
        best[r] = best[r - 1];
        for (std::size_t i = 0; i < sizes.size() && static_cast<std::size_t>(sizes[i].milli) <= r;
             ++i) {
            best[r] =
                std::max(best[r], best[r - static_cast<std::size_t>(sizes[i].milli)] + values[i]);
        }
    }
    return best;
}

/// How many of each size the best knapsack of a whole GPU holds.
Row best_pattern(std::span<const SizeDemand> sizes, const Row& values,
                 const std::array<std::int64_t, whole + 1>& best) {
    Row pattern(sizes.size(), 0);
    for (std::size_t r = whole; best[r] > 0;) {
        if (best[r] == best[r - 1]) {
            --r;
            continue;
        }
        std::size_t i = 0;
        while (values[i] == 0 || static_cast<std::size_t>(sizes[i].milli) > r ||
               best[r] != best[r - static_cast<std::size_t>(sizes[i].milli)] + values[i]) {
            ++i;
        }
        ++pattern[i];
        r -= static_cast<std::size_t>(sizes[i].milli);
    }
    return pattern;
}

/// Column generation over cutting patterns by the simplex method in exact integers: the inverse of
/// the basis is `inverse_ / denominator_` in lowest terms.
class PatternSimplex {
public:
    /// The first basis cuts one size only from each GPU.
    explicit PatternSimplex(std::span<const SizeDemand> sizes) : size_count_(sizes.size()) {
        for (const SizeDemand& size : sizes) {
            demand_.push_back(size.demand);
            const std::int64_t next = std::lcm(denominator_, copies(size));
            if (next > entry_max) { is_exact_ = false; }
            if (is_exact_) { denominator_ = next; }
        }
        if (!is_exact_) {
            denominator_ = entry_max;
        }  // then 1 / copies is rounded, and there is no pivot
        for (std::size_t i = 0; i < size_count_; ++i) {
            inverse_.emplace_back(size_count_, 0);
            inverse_[i][i] = denominator_ / copies(sizes[i]);
        }
    }

    /// Values of the sizes × denominator; not negative at the optimum, made so before.
    [[nodiscard]] Row values() const {
        Row sums(size_count_, 0);
        for (const Row& row : inverse_) {
            for (std::size_t i = 0; i < size_count_; ++i) { sums[i] += row[i]; }
        }
        for (std::int64_t& sum : sums) { sum = std::max<std::int64_t>(sum, 0); }
        return sums;
    }
    [[nodiscard]] std::int64_t denominator() const { return denominator_; }

    /// Takes the pattern into the basis; false when the numbers grew too large.
    bool enter(const Row& pattern) {
        if (!is_exact_) { return false; }
        const std::vector<__int128> column = times_inverse(pattern);
        const std::vector<__int128> amounts = times_inverse(demand_);
        std::size_t leaving = size_count_;
        for (std::size_t i = 0; i < size_count_; ++i) {
            if (column[i] > entry_max || column[i] < -entry_max) { return false; }
            if (column[i] <= 0) { continue; }
            if (leaving == size_count_ ||
                amounts[i] * column[leaving] < amounts[leaving] * column[i]) {
                leaving = i;
            }
        }
        MUSTER_ASSERT(leaving < size_count_);
        return pivot(column, leaving);
    }

private:
    static std::int64_t copies(const SizeDemand& size) {
        return static_cast<std::int64_t>(whole) / size.milli;
    }

    [[nodiscard]] std::vector<__int128> times_inverse(const Row& right) const {
        std::vector<__int128> product(size_count_, 0);
        for (std::size_t i = 0; i < size_count_; ++i) {
            for (std::size_t j = 0; j < size_count_; ++j) {
                product[i] += static_cast<__int128>(inverse_[i][j]) * right[j];
            }
        }
        return product;
    }

    bool pivot(const std::vector<__int128>& column, std::size_t leaving) {
        std::vector<std::vector<__int128>> next(size_count_, std::vector<__int128>(size_count_));
        __int128 common = column[leaving] * denominator_;
        const __int128 denominator = common;
        for (std::size_t i = 0; i < size_count_; ++i) {
            for (std::size_t j = 0; j < size_count_; ++j) {
                next[i][j] = i == leaving ? static_cast<__int128>(inverse_[i][j]) * denominator_
                                          : column[leaving] * inverse_[i][j] -
                                                column[i] * inverse_[leaving][j];
                common = common_divisor(common, next[i][j]);
            }
        }
        if (denominator / common > entry_max) { return false; }
        for (std::size_t i = 0; i < size_count_; ++i) {
            for (std::size_t j = 0; j < size_count_; ++j) {
                const __int128 entry = next[i][j] / common;
                if (entry > entry_max || entry < -entry_max) { return false; }
                next[i][j] = entry;
            }
        }
        for (std::size_t i = 0; i < size_count_; ++i) {
            for (std::size_t j = 0; j < size_count_; ++j) {
                inverse_[i][j] = static_cast<std::int64_t>(next[i][j]);
            }
        }
        denominator_ = static_cast<std::int64_t>(denominator / common);
        return true;
    }

    static __int128 common_divisor(__int128 a, __int128 b) {
        while (b != 0) { a = std::exchange(b, a % b); }
        return a < 0 ? -a : a;
    }

    std::size_t size_count_;
    std::vector<Row> inverse_;
    Row demand_;
    std::int64_t denominator_ = 1;
    bool is_exact_ = true;
};

/// Σ demand·value / worst: what the values prove once they are scaled to be feasible. Larger is
/// better.
struct Bound {
    __int128 total = 0;
    std::int64_t worst = 1;
    bool operator<(const Bound& other) const { return total * other.worst < other.total * worst; }
};

}  // namespace

StockWorth stock_worth(std::span<const SizeDemand> sizes) {
    const std::vector<SizeDemand> kept = kept_sizes(sizes);
    StockWorth result;
    result.worth[whole] = StockWorth::worth_one;
    if (kept.empty()) { return result; }

    PatternSimplex simplex(kept);
    Bound proven;
    std::array<std::int64_t, whole + 1> chosen{};
    for (int pivot = 0; pivot < stock_pivots_max; ++pivot) {
        Row values = simplex.values();
        const auto best = knapsack(kept, values);
        Bound bound{.worst = best[whole]};
        for (std::size_t i = 0; i < kept.size(); ++i) {
            bound.total += static_cast<__int128>(values[i]) * kept[i].demand;
        }
        if (proven < bound) {
            proven = bound;
            chosen = best;
        }
        if (best[whole] <= simplex.denominator()) { break; }
        if (!simplex.enter(best_pattern(kept, values, best))) { break; }
    }
    MUSTER_ASSERT(chosen[whole] > 0);
    for (std::size_t r = 0; r < whole; ++r) {
        result.worth[r] = static_cast<std::int64_t>(static_cast<__int128>(chosen[r]) *
                                                    StockWorth::worth_one / chosen[whole]);
    }
    return result;
}

}  // namespace muster
