#include "control/decider.h"

#include "control/fake_seams_test.h"
#include "engine/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two nodes of four GPUs.
class DeciderTest : public testing::Test {
protected:
    DeciderTest() : decider(Engine(), {}) {
        decider.decide({node_fact("a", 4), node_fact("b", 4)});
    }

    /// Of the order that is open for a task.
    std::string open(const std::string& workload, std::uint32_t task = 0) {
        for (const TaskOrder& order : decider.open_orders()) {
            if (order.workload == workload && order.task == task) {
                return (order.kind == OrderKind::bind ? "bind " : "evict ") + order.node;
            }
        }
        return "none";
    }

    TaskState state(const std::string& workload, std::uint32_t task = 0) {
        const World& world = decider.engine().world();
        return world.workloads[world.find_workload(workload).value].tasks[task].state;
    }

    Decider decider;
};

TEST_F(DeciderTest, APlacementIsAnOrderUntilItIsConfirmed) {
    const Decision made = decider.decide({WorkloadSet{gang("w", 2, 2)}});
    ASSERT_EQ(made.opened.size(), 2u);
    EXPECT_EQ(made.opened[0].kind, OrderKind::bind);
    EXPECT_EQ(made.opened[0].cycle, made.cycle.plan.cycle);

    const Decision confirmed = decider.decide({confirm(made.opened[0])});

    EXPECT_THAT(confirmed.closed, ElementsAre(TaskName("w", 0)));
    EXPECT_THAT(confirmed.cycle.conflicts, IsEmpty());
    EXPECT_EQ(open("w", 0), "none");
    EXPECT_NE(open("w", 1), "none");
}

TEST_F(DeciderTest, ALostNodeReleasesTheGangAndItComesBackWhenAllAreGone) {
    const Decision made = decider.decide({WorkloadSet{gang("w", 2, 4)}});
    decider.decide({confirm(made.opened[0]), confirm(made.opened[1])});
    const std::string left = made.opened[0].node == "a" ? "b" : "a";
    const std::uint32_t rank = made.opened[0].node == left ? 0 : 1;

    const Decision released = decider.decide({NodeGone{left == "a" ? "b" : "a"}});

    ASSERT_EQ(released.cycle.plan.releases.size(), 1u);
    ASSERT_EQ(released.opened.size(), 1u);
    EXPECT_EQ(released.opened[0].kind, OrderKind::evict);
    EXPECT_EQ(released.opened[0].node, left);
    EXPECT_EQ(state("w", rank), TaskState::leaving);

    const Decision again =
        decider.decide({node_fact(left == "a" ? "b" : "a", 4), TaskGone{"w", rank, false}});
    EXPECT_THAT(again.closed, ElementsAre(TaskName("w", rank)));
    EXPECT_EQ(again.opened.size(), 2u) << "placed again in the same cycle";
}

TEST_F(DeciderTest, AReleasedTasksLateConfirmationChangesNothing) {
    const Decision made = decider.decide({WorkloadSet{gang("w", 2, 4)}});
    const TaskOrder& stays = made.opened[0];
    const Decision released = decider.decide({NodeGone{made.opened[1].node}});
    ASSERT_EQ(released.opened.size(), 1u);

    const Decision late = decider.decide({confirm(stays)});

    EXPECT_THAT(late.closed, IsEmpty());
    EXPECT_THAT(late.cycle.conflicts, IsEmpty());
    EXPECT_EQ(open("w", stays.task), "evict " + stays.node);
    EXPECT_EQ(state("w", stays.task), TaskState::leaving);
}

TEST_F(DeciderTest, AGangThatLostAllIsReleasedOnRecord) {
    decider.decide({WorkloadSet{gang("w", 1, 4)}, WorkloadSet{gang("x", 1, 4)}});

    const Decision lost = decider.decide({NodeGone{"a"}, NodeGone{"b"}});

    ASSERT_EQ(lost.cycle.plan.releases.size(), 2u);
    EXPECT_THAT(lost.cycle.plan.releases[0].tasks, IsEmpty());
    EXPECT_EQ(lost.closed.size(), 2u);
    EXPECT_THAT(lost.opened, IsEmpty());
}

TEST_F(DeciderTest, AFactThatMakesNoSenseIsAConflictAndChangesNothing) {
    const Decision made = decider.decide({TimeIs{5}, NodeGone{"nothing"}, TimeIs{6}});

    ASSERT_EQ(made.cycle.conflicts.size(), 1u);
    EXPECT_EQ(made.cycle.conflicts[0].fact, 1u);
    EXPECT_EQ(made.cycle.conflicts[0].rule, ConflictRule::fact_refused);
    EXPECT_THAT(made.cycle.conflicts[0].text, HasSubstr("nothing"));
    EXPECT_EQ(made.cycle.facts.size(), 3u);
}

TEST_F(DeciderTest, AForeignBindOnTakenDevicesIsAConflict) {
    const Decision made = decider.decide({WorkloadSet{gang("w", 1, 4)}});
    const std::string node = made.opened[0].node;
    decider.decide({WorkloadSet{gang("x", 1, 4)}, WorkloadSet{gang("y", 1, 4)}});

    const Decision foreign = decider.decide({TaskBound{"y", 0, node, true, {.gpus = 15}}});

    ASSERT_EQ(foreign.cycle.conflicts.size(), 1u);
    EXPECT_EQ(foreign.cycle.conflicts[0].rule, ConflictRule::cluster_is_right);
    EXPECT_EQ(state("y"), TaskState::placed);
    EXPECT_EQ(open("w"), "bind " + node) << "its order stands";
}

TEST_F(DeciderTest, ANodeThatShrinksUnderARunningTaskIsAConflict) {
    const Decision made = decider.decide({WorkloadSet{gang("w", 1, 4)}});
    const std::string node = made.opened[0].node;
    decider.decide({confirm(made.opened[0])});

    const Decision shrunk = decider.decide({node_fact(node, 2)});

    ASSERT_EQ(shrunk.cycle.conflicts.size(), 1u);
    EXPECT_EQ(shrunk.cycle.conflicts[0].rule, ConflictRule::cluster_is_right);
    EXPECT_EQ(state("w"), TaskState::placed);
    EXPECT_THAT(shrunk.opened, IsEmpty());
}

TEST_F(DeciderTest, ATaskThatDidNotStartNeverStartsOnLessThanItsPlanSaid) {
    const Decision made = decider.decide({WorkloadSet{gang("w", 1, 4)}});
    const std::string node = made.opened[0].node;

    const Decision shrunk = decider.decide({node_fact(node, 2)});

    ASSERT_EQ(shrunk.cycle.conflicts.size(), 1u);
    ASSERT_EQ(shrunk.cycle.plan.releases.size(), 1u);
    EXPECT_EQ(open("w"), "evict " + node);
}

TEST_F(DeciderTest, ACapBelowUsageIsAConflictAndNothingStops) {
    const Decision made = decider.decide({WorkloadSet{gang("w", 1, 4)}});
    QueueSpec queue{.name = "default"};
    queue.cap.amounts.push_back({"gpu", 2'000});

    const Decision lowered = decider.decide({QueueSet{queue}});

    ASSERT_EQ(lowered.cycle.conflicts.size(), 1u);
    EXPECT_EQ(lowered.cycle.conflicts[0].rule, ConflictRule::over_cap_waits);
    EXPECT_THAT(lowered.cycle.conflicts[0].text, HasSubstr("default"));
    EXPECT_THAT(lowered.closed, IsEmpty());
    EXPECT_EQ(open("w"), "bind " + made.opened[0].node);
}

TEST_F(DeciderTest, AForeignBindOverTheCapIsAConflict) {
    QueueSpec queue{.name = "default"};
    queue.cap.amounts.push_back({"gpu", 1'000});
    decider.decide({QueueSet{queue}, WorkloadSet{gang("w", 1, 4)}});

    const Decision foreign = decider.decide({TaskBound{"w", 0, "a", true, {.gpus = 15}}});
    const Decision told_again = decider.decide({TaskBound{"w", 0, "a", true, {.gpus = 15}}});

    ASSERT_EQ(foreign.cycle.conflicts.size(), 1u);
    EXPECT_EQ(foreign.cycle.conflicts[0].rule, ConflictRule::over_cap_waits);
    EXPECT_THAT(told_again.cycle.conflicts, IsEmpty());
}

TEST_F(DeciderTest, OrdersFollowTheirTasksWhenTheWorkloadIsDescribedAgain) {
    WorkloadSpec spec = gang("w", 1, 1);
    spec.groups[0] = {.name = "all", .minimum = 2, .task = {}, .topology = {}};
    for (const char* name : {"first", "second"}) {
        spec.groups.push_back(gang("", 1, 1).groups[0]);
        spec.groups.back().name = name;
        spec.groups.back().parent = 0;
    }
    decider.decide({WorkloadSet{spec}});
    ASSERT_NE(open("w", 1), "none");

    spec.groups[1].count = 2;  // the second group's task has number 2 from here on
    const Decision updated = decider.decide({WorkloadSet{spec}});

    std::vector<std::uint32_t> opened;
    for (const TaskOrder& order : updated.opened) { opened.push_back(order.task); }
    EXPECT_THAT(opened, testing::Contains(2u));
    EXPECT_EQ(decider.open_orders().size(), 3u);
}

TEST_F(DeciderTest, AnotherUidUnderOneNameIsAnotherWorkload) {
    WorkloadSpec spec = gang("w", 1, 2);
    const Decision made = decider.decide({WorkloadSet{spec}});
    decider.decide({confirm(made.opened[0])});

    spec.uid = "first";  // the same one, known better
    EXPECT_THAT(decider.decide({WorkloadSet{spec}}).cycle.plan.placements, IsEmpty());
    spec.uid = "";  // and a source that knows less says nothing against it
    EXPECT_THAT(decider.decide({WorkloadSet{spec}}).cycle.plan.placements, IsEmpty());
    EXPECT_EQ(open("w"), "none");

    spec.uid = "second";
    const Decision again = decider.decide({WorkloadSet{spec}});

    EXPECT_THAT(again.cycle.plan.placements, testing::SizeIs(1));
    EXPECT_EQ(again.opened.size(), 1u);
    EXPECT_EQ(state("w"), TaskState::placed);
}

TEST_F(DeciderTest, AGpuThatComesBackBelongsToWhomItBelonged) {
    const Decision made = decider.decide({WorkloadSet{gang("w", 1, 4)}});
    decider.decide({confirm(made.opened[0])});
    const std::string& node = made.opened[0].node;
    decider.decide({node_fact(node, 2)});

    const Decision back = decider.decide({node_fact(node, 4), WorkloadSet{gang("late", 2, 3)}});

    EXPECT_THAT(back.cycle.plan.placements, IsEmpty()) << "one node alone is free";
    const World& world = decider.engine().world();
    const Task& task = world.workloads[world.find_workload("w").value].tasks[0];
    EXPECT_EQ(task.devices.gpus, 0xfu);
    EXPECT_FALSE(task.is_conflict);
    EXPECT_TRUE(world.claims.empty());
}

TEST_F(DeciderTest, ASnapshotChangesNoOpenOrder) {
    decider.decide({NodeGone{"a"}, node_fact("c", 4)});
    decider.decide({WorkloadSet{gang("w", 2, 4)}}, true);
    ASSERT_EQ(decider.open_orders().size(), 2u);

    const Decision next = decider.decide({TimeIs{9}});

    EXPECT_THAT(next.closed, IsEmpty());
    EXPECT_THAT(next.opened, IsEmpty());
}

}  // namespace
}  // namespace muster
