#include "sim/stretch.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

TEST(Stretch, DistanceLengthensTheRunBySensitivity) {
    const GpuProduct* h100 = find_gpu_product("H100");
    ASSERT_NE(h100, nullptr);
    const Machine machine{.nodes = 16, .per_node = 8};
    const Stretch stretch{.sensitivity_percent = 15, .product = h100, .nodes_per_leaf = 4};
    const Job eight{.run_s = 1'000, .size = 8};
    const Job sixteen{.run_s = 1'000, .size = 16};
    const std::vector<JobPart> one_node = {{.node = 3, .count = 8}};
    const std::vector<JobPart> one_leaf = {{.node = 2, .count = 4}, {.node = 3, .count = 4}};
    const std::vector<JobPart> two_leaves = {{.node = 3, .count = 4}, {.node = 4, .count = 4}};
    const std::int64_t leaf = 10 * expected_slowdown_percent(*h100, Reach::nvlink, Reach::leaf, 15);
    const std::int64_t spine =
        10 * expected_slowdown_percent(*h100, Reach::nvlink, Reach::spine, 15);

    EXPECT_EQ(stretched_run_s(eight, machine, one_node, stretch), 1'000);
    EXPECT_EQ(stretched_run_s(eight, machine, one_leaf, stretch), leaf);
    EXPECT_EQ(stretched_run_s(eight, machine, two_leaves, stretch), spine);
    EXPECT_GT(spine, leaf);
    // Two nodes are the best that sixteen GPUs can have: one leaf costs nothing.
    EXPECT_EQ(stretched_run_s(sixteen, machine, one_leaf, stretch), 1'000);
    EXPECT_GT(stretched_run_s(sixteen, machine, two_leaves, stretch), 1'000);
}

TEST(Stretch, IsOffByDefaultAndByJob) {
    const Machine machine{.nodes = 2, .per_node = 8};
    const std::vector<JobPart> apart = {{.node = 0, .count = 4}, {.node = 1, .count = 4}};
    const Job job{.run_s = 100, .size = 8};
    const Job deaf{.run_s = 100, .size = 8, .sensitivity_percent = 0};

    EXPECT_EQ(stretched_run_s(job, machine, apart, {}), 100);
    EXPECT_EQ(stretched_run_s(deaf, machine, apart,
                              {.sensitivity_percent = 15, .product = find_gpu_product("H100")}),
              100);
}

}  // namespace
}  // namespace muster::sim
