// Method: the engine itself on the study, one seed a list; the slow tests take all ten. Each of the
// study's own 170 runs came out more than 0.5 points below FGD, so one seed may be held to 0.4.
#include "sim/engine_replay.h"

#include "sim/reference/departures.h"
#include "sim/reference/fgd_expected.h"
#include "sim/reference/study_testing.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::sim {
namespace {

constexpr std::int64_t point = 10'000;  // a percent in millionths

class EngineOnOpenb : public testing::TestWithParam<std::string_view> {};

TEST_P(EngineOnOpenb, LeavesLessUnallocatedThanFgd) {
    MUSTER_NEEDS_DATA(folder);
    const auto study = load_openb_study(*folder, GetParam());
    ASSERT_TRUE(study) << study.error().message;
    const auto expected = load_fgd_allocation(*folder, 100);
    ASSERT_TRUE(expected) << expected.error().message;

    const auto run = replay_with_engine(*study, {.seed = openb_seed_first});

    ASSERT_TRUE(run) << run.error().message;
    const std::int64_t fgd = expected->at({std::string(GetParam()), "06-FGD", openb_seed_first});
    EXPECT_GE(run->measure.allocated_ppm(100).value(), fgd + 4 * point / 10);
}

INSTANTIATE_TEST_SUITE_P(Lists, EngineOnOpenb, testing::ValuesIn(openb_lists),
                         [](const auto& list) { return std::string(list.param); });

TEST(EngineOnOpenbDefault, LearnsTheMixAsWellAsItIsDeclared) {
    MUSTER_NEEDS_DATA(folder);
    const auto study = load_openb_study(*folder, "default");
    ASSERT_TRUE(study) << study.error().message;

    const auto learned =
        replay_with_engine(*study, {.seed = openb_seed_first, .is_mix_declared = false});

    ASSERT_TRUE(learned) << learned.error().message;
    EXPECT_GE(learned->measure.allocated_ppm(100).value(), 100 * point - 385 * point / 100);
}

TEST(EngineOnOpenbDefault, RefusesFewerGpuHoursThanFgdWherePodsLeave) {
    MUSTER_NEEDS_DATA(folder);
    const auto study = load_openb_study(*folder, "default");
    ASSERT_TRUE(study) << study.error().message;
    const auto trace = make_departures(*study, {.load_percent = 100, .seed = 1, .arrivals = 5'000});
    ASSERT_TRUE(trace) << trace.error().message;

    const auto ours =
        replay_departures_with_engine(*study, *trace, {.seed = 1, .is_mix_declared = false});
    const auto fgd = replay_departures(*study, *trace, fgd_policy(*study), 1);

    ASSERT_TRUE(ours) << ours.error().message;
    ASSERT_TRUE(fgd) << fgd.error().message;
    EXPECT_LE(ours->refused_milli_seconds, fgd->refused_milli_seconds);
}

}  // namespace
}  // namespace muster::sim
