#include "sim/loop_random.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

class LoopRuns : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LoopRuns, KeepEveryLaw) {
    for (std::uint64_t seed = GetParam(); seed < GetParam() + 20; ++seed) {
        const auto outcome = run_loop_random({.seed = seed, .steps = 600});

        ASSERT_TRUE(outcome);
        ASSERT_THAT(outcome->broken, testing::IsEmpty())
            << fmt::format("muster sim random --loop --seed {} --steps {}", seed, outcome->steps);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LoopRuns, testing::Range<std::uint64_t>(1, 201, 20));

}  // namespace
}  // namespace muster
