#include "sim/random.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

class RandomRuns : public testing::TestWithParam<std::uint64_t> {};

/// Ten seeds a test, so that a failing one is found soon and all of them take little time.
TEST_P(RandomRuns, KeepEveryLaw) {
    for (std::uint64_t seed = GetParam(); seed < GetParam() + 10; ++seed) {
        const auto outcome = run_random({.seed = seed, .steps = 25});

        ASSERT_TRUE(outcome);
        EXPECT_THAT(outcome->broken, testing::IsEmpty())
            << fmt::format("muster sim random --seed {} --steps {}", seed, outcome->steps);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRuns, testing::Range<std::uint64_t>(1, 101, 10));

TEST(Random, SameSeedSameRun) {
    const auto first = run_random({.seed = 3, .steps = 30});
    const auto second = run_random({.seed = 3, .steps = 30});

    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(first->digest, second->digest);
    EXPECT_GT(first->placed, 0);
}

TEST(Random, RefusesStepsOutOfRange) {
    EXPECT_FALSE(run_random({.seed = 1, .steps = 0}));
    EXPECT_FALSE(run_random({.seed = 1, .steps = random_steps_max + 1}));
}

TEST(Random, AFailureShrinksToWhatMatters) {
    RandomHistory history = record_random({.seed = 3, .steps = 12});
    const auto count = [](const RandomHistory& all) {
        std::size_t nodes = 0;
        for (const RandomStep& step : all.steps) {
            for (const Fact& fact : step.facts) {
                nodes += std::holds_alternative<NodeSet>(fact) ? 1U : 0U;
            }
        }
        return nodes;
    };
    ASSERT_GT(count(history), 0U);

    history = shrink(std::move(history),
                     [&](const RandomHistory& shorter) { return count(shorter) > 0; });

    ASSERT_EQ(history.steps.size(), 1U);
    EXPECT_EQ(history.steps[0].facts.size(), 1U);
    EXPECT_NE(scenario_of(history).find("node n"), std::string::npos);
}

}  // namespace
}  // namespace muster
