#include "engine/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace muster {
namespace {

constexpr Value milli = value_scale;

NodeOpen node(std::int64_t milli_cpu, std::span<const std::int32_t> free, std::uint32_t model = 0) {
    return {.milli_cpu = milli_cpu, .gpu_free_milli = free, .model = model};
}

/// The formula of the header, class by class, in doubles.
double stranded_by_hand(std::span<const MixClass> mix, const NodeSum& sum) {
    double total = 0;
    double stranded = 0;
    for (const MixClass& job : mix) { total += static_cast<double>(job.weight); }
    for (const MixClass& job : mix) {
        const bool is_allowed = job.models == any_model || (job.models >> sum.model & 1) != 0;
        if (job.gpu_count == 0 || job.milli_cpu == 0 || !is_allowed) { continue; }
        const double ratio =
            1.0 * job.gpu_milli * job.gpu_count / static_cast<double>(job.milli_cpu);
        const double over =
            static_cast<double>(sum.worth) / milli - static_cast<double>(sum.milli_cpu) * ratio;
        stranded += static_cast<double>(job.weight) / total * std::max(0.0, over);
    }
    return 0.7 * stranded;
}

TEST(Value, StrandsGpuWhoseCpuIsGone) {
    const std::vector<MixClass> mix = {
        {.milli_cpu = 10'000, .gpu_milli = 1000, .gpu_count = 1, .weight = 1}};
    const ValueModel model(mix, std::vector<std::int64_t>{8000});
    const std::vector<std::int32_t> free = {1000, 1000};

    const auto stranded = [&](std::int64_t milli_cpu) {
        return static_cast<double>(model.stranded(model.sum(node(milli_cpu, free)))) / milli;
    };

    // Two GPUs want 20 cores: with 15, half a GPU is stranded, and 0.7 of that is lost.
    EXPECT_NEAR(stranded(20'000), 0, 0.02);
    EXPECT_NEAR(stranded(15'000), 350, 0.02);
    EXPECT_NEAR(stranded(0), 1400, 0.02);
}

TEST(Value, BlocksAreWorthMostWhole) {
    const std::vector<MixClass> mix = {{.gpu_milli = 1000, .gpu_count = 8, .weight = 1}};
    const ValueModel model(mix, {});
    const auto blocks = [&](std::int32_t full) {
        NodeSum sum;
        sum.full = full;
        return model.blocks(sum) / milli;
    };

    EXPECT_EQ(blocks(8), 240);  // 30 · (2·8 − 8)
    EXPECT_EQ(blocks(7), -210);
    EXPECT_EQ(blocks(0), 0);
    EXPECT_EQ(blocks(16), 480);
    EXPECT_EQ(blocks(1000), blocks(64));
}

TEST(Value, PricesTheModelThatIsAskedForByName) {
    const std::vector<MixClass> mix = {
        {.gpu_milli = 1000, .gpu_count = 1, .models = 0b01, .weight = 1},
        {.gpu_milli = 1000, .gpu_count = 1, .weight = 1}};
    const ValueModel model(mix, std::vector<std::int64_t>{1000, 1000});

    EXPECT_EQ(model.price(0), milli);  // half of the demand on half of the capacity: load 1
    EXPECT_EQ(model.price(1), 0);
    EXPECT_EQ(model.price(63), 0);
    EXPECT_EQ(model.price(UINT32_MAX), 0);
}

TEST(Value, CapsThePrice) {
    const std::vector<MixClass> mix = {
        {.gpu_milli = 1000, .gpu_count = 1, .models = 0b01, .weight = 1}};
    const ValueModel model(mix, std::vector<std::int64_t>{1, 1'000'000});

    EXPECT_NEAR(static_cast<double>(model.price(0)) / milli, 2.985984, 0.02);  // 1.2⁶
}

TEST(Value, StandsOnADefaultMixWhenNothingIsKnown) {
    const std::vector<MixClass> cpu_only = {{.milli_cpu = 1000, .weight = 100}};

    for (const ValueModel& model : {ValueModel(), ValueModel({}, {}), ValueModel(cpu_only, {})}) {
        EXPECT_EQ(model.remainder(1000), 1000 * milli);
        EXPECT_EQ(model.remainder(500), 500 * milli);
        EXPECT_EQ(model.remainder(-5), 0);
        EXPECT_EQ(model.remainder(5000), 1000 * milli);
    }
}

TEST(Value, NodesWithoutGpusAreWorthNothing) {
    EXPECT_EQ(ValueModel().value(node(96'000, {})), 0);
    EXPECT_EQ(ValueModel().value(node(0, {}, UINT32_MAX)), 0);
}

TEST(Value, RankCostsTwelveHundredMilliFromFirstToLast) {
    const ValueModel model;

    EXPECT_EQ(model.rank_cost({.rank = 0, .nodes = 1}), 0);
    EXPECT_EQ(model.rank_cost({.rank = 600, .nodes = 1200}), 600 * milli);
    EXPECT_EQ(model.rank_cost({.rank = UINT64_MAX - 1, .nodes = UINT64_MAX}), 1200 * milli - 1);
}

TEST(Value, ChurnFillsTheFullestFirst) {
    const std::vector<MixClass> mix = {{.gpu_milli = 1000, .gpu_count = 1, .weight = 99},
                                       {.gpu_milli = 1000, .gpu_count = 8, .weight = 1}};
    const std::vector<std::int64_t> capacity = {16'000};
    const ValueModel still(mix, capacity);
    const ValueModel churning(mix, capacity, {.percent = 100});
    const std::vector<std::int32_t> seven(7, 1000);
    const std::vector<std::int32_t> six(6, 1000);
    const std::vector<std::int32_t> two(2, 1000);
    const std::vector<std::int32_t> one(1, 1000);

    const auto loss = [](const ValueModel& model, std::span<const std::int32_t> before,
                         std::span<const std::int32_t> after) {
        return model.value(node(96'000, before)) - model.value(node(96'000, after));
    };

    EXPECT_GT(loss(churning, seven, six), loss(churning, two, one) + 100 * milli);
    EXPECT_LT(loss(still, seven, six), loss(still, two, one) + 20 * milli);
    EXPECT_EQ(churning.rank_cost({.rank = 600, .nodes = 1200}), 0);
    EXPECT_EQ(churning.remainder(1000), 1000 * milli);
}

TEST(Value, ChurnKeepsTheNodeThatAloneCanServeABlock) {
    const std::vector<MixClass> mix = {
        {.milli_cpu = 88'000, .gpu_milli = 1000, .gpu_count = 8, .weight = 3},
        {.milli_cpu = 120'000, .gpu_milli = 1000, .gpu_count = 8, .weight = 1}};
    const ValueModel model(mix, {}, {.percent = 100});
    const auto blocks = [&](std::int64_t milli_cpu) {
        NodeSum sum{.milli_cpu = milli_cpu};
        sum.full = 8;
        return model.blocks(sum) / milli;
    };

    EXPECT_EQ(blocks(128'000) - blocks(96'000), 250);
    EXPECT_EQ(blocks(88'000) - blocks(87'999), 750);
}

TEST(Value, HoldsAtTheExtremesOfEveryField) {
    std::vector<MixClass> mix;
    for (int i = 0; i < 100; ++i) {
        mix.push_back({.milli_cpu = INT64_MAX - i,
                       .gpu_milli = INT32_MAX,
                       .gpu_count = INT32_MAX - i,
                       .models = ~std::uint64_t{0} - static_cast<std::uint64_t>(i),
                       .weight = INT64_MAX});
        mix.push_back({.milli_cpu = 1, .gpu_milli = 10 * i, .gpu_count = i % 17, .weight = 1});
        mix.push_back({.milli_cpu = -1, .gpu_milli = -1, .gpu_count = -1, .weight = -1});
    }
    const std::vector<std::int64_t> capacity(gpu_models_max, INT64_MAX);
    const std::vector<std::int32_t> free(gpus_per_node_max, 1000);

    const ValueModel model(mix, capacity, {.percent = 1000});

    EXPECT_GT(model.value(node(milli_cpu_max, free, 63)), 0);
    EXPECT_GE(model.value(node(INT64_MAX, free, 63)), model.value(node(INT64_MIN, free, 63)));
}

RC_GTEST_PROP(Value, StrandedIsTheFormulaOfTheStudy, ()) {
    std::vector<MixClass> mix;
    const auto count = *rc::gen::inRange(1, 40);
    for (int i = 0; i < count; ++i) {
        mix.push_back(
            {.milli_cpu = *rc::gen::inRange<std::int64_t>(0, 100) * 1000,
             .gpu_milli = *rc::gen::inRange(1, 1001),
             .gpu_count = *rc::gen::inRange(1, 17),
             .models = *rc::gen::elementOf(std::vector<std::uint64_t>{any_model, 0b01, 0b10}),
             .weight = *rc::gen::inRange<std::int64_t>(1, 1000)});
    }
    const ValueModel model(mix, std::vector<std::int64_t>{8000, 8000});
    const auto free = *rc::gen::container<std::vector<std::int32_t>>(
        *rc::gen::inRange<std::size_t>(0, 9), rc::gen::inRange(0, 1001));
    const NodeSum sum = model.sum(node(*rc::gen::inRange<std::int64_t>(0, 128'000), free,
                                       *rc::gen::inRange<std::uint32_t>(0, 2)));

    const double expected = stranded_by_hand(mix, sum);

    const double error = static_cast<double>(model.stranded(sum)) / milli - expected;
    RC_ASSERT(std::abs(error) < 0.1 + expected / 1000);
}

}  // namespace
}  // namespace muster
