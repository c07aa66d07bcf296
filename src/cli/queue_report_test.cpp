#include "cli/queue_report.h"

#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WorkloadSpec gang(const std::string& name, const std::string& queue, std::int32_t tasks) {
    WorkloadSpec out;
    out.name = name;
    out.queue = queue;
    GroupSpec& group = out.groups.emplace_back();
    group.minimum = group.count = tasks;
    group.task.gpu = {.kind = GpuKind::whole, .count = 1};
    return out;
}

TEST(QueueReport, SumsUpTheTree) {
    Engine engine;
    NodeSpec node;
    node.name = "a";
    node.gpus.resize(4);
    const std::vector<Fact> facts = {
        NodeSet{node},
        QueueSet{{.name = "team", .cap = {{{"gpu", 3'000}}}, .guarantee = {{{"gpu", 2'000}}}}},
        QueueSet{{.name = "team.b", .parent = "team"}},
        QueueSet{{.name = "team.a", .parent = "team"}},
        WorkloadSet{gang("x/one", "team.a", 2)},
        WorkloadSet{gang("x/two", "team.b", 5)},
        WorkloadSet{gang("x/three", "default", 2)},
    };
    for (const Fact& fact : facts) { ASSERT_TRUE(engine.apply(fact).has_value()); }
    engine.cycle();

    const QueueReport report = report_queues(engine.world());

    EXPECT_EQ(report.gpus, 4);
    std::vector<std::string> names;
    for (const QueueRow& row : report.queues) { names.push_back(row.name); }
    ASSERT_THAT(names, ElementsAre("default", "team", "team.a", "team.b"));
    const QueueRow& team = report.queues[1];
    EXPECT_EQ(team.used_gpu_milli, 2'000);
    EXPECT_EQ(team.cap_gpu_milli, 3'000);
    EXPECT_EQ(team.guarantee_gpu_milli, 2'000);
    EXPECT_EQ(team.running, 1);
    EXPECT_EQ(team.waiting, 1);
    EXPECT_EQ(team.waiting_gpu_milli, 5'000);
    EXPECT_EQ(report.queues[2].depth, 1);
    EXPECT_EQ(report.queues[2].waiting, 0);
    EXPECT_EQ(report.queues[0].guarantee_gpu_milli, -1);
}

TEST(QueueReport, TellsShares) {
    EXPECT_EQ(share_text(2'500, 8), "31.3 %");
    EXPECT_EQ(share_text(8'000, 8), "100.0 %");
    EXPECT_EQ(share_text(0, 0), "–");
}

TEST(QueueReport, LeavesOutWhatWasNotDeclared) {
    JsonWriter out;

    write(out, {.gpus = 1, .queues = {{.name = "default"}}});

    EXPECT_THAT(out.text(), HasSubstr(R"("guarantee_gpu_milli":null,"cap_gpu_milli":null)"));
}

}  // namespace
}  // namespace muster::cli
