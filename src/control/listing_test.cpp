#include "control/listing.h"

#include "control/decider.h"
#include "control/fake_seams_test.h"
#include "engine/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A cluster and an engine that agree: w runs on a, its second task is ordered.
class ListingTest : public testing::Test {
protected:
    ListingTest() : decider(Engine(), {}) {
        std::get<NodeSet>(node).node.pods = 110;
        now.nodes = {std::get<NodeSet>(node).node};
        now.queues = {{.name = "default"}};
        now.workloads = {gang("w", 2, 2)};
        const Decision made = decider.decide({node, WorkloadSet{now.workloads[0]}});
        decider.decide({confirm(made.opened[0])});
        now.runs = {{.workload = "w",
                     .task = made.opened[0].task,
                     .node = "a",
                     .has_devices = true,
                     .devices = made.opened[0].devices}};
    }

    [[nodiscard]] std::vector<Fact> told() const {
        return facts_against(decider.engine().snapshot(), now);
    }

    Fact node = node_fact("a", 4);
    Decider decider;
    Listing now;
};

TEST_F(ListingTest, AreNoneWhenAllAgree) { EXPECT_THAT(told(), IsEmpty()); }

TEST_F(ListingTest, TellWhatHasGone) {
    now.nodes.clear();
    now.workloads.clear();
    now.runs.clear();

    EXPECT_THAT(told(), ElementsAre(Fact(NodeGone{"a"}), Fact(WorkloadGone{"w"})));
}

TEST_F(ListingTest, TellATaskThatEndedAndNotOneThatIsOrdered) {
    now.runs.clear();

    EXPECT_THAT(told(), ElementsAre(Fact(TaskGone{"w", 0, false})));
}

TEST_F(ListingTest, TellARunThatNobodyHeardOf) {
    now.runs.push_back({.workload = "w", .task = 1, .node = "a"});

    EXPECT_THAT(told(), ElementsAre(Fact(TaskBound{"w", 1, "a", false, {}})));
}

TEST_F(ListingTest, TellAnotherWorkloadOfTheSameName) {
    now.workloads[0].uid = "one";
    decider.decide({WorkloadSet{now.workloads[0]}});
    decider.decide({TaskBound{"w", 0, "a", true, {.gpus = 1, .mig = {}}}, TaskGone{"w", 0, true}});
    ASSERT_THAT(told(), IsEmpty());
    now.workloads[0].uid = "another";
    now.runs = {{.workload = "w", .task = 0, .node = "a"}};

    EXPECT_THAT(told(), ElementsAre(Fact(WorkloadSet{now.workloads[0]}),
                                    Fact(TaskBound{"w", 0, "a", false, {}})));
    decider.decide(told());
    EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ListingTest, TellATaskThatFinishedThoughNobodyKnewThatItRan) {
    now.runs.push_back({.workload = "w", .task = 1, .node = "a", .is_finished = true});

    EXPECT_THAT(told(), ElementsAre(Fact(TaskGone{"w", 1, true})));
    decider.decide(told());
    EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ListingTest, TellWhatChanged) {
    now.nodes[0].is_cordoned = true;
    now.queues.push_back({.name = "red"});
    now.levels = {{"rack", "rack"}};
    LeaseSpec lease{.name = "l", .holder = "ray", .epoch = 1};
    now.leases = {lease};

    EXPECT_THAT(told(), ElementsAre(Fact(TopologySet{now.levels}), Fact(NodeSet{now.nodes[0]}),
                                    Fact(QueueSet{now.queues[1]}), Fact(LeaseSet{lease})));
}

TEST_F(ListingTest, EndALeaseThatIsNoMore) {
    LeaseSpec lease{.name = "l", .holder = "ray", .epoch = 4};
    lease.blocks = {{.node = "a", .gpus = 0, .milli_cpu = 1'000}};
    decider.decide({LeaseSet{lease}});
    ASSERT_EQ(decider.engine().world().leases.size(), 1u);

    const std::vector<Fact> facts = told();
    decider.decide(facts);

    EXPECT_EQ(facts.size(), 1u);
    EXPECT_TRUE(decider.engine().world().leases.empty());
}

TEST_F(ListingTest, AnEmptyLedgerAdoptsWhatRuns) {
    Decider fresh(Engine(), {});

    fresh.decide(facts_against(fresh.engine().snapshot(), now));

    const World& world = fresh.engine().world();
    const Task& task = world.workloads[world.find_workload("w").value].tasks[0];
    EXPECT_EQ(task.state, TaskState::placed);
    EXPECT_TRUE(task.is_confirmed);
    EXPECT_THAT(fresh.open_orders(), testing::SizeIs(1)) << "the rest of its gang";
}

}  // namespace
}  // namespace muster
