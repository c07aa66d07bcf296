#include "engine/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

MixClass share(std::int32_t milli, std::int64_t weight = 1) {
    return {.milli_cpu = 4000, .gpu_milli = milli, .gpu_count = 1, .weight = weight};
}

TEST(Mix, IsTheDefaultUntilEnoughWasSeen) {
    Mix mix;

    mix.add(share(470, mix_seen_min - 1));

    EXPECT_EQ(mix.classes().size(), default_mix().size());
    EXPECT_FALSE(mix.is_due());
    mix.add(share(470));
    EXPECT_TRUE(mix.is_due());
    EXPECT_THAT(mix.classes(), testing::ElementsAre(share(470, mix_seen_min)));
}

TEST(Mix, IsDueAgainAtEachDoubling) {
    Mix mix;
    mix.add(share(470, 100));
    mix.build_done();

    mix.add(share(470, 99));
    EXPECT_FALSE(mix.is_due());
    mix.add(share(470));
    EXPECT_TRUE(mix.is_due());
}

TEST(Mix, ForgetsWhatNoLongerComes) {
    Mix mix;
    mix.add(share(470, 3));

    for (int i = 0; i < 4; ++i) { mix.add(share(810, mix_fade_at)); }

    ASSERT_EQ(mix.classes().size(), 1U);
    EXPECT_EQ(mix.classes()[0].gpu_milli, 810);
    EXPECT_LT(mix.classes()[0].weight, 2 * mix_fade_at);
}

TEST(Mix, KeepsABoundedNumberOfClasses) {
    Mix mix;
    mix.add(share(500, 50));
    for (std::size_t i = 0; i < mix_classes_max + 500; ++i) {
        MixClass odd = share(100);
        odd.milli_cpu = static_cast<std::int64_t>(i);
        mix.add(odd);
    }

    EXPECT_EQ(mix.classes().size(), mix_classes_max);
    EXPECT_THAT(mix.classes(), testing::Contains(share(500, 50)));
}

TEST(Mix, CountsNothingForARequestThatWeighsNothing) {
    Mix mix;
    mix.add(share(470, 0));
    mix.add(share(470, -7));

    EXPECT_EQ(mix.classes().size(), default_mix().size());
}

TEST(Mix, ChurnIsNoneWhileNothingLeavesAndFullWhenHalfHasLeft) {
    Mix mix;
    mix.add(share(470, 1000));
    EXPECT_EQ(mix.churn().percent, 0);

    for (int i = 0; i < 100; ++i) { mix.leave(); }
    EXPECT_EQ(mix.churn().percent, 20);
    for (int i = 0; i < 5000; ++i) { mix.leave(); }
    EXPECT_EQ(mix.churn().percent, 100);
}

}  // namespace
}  // namespace muster
