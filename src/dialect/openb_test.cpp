#include "dialect/openb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::dialect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view node_header = "sn,cpu_milli,memory_mib,gpu,model\n";
constexpr std::string_view short_header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
constexpr std::string_view long_header =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

std::string text(std::string_view header, std::string_view rows) {
    return std::string(header) + std::string(rows);
}

template <class T>
std::string message(const Result<T>& result) {
    return result ? "no error" : result.error().message;
}

TEST(Openb, ReadsNodesByName) {
    const auto nodes =
        read_openb_nodes("nodes", text(node_header, "b,4000,1024,2,A9\na,2000,512,0,\r\n"));

    ASSERT_TRUE(nodes) << message(nodes);
    ASSERT_EQ(nodes->size(), 2U);
    EXPECT_EQ(nodes->at(0).name, "a");
    EXPECT_EQ(nodes->at(0).gpu_count, 0);
    EXPECT_EQ(nodes->at(1).name, "b");
    EXPECT_EQ(nodes->at(1).milli_cpu, 4000);
    EXPECT_EQ(nodes->at(1).memory_mib, 1024);
    EXPECT_EQ(nodes->at(1).gpu_count, 2);
    EXPECT_EQ(nodes->at(1).model, "A9");
}

TEST(Openb, ReadsPodsWithTimes) {
    const auto pods = read_openb_pods(
        "pods", text(long_header,
                     "p,1000,64,1,300,A9|B7,LS,Running,5,90,10\nq,1,0,0,0,,BE,Pending,5,6,\n"));

    ASSERT_TRUE(pods) << message(pods);
    ASSERT_EQ(pods->size(), 2U);
    EXPECT_EQ(pods->at(0).gpu_milli, 300);
    EXPECT_EQ(pods->at(0).models, "A9|B7");
    EXPECT_EQ(pods->at(0).times->run_seconds(), 80);
    EXPECT_EQ(pods->at(1).times->run_seconds(), std::nullopt);
}

TEST(Openb, ReadsPodsOfTheFiveFirstColumns) {
    const auto pods = read_openb_pods("pods", text(short_header, "p,1000,64,8,1000"));

    ASSERT_TRUE(pods) << message(pods);
    EXPECT_EQ(pods->at(0).gpu_count, 8);
    EXPECT_FALSE(pods->at(0).times);
}

TEST(Openb, ReadsTheColumnOfASeed) {
    const std::string arrivals = "seed42,seed43\n2,0\n0,1\n,0\n";

    EXPECT_THAT(read_openb_arrivals("a", arrivals, 42, 3).value(), ElementsAre(2, 0));
    EXPECT_THAT(read_openb_arrivals("a", arrivals, 43, 3).value(), ElementsAre(0, 1, 0));
    EXPECT_THAT(read_openb_ranks("r", "seed1\n1\n0\n", 1, 2).value(), ElementsAre(1, 0));
}

struct Bad {
    std::string name;
    std::string error;
    std::vector<std::string> expected;
};

TEST(Openb, NamesLineFieldFoundAndExpected) {
    const auto nodes = [](std::string_view rows) {
        return message(read_openb_nodes("n.csv", text(node_header, rows)));
    };
    const auto pods = [](std::string_view rows) {
        return message(read_openb_pods("p.csv", text(long_header, rows)));
    };
    const auto arrivals = [](std::string_view rows, int seed) {
        return message(read_openb_arrivals("a.csv", rows, seed, 3));
    };
    const auto ranks = [](std::string_view rows) {
        return message(read_openb_ranks("r.csv", rows, 1, 3));
    };
    const std::string huge(100'000, '7');
    const Bad cases[] = {
        {"empty", message(read_openb_nodes("n.csv", "")), {"n.csv", "header"}},
        {"header",
         message(read_openb_nodes("n.csv", "a,b\n")),
         {"line 1", "'a,b'", "'sn,cpu_milli"}},
        {"pod header", message(read_openb_pods("p.csv", "name,cpu\n")), {"line 1", "gpu_spec"}},
        {"width", nodes("a,1,1,1\n"), {"n.csv line 2", "4 fields", "expected 5"}},
        {"blank line", nodes("a,1,1,1,M\n\n"), {"line 3", "1 fields"}},
        {"no number", nodes("a,x1,1,1,M\n"), {"line 2, field cpu_milli", "'x1'"}},
        {"negative", nodes("a,1,-1,1,M\n"), {"field memory_mib", "-1", "expected 0 to"}},
        {"too many", nodes("a,1,1,65,M\n"), {"field gpu", "65", "expected 0 to 64"}},
        {"no model", nodes("a,1,1,2,\n"), {"field model", "2 GPUs"}},
        {"a model", nodes("a,1,1,0,M\n"), {"field model", "'M'"}},
        {"no name", nodes(",1,1,1,M\n"), {"field sn", "expected a name"}},
        {"twice", nodes("a,1,1,1,M\na,1,1,1,M\n"), {"'a' twice"}},
        {"long line", nodes(huge), {"line 2", "100000 bytes"}},
        {"share of two",
         pods("p,1,1,2,500,,,,0,1,0\n"),
         {"field gpu_milli", "500", "1000 to 1000"}},
        {"milli of none", pods("p,1,1,0,500,,,,0,1,0\n"), {"field gpu_milli", "0 to 0"}},
        {"no milli", pods("p,1,1,1,0,,,,0,1,0\n"), {"field gpu_milli", "1 to 1000"}},
        {"early end", pods("p,1,1,1,9,,,,5,4,\n"), {"field deletion_time", "4", "expected 5 to"}},
        {"late start", pods("p,1,1,1,9,,,,5,7,8\n"), {"field scheduled_time", "5 to 7"}},
        {"no column", arrivals("seed1\n0\n", 2), {"a.csv line 1", "seed2"}},
        {"beyond", arrivals("seed1\n0\n3\n", 1), {"line 3, field seed1", "3", "0 to 2"}},
        {"after the end", arrivals("seed1,seed2\n,1\n1,1\n", 1), {"line 3, field seed1", "'1'"}},
        {"rank twice", ranks("seed1\n0\n1\n1\n"), {"rank 1 twice"}},
        {"ranks short", ranks("seed1\n0\n1\n"), {"2 ranks", "expected 3"}},
    };
    for (const Bad& bad : cases) {
        for (const std::string& part : bad.expected) {
            EXPECT_THAT(bad.error, HasSubstr(part)) << bad.name;
        }
    }
}

}  // namespace
}  // namespace muster::dialect
