#include "codec/policy_text.h"

#include "codec/any_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace muster {
namespace {

TEST(PolicyText, ReadsTheMix) {
    const auto policy = read_policy({"p.yaml",
                                     "# what arrives here\n"
                                     "mix:\n"
                                     "- {gpu: 8, cpu: 64, models: [H100, A100], weight: 3}\n"
                                     "- share: 0.5\n"
                                     "  cpu: 1500m\n"
                                     "- cpu: 4\n"});

    ASSERT_TRUE(policy.has_value()) << policy.error().message;
    EXPECT_EQ(
        *policy,
        (Policy{
            .mix = {{.milli_cpu = 64'000, .gpu_count = 8, .models = {"H100", "A100"}, .weight = 3},
                    {.milli_cpu = 1'500, .gpu_milli = 500, .gpu_count = 1},
                    {.milli_cpu = 4'000, .gpu_count = 0}}}));
}

TEST(PolicyText, TakesNothingForTheDefault) {
    for (const char* text : {"", "# nothing\n", "---\n", "{}", "mix: []\n", "mix:\n"}) {
        EXPECT_EQ(read_policy({"p.yaml", text}), Policy{}) << text;
    }
}

struct Bad {
    const char* name;
    const char* text;
    const char* message;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

class BadPolicy : public testing::TestWithParam<Bad> {};

TEST_P(BadPolicy, IsRefusedWithLineFieldFoundAndExpected) {
    const auto policy = read_policy({"p.yaml", GetParam().text});

    ASSERT_FALSE(policy.has_value());
    EXPECT_THAT(policy.error().message, testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Codec, BadPolicy,
    testing::Values(
        Bad{"NoYaml", "mix: [", "p.yaml:"},
        Bad{"UnknownKey", "mix: []\nmixture: []\n", "p.yaml:2: mixture: "},
        Bad{"UnknownEntryKey", "mix:\n- gpus: 1\n", "p.yaml:2: mix[0].gpus: "},
        Bad{"NoList", "mix: 3\n", "p.yaml:1: mix: found 3, expected a list"},
        Bad{"NoMapping", "mix:\n- 3\n", "p.yaml:2: mix[0]: found 3, expected a mapping"},
        Bad{"TooManyGpus", "mix:\n- {gpu: 65}\n", "mix[0].gpu: found 65, expected"},
        Bad{"ShareOverOne", "mix:\n- {share: 1.5}\n", "mix[0].share: found 1.5, expected"},
        Bad{"ShareOfNothing", "mix:\n- {share: 0}\n", "mix[0].share: found 0, expected"},
        Bad{"NoCpu", "mix:\n- {cpu: lots}\n", "mix[0].cpu: found \"lots\", expected a quantity"},
        Bad{"NoWeight", "mix:\n- {gpu: 1}\n- {weight: 0}\n", "p.yaml:3: mix[1].weight: found 0"},
        Bad{"EmptyModel", "mix:\n- {models: [\"\"]}\n", "mix[0].models[0]: found \"\""},
        Bad{"ModelNotPrintable", "mix:\n- {models: [\"\\t\"]}\n", "expected a GPU model"},
        Bad{"TwoDocuments", "mix: []\n---\nmix: []\n", "p.yaml: found 2 documents, expected one"},
        Bad{"TextAlone", "fair\n", "p.yaml:1: found no mapping, expected one"}),
    [](const auto& one) { return std::string(one.param.name); });

RC_GTEST_PROP(PolicyText, WrittenThenReadIsTheSame, (std::uint64_t seed)) {
    AnyValue dice(seed);
    Policy policy;
    for (std::uint64_t i = dice.below(4); i > 0; --i) {
        MixEntry entry{.milli_cpu = static_cast<std::int64_t>(dice.below(100'000)),
                       .gpu_milli = static_cast<std::int32_t>(dice.below(1'000)) + 1,
                       .gpu_count = static_cast<std::int32_t>(dice.below(65)),
                       .weight = static_cast<std::int64_t>(dice.below(1'000)) + 1};
        for (std::uint64_t k = dice.below(3); k > 0; --k) {
            const char* models[] = {"H100", "NVIDIA A10", "no", "1", "#", "a: b", "\\\"["};
            entry.models.emplace_back(models[dice.below(std::size(models))]);
        }
        policy.mix.push_back(std::move(entry));
    }

    const std::string text = write_policy(policy);
    const auto again = read_policy({"again", text});

    RC_LOG() << text;
    if (!again) { RC_FAIL(again.error().message); }
    RC_ASSERT(*again == policy);
}

}  // namespace
}  // namespace muster
