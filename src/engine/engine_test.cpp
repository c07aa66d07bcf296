#include "engine/engine.h"

#include "engine/world.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

NodeSpec node(const std::string& name, int gpus, const std::string& rack = "") {
    NodeSpec spec;
    spec.name = name;
    spec.allocatable = {.milli_cpu = 64'000, .memory = std::int64_t{512} << 30, .extended = {}};
    GpuSpec gpu;
    gpu.model = "H100";
    gpu.memory_mib = 81'920;
    spec.gpus.assign(static_cast<std::size_t>(gpus), gpu);
    if (!rack.empty()) { spec.labels.push_back({"rack", rack}); }
    return spec;
}

WorkloadSpec gang(const std::string& name, int tasks, int minimum, int gpus) {
    WorkloadSpec spec;
    spec.name = name;
    GroupSpec group;
    group.name = "worker";
    group.count = tasks;
    group.minimum = minimum;
    group.task.gpu.kind = GpuKind::whole;
    group.task.gpu.count = gpus;
    spec.groups.push_back(group);
    return spec;
}

TEST(Engine, PlacesTheWholeGangOrNothing) {
    Engine engine;
    ASSERT_TRUE(engine.apply(NodeSet{node("a", 4)}));
    ASSERT_TRUE(engine.apply(NodeSet{node("b", 4)}));
    ASSERT_TRUE(engine.apply(WorkloadSet{gang("six", 6, 6, 1)}));
    ASSERT_TRUE(engine.apply(WorkloadSet{gang("ten", 10, 10, 1)}));

    const Plan plan = engine.cycle();

    ASSERT_EQ(plan.placements.size(), 1U);
    EXPECT_EQ(plan.placements[0].tasks.size(), 6U);
    ASSERT_EQ(plan.refusals.size(), 1U);
    EXPECT_EQ(plan.refusals[0].reason.text, "10 tasks of 1 gpu; room for 2");
    ASSERT_TRUE(engine.apply(WorkloadGone{"six"}));
    EXPECT_EQ(engine.cycle().placements.size(), 0U);
    EXPECT_EQ(engine.why("ten")->text, "10 tasks of 1 gpu; room for 8");
}

TEST(Engine, AsksAgainOnlyWhoCouldStart) {
    Engine engine;
    ASSERT_TRUE(engine.apply(NodeSet{node("a", 8)}));
    ASSERT_TRUE(engine.apply(WorkloadSet{gang("first", 6, 6, 1)}));
    ASSERT_TRUE(engine.apply(WorkloadSet{gang("second", 4, 4, 1)}));
    ASSERT_EQ(engine.cycle().placements.size(), 1U);

    ASSERT_TRUE(engine.apply(TaskGone{"first", 0, true}));
    EXPECT_TRUE(engine.world().ready.empty());
    EXPECT_TRUE(engine.cycle().placements.empty());
    ASSERT_TRUE(engine.apply(TaskGone{"first", 1, true}));

    const Plan plan = engine.cycle();

    ASSERT_EQ(plan.placements.size(), 1U);
    EXPECT_EQ(plan.placements[0].workload, "second");
}

TEST(Engine, KeepsAGangInTheTightestRack) {
    Engine engine;
    ASSERT_TRUE(engine.apply(TopologySet{{{"rack", "rack"}}}));
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(engine.apply(NodeSet{node("a" + std::to_string(i), 8, "A")}));
        ASSERT_TRUE(engine.apply(NodeSet{node("b" + std::to_string(i), i < 2 ? 8 : 1, "B")}));
    }
    WorkloadSpec job = gang("job", 2, 2, 8);
    job.groups[0].topology.required = "rack";
    ASSERT_TRUE(engine.apply(WorkloadSet{job}));

    const Plan plan = engine.cycle();

    ASSERT_EQ(plan.placements.size(), 1U);
    EXPECT_EQ(plan.placements[0].domain, "rack B");
    WorkloadSpec wide = gang("wide", 5, 5, 8);
    wide.groups[0].topology.required = "rack";
    const auto answer = engine.what_if(wide);
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<Reason>(*answer).text, "5 tasks of 8 gpu; room for 4");
}

TEST(Engine, CompletesABrokenGangOrReleasesIt) {
    Engine engine;
    for (const char* name : {"a", "b", "c"}) { ASSERT_TRUE(engine.apply(NodeSet{node(name, 8)})); }
    ASSERT_TRUE(engine.apply(WorkloadSet{gang("pair", 2, 2, 8)}));
    ASSERT_EQ(engine.cycle().placements.size(), 1U);

    ASSERT_TRUE(engine.apply(NodeGone{"a"}));
    Plan plan = engine.cycle();
    ASSERT_EQ(plan.placements.size(), 1U);
    EXPECT_EQ(plan.placements[0].tasks.size(), 1U);
    EXPECT_EQ(plan.placements[0].tasks[0].node, "c");

    ASSERT_TRUE(engine.apply(NodeGone{"b"}));
    plan = engine.cycle();
    ASSERT_EQ(plan.releases.size(), 1U);
    EXPECT_EQ(plan.releases[0].tasks.size(), 1U);
    EXPECT_TRUE(engine.why("pair").has_value());
}

}  // namespace
}  // namespace muster
