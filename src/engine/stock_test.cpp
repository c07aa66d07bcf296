#include "engine/stock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace muster {
namespace {

using Step = std::pair<int, int>;

/// Where the worth rises, in thousandths of a GPU, rounded.
std::vector<Step> steps_of(const StockWorth& stock) {
    std::vector<Step> steps;
    for (int r = 1; r <= 1000; ++r) {
        const auto here = stock.worth[static_cast<std::size_t>(r)];
        if (here == stock.worth[static_cast<std::size_t>(r) - 1]) { continue; }
        steps.emplace_back(
            r, static_cast<int>((here * 1000 + StockWorth::worth_one / 2) / StockWorth::worth_one));
    }
    return steps;
}

TEST(Stock, FindsTheStudysStepsForAMixLikeOpenb) {
    // Shares of GPUs as often as in a cluster that runs many 0.8s, 0.47s and 0.3s beside whole
    // ones.
    const std::vector<SizeDemand> sizes = {{160, 55}, {220, 45},  {230, 120},  {320, 300},
                                           {370, 45}, {460, 120}, {470, 750},  {550, 70},
                                           {590, 75}, {650, 240}, {810, 1080}, {1000, 3800}};

    EXPECT_EQ(steps_of(stock_worth(sizes)), (std::vector<Step>{{220, 83},
                                                               {230, 250},
                                                               {320, 333},
                                                               {460, 500},
                                                               {550, 667},
                                                               {690, 750},
                                                               {780, 917},
                                                               {810, 1000}}));
}

TEST(Stock, HalvesAreWorthHalfAndNothingLess) {
    EXPECT_EQ(steps_of(stock_worth(std::vector<SizeDemand>{{500, 7}, {1000, 9}})),
              (std::vector<Step>{{500, 500}, {1000, 1000}}));
}

TEST(Stock, OnlyWholeGpusAreWorthSomethingWithoutShares) {
    const std::vector<Step> whole = {{1000, 1000}};

    EXPECT_EQ(steps_of(stock_worth({})), whole);
    EXPECT_EQ(steps_of(stock_worth(std::vector<SizeDemand>{{1000, 5}})), whole);
}

TEST(Stock, IgnoresSizesOutOfRangeAndDemandThatIsNot) {
    const std::vector<SizeDemand> sizes = {{0, 5},   {-3, 5},   {1001, 5},
                                           {250, 0}, {250, -1}, {500, 1}};

    EXPECT_EQ(steps_of(stock_worth(sizes)), (std::vector<Step>{{500, 500}, {1000, 1000}}));
}

TEST(Stock, StaysFeasibleWhenTheNumbersOutgrowExactness) {
    std::vector<SizeDemand> sizes;  // least common multiples of 1000 / size beyond any integer
    for (int milli = 3; milli <= 1000; milli += 7) { sizes.push_back({milli, INT64_MAX}); }

    const StockWorth stock = stock_worth(sizes);

    EXPECT_EQ(stock.worth[1000], StockWorth::worth_one);
    EXPECT_TRUE(std::is_sorted(stock.worth.begin(), stock.worth.end()));
}

RC_GTEST_PROP(Stock, IsSuperadditiveMonotoneAndWholeAtTheTop, ()) {
    const auto count = *rc::gen::inRange(1, 20);
    std::vector<SizeDemand> sizes;
    for (int i = 0; i < count; ++i) {
        sizes.push_back({*rc::gen::inRange(1, 1001), *rc::gen::inRange<std::int64_t>(1, 10'000)});
    }

    const StockWorth stock = stock_worth(sizes);

    RC_ASSERT(stock.worth[0] == 0);
    RC_ASSERT(stock.worth[1000] == StockWorth::worth_one);
    RC_ASSERT(std::is_sorted(stock.worth.begin(), stock.worth.end()));
    const auto a = *rc::gen::inRange<std::size_t>(0, 1001);
    const auto b = *rc::gen::inRange<std::size_t>(0, 1001 - a);
    RC_ASSERT(stock.worth[a] + stock.worth[b] <= stock.worth[a + b] + 1);  // 1: rounding
}

}  // namespace
}  // namespace muster
