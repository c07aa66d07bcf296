#include "sim/reference/cluster.h"

#include "sim/reference/bestfit.h"
#include "sim/reference/study_testing.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

Scored indifferent(const ReferenceNode& node, const Request& request) {
    return {.score = 7, .gpu = node.tightest_gpu(request)};
}

Request share(std::int32_t milli) {
    return {.milli_cpu = 1000, .memory_mib = 1, .gpu_count = 1, .gpu_milli = milli};
}

TEST(ReferenceCluster, EqualScoresGoToTheSmallestRank) {
    const OpenbStudy study = study_of({{}, {}, {}});
    ReferenceCluster cluster(study, std::vector<std::uint32_t>{2, 0, 1}, indifferent);

    const auto first = cluster.place(share(500));

    ASSERT_TRUE(first);
    EXPECT_EQ(first->node, 0U);
    EXPECT_EQ(cluster.used_milli(), 500);
}

TEST(ReferenceCluster, WholeGpusAreTheLowestFreeOnes) {
    const OpenbStudy study = study_of({{.gpu_count = 4}});
    ReferenceCluster cluster(study, std::vector<std::uint32_t>{0}, indifferent);

    EXPECT_EQ(cluster.place(share(300))->gpus, 0b0001U);
    EXPECT_EQ(cluster.place({.gpu_count = 2, .gpu_milli = 1000})->gpus, 0b0110U);
    EXPECT_EQ(cluster.place(share(700))->gpus, 0b0001U);
    EXPECT_FALSE(cluster.place({.gpu_count = 2, .gpu_milli = 1000}));
}

TEST(ReferenceCluster, CpuMemoryAndModelMustFit) {
    const OpenbStudy study = study_of({{.milli_cpu = 8000, .gpu_count = 1, .model = 1}});
    ReferenceCluster cluster(study, std::vector<std::uint32_t>{0}, indifferent);

    EXPECT_FALSE(cluster.place({.milli_cpu = 8001}));
    EXPECT_FALSE(cluster.place({.memory_mib = 1001}));
    EXPECT_FALSE(cluster.place({.gpu_count = 1, .gpu_milli = 1, .models = 0b01}));
    EXPECT_FALSE(cluster.place({.gpu_count = 2, .gpu_milli = 1000}));
    EXPECT_TRUE(cluster.place({.gpu_count = 1, .gpu_milli = 1, .models = 0b10}));
    EXPECT_TRUE(cluster.place({.milli_cpu = 8000, .memory_mib = 1000}));
}

TEST(ReferenceCluster, WhatLeavesCanBeUsedAgain) {
    const OpenbStudy study = study_of({{.gpu_count = 1}});
    ReferenceCluster cluster(study, std::vector<std::uint32_t>{0}, best_fit);
    const Request whole{.milli_cpu = 96'000, .memory_mib = 1000, .gpu_count = 1, .gpu_milli = 1000};
    const auto placement = cluster.place(whole);
    ASSERT_TRUE(placement);
    EXPECT_FALSE(cluster.place(whole));

    cluster.remove(whole, *placement);

    EXPECT_EQ(cluster.used_milli(), 0);
    EXPECT_TRUE(cluster.place(whole));
}

TEST(ReferenceCluster, CachedScoresAreThoseOfAFreshCluster) {
    const OpenbStudy study =
        study_of({{}, {.gpu_count = 2}, {.milli_cpu = 64'000, .gpu_count = 4}});
    const std::vector<std::uint32_t> ranks = {1, 2, 0};
    ReferenceCluster cached(study, ranks, best_fit);
    ReferenceCluster fresh(study, ranks, best_fit);

    for (int i = 0; i < 40; ++i) {
        const Request request = share(100 + i * 7919 % 900);
        fresh.forget_scores();
        const auto a = cached.place(request);
        const auto b = fresh.place(request);
        ASSERT_EQ(a.has_value(), b.has_value());
        if (!a) { continue; }
        EXPECT_EQ(a->node, b->node);
        EXPECT_EQ(a->gpus, b->gpus);
    }
}

TEST(BestFit, ScoresWhatWouldRemain) {
    ReferenceNode node{.milli_cpu = 65'000, .memory_mib = 1, .gpu_free_milli = {1000, 400, 1000}};

    EXPECT_EQ(best_fit(node, share(400)).score, 62);  // 64 cores and 2 GPUs: 100 − 25 − 12.5
    EXPECT_EQ(best_fit(node, share(400)).gpu, 1U);
}

}  // namespace
}  // namespace muster::sim
