// Method: the engine itself on all 17 lists over ten seeds, and with departures over ten seeds.
#include "sim/engine_replay.h"

#include "sim/reference/bestfit.h"
#include "sim/reference/departures.h"
#include "sim/reference/fgd_expected.h"
#include "sim/reference/study_testing.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::sim {
namespace {

class EngineOnAllSeeds : public testing::TestWithParam<std::string_view> {};

TEST_P(EngineOnAllSeeds, MeansAreFarBelowFgd) {
    MUSTER_NEEDS_DATA(folder);
    const auto study = load_openb_study(*folder, GetParam());
    ASSERT_TRUE(study) << study.error().message;
    const auto expected = load_fgd_allocation(*folder, 100);
    ASSERT_TRUE(expected) << expected.error().message;
    double fgd = 0;
    double declared = 0;
    double learned = 0;
    for (int seed = openb_seed_first; seed <= openb_seed_last; ++seed) {
        const auto unallocated = [](std::int64_t ppm) {
            return (1'000'000.0 - static_cast<double>(ppm)) / 10'000 / 10;
        };
        const auto run = [&](bool is_declared) {
            const auto result =
                replay_with_engine(*study, {.seed = seed, .is_mix_declared = is_declared});
            EXPECT_TRUE(result) << result.error().message;
            return unallocated(result->measure.allocated_ppm(100).value());
        };
        fgd += unallocated(expected->at({std::string(GetParam()), "06-FGD", seed}));
        declared += run(true);
        learned += run(false);
    }

    fmt::print("{:12} unallocated %: FGD {:.2f}, declared mix {:.2f}, learned mix {:.2f}\n",
               GetParam(), fgd, declared, learned);
    EXPECT_LE(declared, fgd - 0.4);
    EXPECT_LE(learned, fgd - 0.4);
    if (GetParam() == "default") { EXPECT_LE(declared, 3.85); }
}

INSTANTIATE_TEST_SUITE_P(Lists, EngineOnAllSeeds, testing::ValuesIn(openb_lists),
                         [](const auto& list) { return std::string(list.param); });

class EngineWithDepartures : public testing::TestWithParam<int> {};

TEST_P(EngineWithDepartures, RefusesNoMoreGpuHoursThanItsPeers) {
    MUSTER_NEEDS_DATA(folder);
    const auto study = load_openb_study(*folder, "default");
    ASSERT_TRUE(study) << study.error().message;
    double fgd = 0;
    double best = 0;
    double declared = 0;
    double learned = 0;
    for (int seed = 0; seed < 10; ++seed) {
        const auto trace = make_departures(*study, {.load_percent = GetParam(), .seed = seed});
        ASSERT_TRUE(trace) << trace.error().message;
        const auto peer = [&](const ReplayPolicy& policy) {
            return replay_departures(*study, *trace, policy, seed).value().refused_percent() / 10;
        };
        const auto ours = [&](bool is_declared) {
            return replay_departures_with_engine(*study, *trace,
                                                 {.seed = seed, .is_mix_declared = is_declared})
                       .value()
                       .refused_percent() /
                   10;
        };
        fgd += peer(fgd_policy(*study));
        best += peer({.score = best_fit});
        declared += ours(true);
        learned += ours(false);
    }

    fmt::print(
        "load {:3} % GPU-hours refused %: FGD {:.3f}, best fit {:.3f}, declared {:.3f}, "
        "learned {:.3f}\n",
        GetParam(), fgd, best, declared, learned);
    // At 90 % best fit refuses nothing; a pod or two may be refused before any churn was seen.
    constexpr double slack = 0.01;
    EXPECT_LE(declared, std::min(fgd, best) + slack);
    EXPECT_LE(learned, std::min(fgd, best) + slack);
}

INSTANTIATE_TEST_SUITE_P(Loads, EngineWithDepartures, testing::Values(90, 100, 110));

}  // namespace
}  // namespace muster::sim
