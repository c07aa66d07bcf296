#include "model/gpu_catalog.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

struct NameCase {
    const char* model;
    const char* product;  // "" = unknown
    std::int64_t memory_mib = 0;
};

TEST(GpuCatalog, FindsProductsByTheNamesThatDriversGive) {
    const NameCase cases[] = {
        {"NVIDIA-A100-SXM4-40GB", "A100 40 GB"},
        {"NVIDIA-A100-SXM4-80GB", "A100 80 GB"},
        {"NVIDIA A100 80GB PCIe", "A100 80 GB"},
        {"A100-SXM-80GB", "A100 80 GB"},
        {"nvidia_a100_pcie_40gb", "A100 40 GB"},
        {"A100", "A100 40 GB"},
        {"A100", "A100 80 GB", 81'920},
        {"NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "A100 80 GB"},
        {"NVIDIA-A100-SXM4-40GB-MIG-7g.80gb", "A100 40 GB"},
        {"NVIDIA-A800-SXM4-80GB", "A800 80 GB"},
        {"NVIDIA-H100-80GB-HBM3", "H100 80 GB"},
        {"NVIDIA-H100-80GB-HBM3-SHARED", "H100 80 GB"},
        {"NVIDIA-H100-PCIe", "H100 PCIe 80 GB"},
        {"NVIDIA H100 NVL", "H100 NVL 94 GB"},
        {"H100", "H100 80 GB", 81'559},
        {"NVIDIA-H20", "H20 96 GB"},
        {"NVIDIA-H200", "H200", 143'771},
        {"NVIDIA-H200-NVL", "H200 NVL"},
        {"NVIDIA-GH200-480GB", "GH200 96 GB"},
        {"NVIDIA GH200 144G HBM3e", "GH200 144 GB"},
        {"NVIDIA-B200", "B200", 183'359},
        {"NVIDIA-GB200", "GB200", 189'471},
        {"NVIDIA-GB200", "GB200 189 GB", 193'536},
        {"NVIDIA-B300-SXM6-AC", "B300"},
        {"NVIDIA-GB300", "GB300"},
        {"NVIDIA-A30", "A30"},
        {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "RTX PRO 6000 Blackwell"},
        {"Tesla V100-SXM2-32GB", "V100 32 GB"},
        {"V100M16", "V100 16 GB"},
        {"V100M32", "V100 32 GB"},
        {"Tesla-P100-PCIE-16GB", "P100"},
        {"Tesla-T4", "T4"},
        {"NVIDIA-L40S", "L40S"},
        {"NVIDIA-L40", "L40"},
        {"NVIDIA-L4", "L4"},
        {"NVIDIA-A10G", "A10G"},
        {"NVIDIA-A10", "A10"},
        {"NVIDIA T400 4GB", ""},
        {"NVIDIA-RTX-A4000", ""},
        {"AMD-Instinct-MI300X", ""},
        {"", ""},
    };
    for (const NameCase& c : cases) {
        const GpuProduct* product = find_gpu_product(c.model, c.memory_mib);
        EXPECT_EQ(product == nullptr ? "" : std::string(product->name), c.product) << c.model;
    }
}

TEST(GpuCatalog, NvlinkSpeedsFollowTheGenerations) {
    const auto gbs = [](const char* model) { return find_gpu_product(model)->nvlink_gbs; };
    EXPECT_EQ(gbs("P100"), 160);
    EXPECT_EQ(gbs("V100"), 300);
    EXPECT_EQ(gbs("A100"), 600);
    EXPECT_EQ(gbs("H100"), 900);
    EXPECT_EQ(gbs("B200"), 1'800);
}

TEST(GpuCatalog, LadderNeverRises) {
    for (const char* model :
         {"A100", "H100", "H200", "B200", "GB200", "A30", "V100", "T4", "L40S", "H100 NVL"}) {
        const GpuProduct& product = *find_gpu_product(model);
        EXPECT_GE(all_reduce_gbs(product, Reach::nvlink),
                  all_reduce_gbs(product, Reach::nvlink_domain))
            << model;
        EXPECT_GE(all_reduce_gbs(product, Reach::nvlink),
                  all_reduce_gbs(product, Reach::pcie_switch))
            << model;
        EXPECT_GE(all_reduce_gbs(product, Reach::pcie_switch),
                  all_reduce_gbs(product, Reach::pcie_host))
            << model;
        EXPECT_GE(all_reduce_gbs(product, Reach::nvlink_domain),
                  all_reduce_gbs(product, Reach::leaf))
            << model;
        EXPECT_GE(all_reduce_gbs(product, Reach::leaf), all_reduce_gbs(product, Reach::spine))
            << model;
        EXPECT_GE(all_reduce_gbs(product, Reach::spine), all_reduce_gbs(product, Reach::core))
            << model;
        EXPECT_GE(all_reduce_gbs(product, Reach::core), 1) << model;
    }
}

TEST(GpuCatalog, RungsThatAProductLacksFallToTheNext) {
    const GpuProduct& h100 = *find_gpu_product("H100");
    const GpuProduct& l40s = *find_gpu_product("L40S");
    const GpuProduct& gb200 = *find_gpu_product("GB200");

    EXPECT_EQ(all_reduce_gbs(h100, Reach::nvlink_domain), 50);
    EXPECT_EQ(all_reduce_gbs(l40s, Reach::nvlink), all_reduce_gbs(l40s, Reach::pcie_switch));
    EXPECT_EQ(all_reduce_gbs(gb200, Reach::nvlink_domain), 940);
}

TEST(GpuCatalog, GangOverRacksRunsTwoToThreeTimesSlower) {
    const GpuProduct& h100 = *find_gpu_product("NVIDIA-H100-80GB-HBM3");

    EXPECT_EQ(expected_slowdown_percent(h100, Reach::nvlink, Reach::nvlink), 100);
    EXPECT_EQ(expected_slowdown_percent(h100, Reach::nvlink, Reach::leaf), 226);
    EXPECT_EQ(expected_slowdown_percent(h100, Reach::nvlink, Reach::spine), 253);
    EXPECT_EQ(expected_slowdown_percent(h100, Reach::nvlink, Reach::core), 286);
    EXPECT_EQ(expected_slowdown_percent(h100, Reach::leaf, Reach::nvlink), 100)
        << "nearer is never slower";
    EXPECT_EQ(expected_slowdown_percent(h100, Reach::nvlink, Reach::core, 0), 100) << "all compute";
    EXPECT_EQ(expected_slowdown_percent(h100, Reach::nvlink, Reach::spine, 15, {.rail_gbits = 100}),
              790);
}

}  // namespace
}  // namespace muster
