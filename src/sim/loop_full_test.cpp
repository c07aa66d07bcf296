#include "sim/loop_random.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

/// A million steps in all: many short lives, since a seed decides what takes part, and some long.
TEST(LoopFull, KeepsEveryLawForAMillionSteps) {
    std::int64_t steps = 0;
    for (std::uint64_t seed = 10'001; steps < 1'000'000; ++seed) {
        const auto outcome =
            run_loop_random({.seed = seed, .steps = seed % 10 == 0 ? 10'000 : 1'000});

        ASSERT_TRUE(outcome);
        ASSERT_THAT(outcome->broken, testing::IsEmpty())
            << fmt::format("muster sim random --loop --seed {} --steps {}", seed, outcome->steps);
        steps += outcome->steps;
    }
}

}  // namespace
}  // namespace muster
