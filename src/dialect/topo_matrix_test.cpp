#include "dialect/topo_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::dialect {
namespace {

using testing::ElementsAre;

const std::string two_gpus_one_nic =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV18\tPXB\t0-55,112-167\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tSYS\t56-111,168-223\t1\t\tN/A\n"
    "NIC0\tPXB\tSYS\t X \t\t\t\t\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n"
    "\n"
    "NIC Legend:\n"
    "\n"
    "  NIC0: mlx5_0\n"
    "\n";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(TopoMatrix, ReadsGpusNicsZonesAndLegend) {
    const auto matrix = read_topo_matrix("topo.txt", two_gpus_one_nic);

    ASSERT_TRUE(matrix.has_value()) << matrix.error().message;
    EXPECT_THAT(matrix->gpu_numa, ElementsAre(0, 1));
    EXPECT_THAT(matrix->nics, ElementsAre(NicSpec{.name = "mlx5_0", .numa = 0}));
    EXPECT_THAT(matrix->links.paths,
                ElementsAre(Link::self, Link::nvlink, Link::pxb, Link::nvlink, Link::self,
                            Link::sys, Link::pxb, Link::sys, Link::self));
    EXPECT_THAT(matrix->links.nvlinks, ElementsAre(0, 18, 0, 18, 0, 0, 0, 0, 0));
}

TEST(TopoMatrix, ReadsWhatOldDriversPrint) {
    const auto matrix =
        read_topo_matrix("topo.txt",
                         "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\n"
                         "GPU0\t X \tPHB\tPIX\t0-19\n"
                         "GPU1\tPHB\t X \tSOC\t0-19\n"
                         "mlx5_0\tPIX\tSOC\t X \t\n"
                         "\nLegend:\n\n  X   = Self\n  SOC = Path traverses a socket-level link\n");

    ASSERT_TRUE(matrix.has_value()) << matrix.error().message;
    EXPECT_THAT(matrix->gpu_numa, ElementsAre(-1, -1));
    EXPECT_THAT(matrix->nics, ElementsAre(NicSpec{.name = "mlx5_0", .numa = -1}));
    EXPECT_EQ(matrix->links.paths[5], Link::sys);
}

TEST(TopoMatrix, ReadsUnderlinedHeaderBlanksForTabsAndSeveralZones) {
    const auto matrix =
        read_topo_matrix("topo.txt",
                         "\x1b[4m     GPU0  GPU1  CPU Affinity  NUMA Affinity\x1b[0m\r\n"
                         "GPU0   X    NV4   0-31          0-1\r\n"
                         "GPU1  NV4    X    0-31          3\r\n");

    ASSERT_TRUE(matrix.has_value()) << matrix.error().message;
    EXPECT_THAT(matrix->gpu_numa, ElementsAre(-1, 3));
    EXPECT_EQ(matrix->links.nvlinks[1], 4);
}

TEST(TopoMatrix, SingleGpuIsEnough) {
    const auto matrix = read_topo_matrix("t", "\tGPU0\nGPU0\t X \n");

    ASSERT_TRUE(matrix.has_value()) << matrix.error().message;
    EXPECT_THAT(matrix->links.paths, ElementsAre(Link::self));
}

TEST(TopoMatrix, EveryErrorSaysWhereAndWhat) {
    struct Case {
        std::string text;
        const char* message;
    };
    const Case cases[] = {
        {"", "t line 0: found no text, expected the header of `nvidia-smi topo -m`: GPU0 GPU1 …"},
        {"Failed to initialize NVML\n",
         "t line 1: found \"Failed\", expected the header of `nvidia-smi topo -m`: GPU0 GPU1 …"},
        {replaced(two_gpus_one_nic, "NV18", "NV0"),
         "t line 2, field 3: found \"NV0\", expected NV#, PIX, PXB, PHB, NODE or SYS"},
        {replaced(two_gpus_one_nic, "PXB\t0-55", "FAR\t0-55"),
         "t line 2, field 4: found \"FAR\", expected NV#, PIX, PXB, PHB, NODE or SYS"},
        {replaced(two_gpus_one_nic, " X \tNV18", "SYS\tNV18"),
         "t line 2, field 2: found \"SYS\", expected X"},
        {replaced(two_gpus_one_nic, "0-55,112-167", "all"),
         "t line 2, field 5: found \"all\", expected numbers like 0-63,128-191 or N/A"},
        {replaced(two_gpus_one_nic, "56-111,168-223\t1", "56-111,168-223\t16"),
         "t line 3, field 6: found NUMA zone 16, expected 0 to 15"},
        {replaced(two_gpus_one_nic, "GPU1\tNIC0", "GPU2\tNIC0"),
         "t line 1, field 2: found GPU2, expected GPU1"},
        {replaced(two_gpus_one_nic, "GPU1\tNIC0", "NIC0\tNIC0"),
         "t line 1, field 3: found NIC0 twice, expected each device once"},
        {replaced(two_gpus_one_nic, "CPU Affinity", "CPU Speed"),
         "t line 1, field 4: found \"CPU Speed NUMA Affinity GPU NUMA ID\", expected CPU Affinity, "
         "NUMA Affinity, "
         "GPU NUMA ID or the end of the line"},
        {replaced(two_gpus_one_nic, "GPU1\tNV18", "GPU3\tNV18"),
         "t line 3, field 1: found \"GPU3\", expected the row of GPU1"},
        {two_gpus_one_nic.substr(0, two_gpus_one_nic.find("NIC0\tPXB")),
         "t line 3, field 1: found the end, expected the row of NIC0"},
        {replaced(two_gpus_one_nic, " X \tSYS\t56-111,168-223\t1\t\tN/A", ""),
         "t line 3: found 2 fields, expected 4 to 7 for GPU1"},
        {replaced(two_gpus_one_nic, "GPU1\tNV18", "GPU1\tNV12"),
         "t: found one path from GPU1 to GPU0 and another one back, expected the same"},
        {replaced(two_gpus_one_nic, "NIC0: mlx5_0", "NIC7: mlx5_0"),
         "t line 13: found \"NIC7:\", expected a line of the NIC legend such as NIC0: mlx5_0"},
    };
    for (const Case& c : cases) {
        const auto matrix = read_topo_matrix("t", c.text);
        ASSERT_FALSE(matrix.has_value()) << c.message;
        EXPECT_EQ(matrix.error().message, c.message);
    }
}

TEST(TopoMatrix, GoesOntoANodeOfAsManyGpus) {
    const auto matrix = read_topo_matrix("t", two_gpus_one_nic);
    NodeSpec node{.name = "a", .gpus = {{}, {}}};
    NodeSpec other{.name = "b", .gpus = {{}}};

    EXPECT_TRUE(apply_topo_matrix(*matrix, node).has_value());
    EXPECT_EQ(node.gpus[1].numa, 1);
    EXPECT_EQ(node.links, matrix->links);
    EXPECT_EQ(apply_topo_matrix(*matrix, other).error().message,
              "node b: found a matrix of 2 GPUs, expected 1");
}

}  // namespace
}  // namespace muster::dialect
