#include "codec/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace muster {
namespace {

/// The facts and expectations of a text that must be right.
std::vector<Command> read(std::string_view text) {
    auto scenario = read_scenario("x.muster", text);
    EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().message);
    return scenario ? scenario->commands : std::vector<Command>{};
}

template <class T>
T only(std::string_view text) {
    const std::vector<Command> commands = read(text);
    const auto* fact = commands.empty() ? nullptr : std::get_if<Fact>(&commands.back().action);
    const auto* found = fact == nullptr ? nullptr : std::get_if<T>(fact);
    EXPECT_NE(found, nullptr) << text;
    return found == nullptr ? T{} : *found;
}

std::string error_of(std::string_view text) {
    const auto scenario = read_scenario("x.muster", text);
    EXPECT_FALSE(scenario.has_value()) << text;
    return scenario ? "" : scenario.error().message;
}

TEST(Scenario, ReadsTheExampleOfTheConventions) {
    const std::vector<Command> commands = read(R"(node a rack=r1 gpu=8
node b rack=r1 gpu=4
queue vision cap=16
gang train queue=vision tasks=2 gpu=8

cycle
expect train waits "2 tasks of 8 gpu; room for 1"
show topology
| r1  12 free
|   a  8 free
|   b  4 free

set b gpu=8
cycle
expect train/0 on a
expect train/1 on b
)");

    ASSERT_EQ(commands.size(), 12u);
    EXPECT_EQ(std::get<Fact>(commands[0].action), Fact(TopologySet{{{"rack", "rack"}}}));
    EXPECT_EQ(std::get<ExpectWaits>(commands[6].action).text, "2 tasks of 8 gpu; room for 1");
    EXPECT_EQ(commands[6].line, 7u);
    EXPECT_THAT(std::get<Show>(commands[7].action).golden,
                testing::ElementsAre("r1  12 free", "  a  8 free", "  b  4 free"));
    const auto set = std::get<NodeSet>(std::get<Fact>(commands[8].action));
    EXPECT_EQ(set.node.gpus.size(), 8u);
    EXPECT_EQ(set.node.labels, (std::vector<Label>{{"rack", "r1"}}));
    EXPECT_EQ(std::get<ExpectTask>(commands[11].action),
              (ExpectTask{.workload = "train", .task = 1, .node = "b"}));
}

TEST(Scenario, DealsValuesToARangeOfNodesInEqualRuns) {
    const std::vector<Command> commands = read("levels rack\nnode n[08-11] rack=r[1-2] gpu=1\n");

    ASSERT_EQ(commands.size(), 5u);
    const auto label = [&](std::size_t i) {
        const auto& node = std::get<NodeSet>(std::get<Fact>(commands[i].action)).node;
        return node.name + " " + node.labels[0].value;
    };
    EXPECT_EQ(label(1), "n08 r1");
    EXPECT_EQ(label(2), "n09 r1");
    EXPECT_EQ(label(3), "n10 r2");
    EXPECT_EQ(label(4), "n11 r2");
}

TEST(Scenario, ReadsEveryPartOfANode) {
    const auto node =
        only<NodeSet>(
            "levels spine rack=topo/rack\n"
            "node a rack=r1 label.zone=z taint=gpu=yes:NoSchedule taint=old:NoExecute gpu=4 "
            "model=H100 "
            "gmem=80Gi mig=yes gpu.3.health=no cpu=64 mem=512Gi ext.rdma/hca=2 pods=30 nic=2 "
            "numa=2 "
            "numa.policy=single nvlink=0-1,2-3 rank=7 counted=yes ready=no cordoned=yes\n")
            .node;

    EXPECT_EQ(node.labels, (std::vector<Label>{{"topo/rack", "r1"}, {"zone", "z"}}));
    EXPECT_EQ(node.taints, (std::vector<Taint>{{"gpu", "yes", TaintEffect::no_schedule},
                                               {"old", "", TaintEffect::no_execute}}));
    ASSERT_EQ(node.gpus.size(), 4u);
    EXPECT_EQ(node.gpus[0], (GpuSpec{"H100", 80 * 1024, 0, MigMode::dynamic, true}));
    EXPECT_EQ(node.gpus[3], (GpuSpec{"H100", 80 * 1024, 1, MigMode::dynamic, false}));
    EXPECT_EQ(node.nics[1].numa, 1);
    EXPECT_EQ(node.numa, (std::vector<NumaZone>{{32'000}, {32'000}}));
    EXPECT_EQ(node.links.paths.size(), 36u);
    EXPECT_EQ(node.links.paths[1], Link::nvlink);
    EXPECT_EQ(node.links.paths[2], Link::sys);
    EXPECT_EQ(node.allocatable.memory, std::int64_t{512} << 30);
    EXPECT_EQ(node.pods, 30);
    EXPECT_TRUE(node.is_counted && node.is_cordoned && !node.is_ready);
}

TEST(Scenario, ReadsATreeOfGroups) {
    const auto workload = only<WorkloadSet>(R"(gang serve queue=q priority=3 require=spine linked=b
  group prefill require=rack min=1
    role leader tasks=1 gpu=1
    role worker tasks=4 min=2 gpu=8
  role decode tasks=3 share=0.5
)")
                              .workload;

    ASSERT_EQ(workload.groups.size(), 5u);
    EXPECT_EQ(workload.linked, (std::vector<std::string>{"serve", "b"}));
    EXPECT_EQ(workload.groups[0].minimum, 2);
    EXPECT_EQ(workload.groups[0].topology.required, "spine");
    EXPECT_EQ(workload.groups[1].minimum, 1);
    EXPECT_EQ(workload.groups[2].parent, 1);
    EXPECT_EQ(workload.groups[3].minimum, 2);
    EXPECT_EQ(workload.groups[3].count, 4);
    EXPECT_EQ(workload.groups[4].parent, 0);
    EXPECT_EQ(workload.groups[4].task.gpu.kind, GpuKind::share);
    EXPECT_EQ(workload.groups[4].task.gpu.milli, 500);
}

TEST(Scenario, ReadsTheWaysToAskForGpus) {
    const auto gpu = [](const char* attributes) {
        return only<WorkloadSet>("pod p " + std::string(attributes)).workload.groups[0].task.gpu;
    };

    EXPECT_EQ(gpu("").kind, GpuKind::none);
    EXPECT_EQ(gpu("gpu=8 model=H100,A100 near=nic").models.size(), 2u);
    EXPECT_EQ(gpu("mib=2000").mib, 2000);
    EXPECT_EQ(gpu("mig=1g.10gb").profile, "1g.10gb");
    EXPECT_EQ(gpu("mig=1g.10gb gpu=3").count, 3);
    EXPECT_EQ(gpu("share=0.5 gpu=2").count, 2);
}

TEST(Scenario, CarriesALeaseOnToItsNextStep) {
    const auto lease = only<LeaseSet>(
                           "lease l holder=slurm notice=30s block=a:0-2,7:8:64Gi block=b\n"
                           "lease l state=recalled deadline=90s\n")
                           .lease;

    EXPECT_EQ(lease,
              (LeaseSpec{.name = "l",
                         .holder = "slurm",
                         .state = LeaseState::recalled,
                         .epoch = 2,
                         .notice_s = 30,
                         .deadline = 90'000,
                         .blocks = {{"a", 0x87, 8'000, std::int64_t{64} << 30}, {.node = "b"}}}));
}

TEST(Scenario, BeginsAReturnedLeaseAnew) {
    const auto lease =
        only<LeaseSet>("lease l holder=slurm block=a:0\nlease l state=returned\nlease l\n").lease;

    EXPECT_EQ(lease, (LeaseSpec{.name = "l", .epoch = 1}));
}

struct Bad {
    const char* name;
    const char* text;
    const char* message;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

class BadScenario : public testing::TestWithParam<Bad> {};

TEST_P(BadScenario, IsRefusedWithLineFoundAndExpected) {
    EXPECT_THAT(error_of(GetParam().text), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Codec, BadScenario,
    testing::Values(
        Bad{"UnknownWord", "\nnodes a gpu=1\n",
            "x.muster:2: unknown word 'nodes'; expected one of"},
        Bad{"UnknownKey", "node a gpus=1\n", "x.muster:1: unknown key 'gpus'; expected one of"},
        Bad{"NoValue", "node a gpu\n", "'gpu'; expected key=value"},
        Bad{"KeyTwice", "node a gpu=1 gpu=2\n", "key 'gpu' stands twice"},
        Bad{"NodeTwice", "node a\nnode a\n", "x.muster:2: node 'a' is there already"},
        Bad{"TooManyGpus", "node a gpu=65\n", "gpu: 65 is out of range; expected 0 to 64"},
        Bad{"NegativeGpus", "node a gpu=-1\n", "out of range"},
        Bad{"CpuOverflow", "node a cpu=99999999999999999999\n", "cpu"},
        Bad{"MemoryOverflow", "node a mem=2Pi\n", "mem='2Pi' is out of range"},
        Bad{"HalfMebibyte", "node a gpu=1 gmem=1000000\n", "expected whole MiB"},
        Bad{"ModelWithoutGpu", "node a model=T4\n", "the node has no GPU"},
        Bad{"LevelTwice", "levels a b a\n", "level 'a' stands twice"},
        Bad{"UnknownParent", "queue a parent=b\n", "unknown parent queue 'b'; known: default"},
        Bad{"QueueCycle", "queue a\nqueue b parent=a\nset queue a parent=b\n",
            "x.muster:3: queue tree has a cycle: a → b → a"},
        Bad{"QueueOfItself", "queue a\nset queue a parent=a\n", "cycle"},
        Bad{"SetUnknownNode", "node a\nset b gpu=1\n", "unknown node 'b'; known: a"},
        Bad{"MinOverTasks", "gang g tasks=2 min=3\n", "min=3 is over tasks=2"},
        Bad{"NoTasks", "gang g tasks=0\n", "tasks: 0 is out of range"},
        Bad{"TasksOverBound", "gang g tasks=100001\n", "expected 1 to 100000"},
        Bad{"ShareOverOne", "pod p share=1.5\n", "share='1.5' is out of range"},
        Bad{"ShareOfNothing", "pod p share=0\n", "share=0; expected"},
        Bad{"MigAndShare", "pod p share=0.5 mig=1g.10gb\n", "expected one of the two"},
        Bad{"RoleWithoutGang", "  role w\n", "expected it below a gang"},
        Bad{"RoleBelowRole", "gang g\n  role a\n    role b\n", "below a role"},
        Bad{"EmptyGroup", "gang g\n  group a\n  role b\n", "group 'a' has no role"},
        Bad{"TasksOnInnerGang", "gang g gpu=8\n  role b\n", "'gpu' with roles below"},
        Bad{"UnevenIndent", "gang g\n  group x\n      role a\n    role b\n", "expected 6"},
        Bad{"GroupCycle", "gang g\n  group x under=2\n  group y under=1\n    role z\n",
            "under: 2 is out of range; expected 0 to 0"},
        Bad{"ExpectUnknownGang", "expect g runs\n", "unknown gang 'g'"},
        Bad{"ExpectTaskOutOfRange", "gang g tasks=2\nexpect g/2 waits\n", "expected 0 to 1"},
        Bad{"ExpectUnknownWhy", "gang g\nexpect g waits why=luck\n",
            "unknown 'luck'; expected one"},
        Bad{"TimeFalls", "time 30s\ntime 20s\n", "time falls from 30000ms to 20000ms"},
        Bad{"NoDuration", "time +30\n", "'30' is no duration"},
        Bad{"GoldenAlone", "| a\n", "expected it directly below `show`"},
        Bad{"GoldenAfterBlank", "show plan\n\n| a\n", "expected it directly below `show`"},
        Bad{"OpenQuote", "node \"a\n", "a quoted text does not end"},
        Bad{"UnevenDeal", "levels rack\nnode n[1-3] rack=r[1-2]\n", "2 values for 3 names"},
        Bad{"FallingRange", "node n[3-1]\n", "it falls"},
        Bad{"HugeRange", "node n[1-999999999]\n", "is over 200000 names"},
        Bad{"GpuOutOfRange", "node a gpu=2\nfail gpu a:2\n", "expected 0 to 1"},
        Bad{"LeaseOfFallingGpus", "lease l block=a:3-1\n", "block: 1 is out of range"},
        Bad{"LeaseGpuOverBound", "lease l block=a:64\n", "expected 0 to 63"},
        Bad{"LeaseBlockOfFive", "lease l block=a:0:1:2:3\n", "expected NODE[:GPUS[:CPU[:MEM]]]"},
        Bad{"LeaseUnknownState", "lease l state=lost\n", "expected one of: offered, granted"},
        Bad{"LeaseUnknownKey", "lease l gpus=1\n", "unknown key 'gpus'"},
        Bad{"FinishTwice", "gang g\nfinish g\nfinish g\n", "gang 'g' is gone"},
        Bad{"MixAfterCycle", "cycle\nmix gpu=1\n", "expected it before the first"},
        Bad{"ControlByte", "node a\x01\n", "control byte 0x01"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace muster
