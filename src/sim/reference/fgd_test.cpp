#include "sim/reference/fgd.h"

#include "sim/reference/study_testing.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

const std::vector<MixClass> halves = {
    {.milli_cpu = 1000, .gpu_milli = 500, .gpu_count = 1, .weight = 1}};

TEST(Fgd, ScoresFiftyWhenNothingFragments) {
    Fgd fgd{FragmentMeasure(halves, 1)};
    const ReferenceNode node{.milli_cpu = 64'000, .memory_mib = 1, .gpu_free_milli = {1000, 500}};

    const Scored half = fgd(node, {.milli_cpu = 1000, .gpu_count = 1, .gpu_milli = 500});

    EXPECT_EQ(half.score, 50);
    EXPECT_EQ(half.gpu, 0U);  // both leave nothing fragmented: the first best is kept
}

TEST(Fgd, AvoidsTheGpuWhoseRestIsUseless) {
    Fgd fgd{FragmentMeasure(halves, 1)};
    const ReferenceNode node{.milli_cpu = 64'000, .memory_mib = 1, .gpu_free_milli = {500, 400}};

    const Scored small = fgd(node, {.milli_cpu = 1000, .gpu_count = 1, .gpu_milli = 400});

    EXPECT_EQ(small.gpu, 1U);  // takes the 400 that nobody else can use: 400 less fragmented
    EXPECT_EQ(small.score, 59);
}

}  // namespace
}  // namespace muster::sim
