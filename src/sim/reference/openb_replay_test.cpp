// Method: the study's default list, replayed; the reference policies must give the published figure
// at 100 % arrived demand to 0.01 points, and the engine's value must beat them by what is claimed.
#include "sim/reference/bestfit.h"
#include "sim/reference/fgd_expected.h"
#include "sim/reference/study_testing.h"
#include "sim/reference/value_policy.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

constexpr double point = 10'000;  // a percent in millionths

class OpenbDefault : public testing::TestWithParam<int> {};

TEST_P(OpenbDefault, FgdAndBestFitGiveThePublishedAllocation) {
    MUSTER_NEEDS_DATA(folder);
    const int seed = GetParam();
    const auto study = load_openb_study(*folder, "default");
    ASSERT_TRUE(study) << study.error().message;
    const auto expected = load_fgd_allocation(*folder, 100);
    ASSERT_TRUE(expected) << expected.error().message;

    const auto fgd = replay(*study, fgd_policy(*study), {.seed = seed});
    const auto best = replay(*study, {.score = best_fit}, {.seed = seed});

    ASSERT_TRUE(fgd) << fgd.error().message;
    ASSERT_TRUE(best) << best.error().message;
    EXPECT_NEAR(static_cast<double>(fgd->measure.allocated_ppm(100).value()),
                static_cast<double>(expected->at({"default", "06-FGD", seed})), 0.01 * point);
    EXPECT_NEAR(static_cast<double>(best->measure.allocated_ppm(100).value()),
                static_cast<double>(expected->at({"default", "05-BestFit", seed})), 0.01 * point);
}

TEST_P(OpenbDefault, TheValueLeavesAtMostThreePointEightFivePercentUnallocated) {
    MUSTER_NEEDS_DATA(folder);
    const int seed = GetParam();
    const auto study = load_openb_study(*folder, "default");
    ASSERT_TRUE(study) << study.error().message;

    const auto declared = replay(*study, declared_value_policy(*study), {.seed = seed});
    const auto learned = replay(*study, learned_value_policy(*study), {.seed = seed});

    ASSERT_TRUE(declared) << declared.error().message;
    ASSERT_TRUE(learned) << learned.error().message;
    EXPECT_GE(declared->measure.allocated_ppm(100).value(), 961'500);
    EXPECT_GE(learned->measure.allocated_ppm(100).value(), 961'500);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OpenbDefault,
                         testing::Range(openb_seed_first, openb_seed_last + 1));

}  // namespace
}  // namespace muster::sim
