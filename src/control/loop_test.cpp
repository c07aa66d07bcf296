#include "control/loop.h"

#include "control/fake_seams_test.h"
#include "control/recover.h"
#include "engine/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class LoopTest : public testing::Test {
protected:
    Loop start(LoopOptions options = {}) {
        auto own = std::make_unique<FailingStore>(log);
        store = own.get();
        options.retry = {.first_ms = 100, .most_ms = 1'000};
        auto loop = Loop::start({seams, seams, seams, seams}, std::move(own), std::move(options));
        EXPECT_TRUE(loop.has_value()) << (loop ? "" : loop.error().message);
        return std::move(*loop);
    }

    [[nodiscard]] std::size_t recorded(RecordKind kind) const {
        std::size_t count = 0;
        for (const Entry& entry : log.entries) { count += entry.header.kind == kind ? 1 : 0; }
        return count;
    }

    void hear_work() { seams.hear({node_fact("a", 4), WorkloadSet{gang("w", 2, 2)}}); }

    MemoryLog log;
    FakeSeams seams;
    FailingStore* store = nullptr;
};

TEST_F(LoopTest, RecordsBeforeItActs) {
    Loop loop = start();
    store->is_full = true;
    hear_work();

    ASSERT_FALSE(loop.turn().has_value());

    EXPECT_THAT(seams.orders, IsEmpty());
    EXPECT_EQ(recorded(RecordKind::cycle), 0u);
}

TEST_F(LoopTest, AFullDiskAndRoomAgainIsTheSameTurnOnce) {
    Loop loop = start();
    store->is_full = true;
    hear_work();
    seams.hear({WorkloadGone{"w"}});
    for (int i = 0; i < 3; ++i) {
        const auto failed = loop.turn();
        ASSERT_FALSE(failed.has_value());
        EXPECT_EQ(failed.error().code, Code::unavailable);
    }

    store->is_full = false;
    const auto done = loop.turn();

    ASSERT_TRUE(done.has_value() && done->has_value());
    EXPECT_EQ((*done)->cycle.plan.cycle, 1u);
    EXPECT_EQ(recorded(RecordKind::cycle), 1u);
    EXPECT_THAT(seams.take_orders(), SizeIs(2));
    EXPECT_THAT(seams.script, SizeIs(1)) << "nothing more was heard meanwhile";
}

TEST_F(LoopTest, ASnapshotThatFailsIsRecordedBeforeAnyOrder) {
    Loop loop = start({.snapshot_every = 1});
    store->is_full = true;
    store->fails_only = RecordKind::snapshot;
    hear_work();
    ASSERT_FALSE(loop.turn().has_value());
    EXPECT_EQ(recorded(RecordKind::cycle), 1u);
    EXPECT_THAT(seams.orders, IsEmpty());

    store->is_full = false;
    ASSERT_TRUE(loop.turn().has_value());

    EXPECT_EQ(recorded(RecordKind::cycle), 1u);
    EXPECT_EQ(recorded(RecordKind::snapshot), 1u);
    EXPECT_THAT(seams.orders, SizeIs(2));
}

TEST_F(LoopTest, AFencedLeaderWritesNothingAndOrdersNothing) {
    Loop old = start();
    hear_work();
    ASSERT_TRUE(old.turn().has_value());
    seams.take_orders();
    Loop next = start();
    const std::size_t entries = log.entries.size();

    seams.hear({WorkloadSet{gang("x", 1, 1)}});
    const auto done = old.turn();

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_EQ(log.entries.size(), entries);
    EXPECT_THAT(seams.orders, IsEmpty());
}

TEST_F(LoopTest, AFencedLeaderGivesNoOrderAgainThoughItHeardNothing) {
    Loop old = start();
    hear_work();
    ASSERT_TRUE(old.turn().has_value());
    seams.take_orders();
    Loop next = start();

    seams.time += 1'000'000;  // all are due
    const auto done = old.turn();

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_THAT(seams.orders, IsEmpty());
}

TEST_F(LoopTest, WhoLeadsNoMoreObservesNothing) {
    Loop loop = start();
    hear_work();
    seams.leads = false;

    const auto done = loop.turn();

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_THAT(seams.script, SizeIs(1));
    EXPECT_EQ(recorded(RecordKind::cycle), 0u);
}

TEST_F(LoopTest, AnAnswerThatGotLostEndsTheLoopAndTheNextOneCarriesOut) {
    Loop loop = start();
    store->loses_answers = true;
    hear_work();
    ASSERT_FALSE(loop.turn().has_value());
    store->loses_answers = false;
    const auto again = loop.turn();
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().code, Code::conflict);
    EXPECT_THAT(seams.orders, IsEmpty());

    Loop next = start();
    ASSERT_TRUE(next.turn().has_value());

    EXPECT_EQ(recorded(RecordKind::cycle), 1u);
    EXPECT_THAT(seams.orders, SizeIs(2));
}

TEST_F(LoopTest, ARestartGivesOpenOrdersAgain) {
    std::vector<TaskOrder> first;
    {
        Loop loop = start();
        hear_work();
        ASSERT_TRUE(loop.turn().has_value());
        first = seams.take_orders();
        ASSERT_THAT(first, SizeIs(2));
        seams.hear({confirm(first[0])});
        ASSERT_TRUE(loop.turn().has_value());
    }

    Loop next = start();
    EXPECT_THAT(seams.begun_with.workloads, SizeIs(1)) << "the Source is told what is known";
    ASSERT_TRUE(next.turn().has_value());

    const auto again = seams.take_orders();
    ASSERT_THAT(again, SizeIs(1));
    EXPECT_EQ(again[0].task, first[1].task);
    EXPECT_EQ(again[0].node, first[1].node);
    EXPECT_EQ(again[0].devices, first[1].devices);
}

TEST_F(LoopTest, AnOrderIsGivenAgainUntilItIsConfirmed) {
    Loop loop = start();
    hear_work();
    seams.fails_to_act = true;
    ASSERT_TRUE(loop.turn().has_value());
    const auto orders = seams.take_orders();
    EXPECT_EQ(loop.failed_orders(), 1u);
    ASSERT_TRUE(loop.turn().has_value());
    EXPECT_THAT(seams.orders, IsEmpty()) << "not before its pause is over";

    seams.time += 100;
    ASSERT_TRUE(loop.turn().has_value());
    EXPECT_EQ(seams.take_orders(), orders);

    seams.hear({confirm(orders[0]), confirm(orders[1])});
    ASSERT_TRUE(loop.turn().has_value());
    seams.time += 100'000;
    ASSERT_TRUE(loop.turn().has_value());
    EXPECT_THAT(seams.orders, IsEmpty());
    EXPECT_EQ(loop.orders().size(), 0u);
}

TEST_F(LoopTest, WhatWasOrderedIsOnRecordWithTheNextCycle) {
    Loop loop = start();
    hear_work();
    ASSERT_TRUE(loop.turn().has_value());
    const auto orders = seams.take_orders();
    seams.hear({TimeIs{0}});
    ASSERT_TRUE(loop.turn().has_value());

    const auto record = decode_record(log.entries.back().payload);
    ASSERT_TRUE(record.has_value());
    std::vector<std::uint32_t> tasks;
    for (const TaskOrder& order : orders) { tasks.push_back(order.task); }
    EXPECT_THAT(std::get<Cycle>(*record).ordered,
                testing::ElementsAre(Ordered{.kind = OrderKind::bind,
                                             .workload = orders[0].workload,
                                             .cycle = orders[0].cycle,
                                             .tasks = tasks}));
}

TEST_F(LoopTest, TimeOfTheFactsNeverFalls) {
    Loop loop = start();
    for (const std::int64_t time : {5'000, 3'000, 6'000}) {
        seams.time = time;
        seams.hear({NodeGone{"nothing"}});
        const auto done = loop.turn();
        ASSERT_TRUE(done.has_value() && done->has_value());
        EXPECT_THAT((*done)->cycle.conflicts, SizeIs(1)) << "of the node only";
    }
    EXPECT_EQ(loop.engine().world().now, 6'000);
}

TEST_F(LoopTest, AnObservationThatFailsIsMadeAgain) {
    Loop loop = start();
    seams.script.emplace_back(fail(Code::unavailable, "away"));
    hear_work();

    EXPECT_FALSE(loop.turn().has_value());
    EXPECT_TRUE(loop.turn().has_value());

    EXPECT_THAT(seams.orders, SizeIs(2));
}

TEST_F(LoopTest, SnapshotsComeEveryNCyclesAlsoOverRestarts) {
    for (int leader = 0; leader < 5; ++leader) {
        Loop loop = start({.snapshot_every = 3});
        seams.hear({NodeGone{"nothing"}});
        ASSERT_TRUE(loop.turn().has_value());
    }
    EXPECT_EQ(recorded(RecordKind::cycle), 5u);
    EXPECT_EQ(recorded(RecordKind::snapshot), 1u);
}

TEST_F(LoopTest, RetentionDropsWhatIsBeforeTheSnapshotsKept) {
    Loop loop =
        start({.snapshot_every = 2, .retention = {.keep = Keep::snapshots, .snapshots = 2}});
    hear_work();
    for (int i = 0; i < 9; ++i) { seams.hear({NodeGone{"nothing"}}); }
    while (!seams.script.empty()) { ASSERT_TRUE(loop.turn().has_value()); }

    EXPECT_EQ(recorded(RecordKind::snapshot), 2u);
    EXPECT_EQ(recorded(RecordKind::cycle), 2u);
    EXPECT_EQ(log.entries.front().header.kind, RecordKind::snapshot);
    const Snapshot known = loop.engine().snapshot();
    Loop next = start();
    EXPECT_EQ(next.engine().snapshot(), known);
}

}  // namespace
}  // namespace muster
