// A ledger decided anew: the same, or the first difference named.
#include "control/replay.h"

#include "control/decider.h"
#include "control/recover.h"
#include "ledger/store_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace muster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Fact node(const std::string& name, std::size_t gpus) {
    NodeSpec spec;
    spec.name = name;
    spec.gpus.resize(gpus);
    return NodeSet{std::move(spec)};
}

Fact gang(const std::string& name, std::int32_t tasks) {
    WorkloadSpec spec;
    spec.name = name;
    GroupSpec& group = spec.groups.emplace_back();
    group.minimum = group.count = tasks;
    group.task.gpu = {.kind = GpuKind::whole, .count = 4};
    return WorkloadSet{std::move(spec)};
}

/// Leaders that decide some cycles each, as the loop does; every fact list is one.
class ReplayedLog : public testing::Test {
protected:
    /// `spoil` may change what is put on record.
    void lead(const std::vector<std::vector<Fact>>& cycles, std::uint64_t snapshot_at = 0,
              const std::function<void(Cycle&)>& spoil = {}) {
        auto ledger =
            Ledger::open(open_memory_store(log_),
                         {.leader = "test", .engine_version = version_, .policy = policy_});
        ASSERT_TRUE(ledger.has_value());
        auto engine = recover(*ledger, policy_);
        ASSERT_TRUE(engine.has_value()) << engine.error().message;
        Decider decider(std::move(engine->engine), policy_);
        for (std::size_t i = 0; i < cycles.size(); ++i) {
            Decision decision = decider.decide(cycles[i], i + 1 == snapshot_at);
            if (spoil) { spoil(decision.cycle); }
            ASSERT_TRUE(ledger->append(decision.cycle).has_value());
            if (decision.snapshot) { ASSERT_TRUE(ledger->append(*decision.snapshot).has_value()); }
        }
    }

    Replayed replayed(std::uint64_t from = 1) {
        const auto store = open_memory_store(log_);
        auto told = decide_anew(*store, from);
        EXPECT_TRUE(told.has_value()) << told.error().message;
        return told ? *told : Replayed{};
    }

    MemoryLog log_;
    Policy policy_;
    std::string version_ = "0.1.0";
};

const std::vector<std::vector<Fact>> day = {
    {node("a", 8), node("b", 8), gang("one", 2)},
    {TimeIs{1'000}, gang("two", 3), NodeGone{"nowhere"}},
    {TimeIs{2'000}, WorkloadGone{"one"}},
    {TimeIs{3'000}, gang("three", 1)},
};

TEST_F(ReplayedLog, IsTheSameOverLeadersPoliciesAndSnapshots) {
    lead(day, 2);
    policy_.mix = {{.gpu_count = 4}};
    version_ = "0.2.0";
    lead({{TimeIs{4'000}, WorkloadGone{"two"}}, {gang("four", 4)}});

    const Replayed told = replayed();

    EXPECT_FALSE(told.difference) << told.difference->text;
    EXPECT_EQ(told.first, 1U);
    EXPECT_EQ(told.last, 9U);
    EXPECT_EQ(told.leaders, 2U);
    EXPECT_EQ(told.snapshots, 1U);
    EXPECT_EQ(told.cycles, 6U);
    EXPECT_THAT(told.engine_versions, testing::ElementsAre("0.1.0", "0.2.0"));
}

TEST_F(ReplayedLog, BeginsWithTheLastSnapshotBeforeAnEntry) {
    lead(day, 2);

    EXPECT_EQ(replayed(3).first, 1U);  // the snapshot is entry 4
    EXPECT_EQ(replayed(4).first, 4U);
    EXPECT_EQ(replayed(6).cycles, 2U);
    EXPECT_EQ(replayed(6).snapshots, 0U);
}

TEST_F(ReplayedLog, BeginsWithASnapshotWhereRetentionDroppedTheRest) {
    policy_.mix = {{.gpu_count = 4}};
    lead(day, 2);
    {
        const auto store = open_memory_store(log_);
        ASSERT_EQ(*store->drop_before(4, 1), 3U);
    }

    const Replayed told = replayed();

    EXPECT_FALSE(told.difference) << told.difference->text;
    EXPECT_EQ(told.first, 4U);
    EXPECT_EQ(told.cycles, 2U);
}

TEST_F(ReplayedLog, NamesTheFirstPlanThatWasAltered) {
    lead(day, 0, [](Cycle& cycle) {
        if (cycle.plan.cycle == 3) { cycle.plan.placements[0].tasks[1].devices.gpus = 0xf; }
    });

    const Replayed told = replayed();

    ASSERT_TRUE(told.difference);
    EXPECT_EQ(told.difference->entry, 4U);
    EXPECT_EQ(told.difference->cycle, 3U);
    EXPECT_EQ(told.last, 4U);
    EXPECT_THAT(told.difference->text, AllOf(HasSubstr("placement 1 of 1, two: recorded task 1"),
                                             HasSubstr("decided task 1 on")));
}

TEST_F(ReplayedLog, SaysWhatOfAPlanIsAnotherOne) {
    const std::vector<std::pair<std::function<void(Plan&)>, std::string>> cases = {
        {[](Plan& plan) { plan.cycle = 7; }, "recorded cycle 7, decided cycle 2"},
        {[](Plan& plan) { plan.refusals.clear(); }, "refusal 1 of 1: recorded none, decided two"},
        {[](Plan& plan) { plan.refusals[0].workload = "x"; }, "recorded x, decided two"},
        {[](Plan& plan) { plan.refusals[0].reason.text = "no"; }, "two: recorded 'no', decided '"},
        {[](Plan& plan) { plan.refusals[0].reason.wakes.clear(); }, "other numbers or wakes"},
        {[](Plan& plan) { plan.releases.push_back({.workload = "one"}); },
         "release 1 of 1: recorded one, decided none"},
    };
    for (const auto& [spoil, words] : cases) {
        log_ = {};
        lead(day, 0, [&](Cycle& cycle) {
            if (cycle.plan.cycle == 2) { spoil(cycle.plan); }
        });

        const Replayed told = replayed();

        ASSERT_TRUE(told.difference) << words;
        EXPECT_THAT(told.difference->text, HasSubstr(words));
    }
}

TEST_F(ReplayedLog, ARefusedFactMustBeRefusedAgain) {
    lead(day, 0, [](Cycle& cycle) { cycle.conflicts.clear(); });
    EXPECT_THAT(replayed().difference->text,
                HasSubstr("fact 2 was taken, and is refused now: node nowhere is not known"));

    log_ = {};
    lead(day, 0, [](Cycle& cycle) {
        if (cycle.plan.cycle == 1) { cycle.conflicts = {{.fact = 1}}; }
    });
    EXPECT_EQ(replayed().difference->text, "fact 1 was refused, and is taken now");
}

TEST_F(ReplayedLog, ASnapshotMustBeWhatTheEngineKnows) {
    lead(day, 2);
    auto record = decode_record(log_.entries[3].payload);
    ASSERT_TRUE(record.has_value());
    auto& snapshot = std::get<Snapshot>(*record);
    snapshot.workloads[0].tasks[0].is_confirmed = true;
    // A forger who mends the chain too: only deciding again finds it.
    Hash before = log_.entries[2].header.hash;
    log_.entries[3].payload = encode_record(snapshot);
    for (std::size_t i = 3; i < log_.entries.size(); ++i) {
        Entry& entry = log_.entries[i];
        entry.header.hash = before = chain_hash(before, entry.header, entry.payload);
    }

    const Replayed told = replayed();

    ASSERT_TRUE(told.difference);
    EXPECT_EQ(told.difference->entry, 4U);
    EXPECT_THAT(told.difference->text, HasSubstr("snapshot: workload 1 of 2, one:"));
}

TEST_F(ReplayedLog, ALogThatDoesNotReadIsNoDifference) {
    lead(day);
    log_.entries[3].payload.pop_back();
    const auto store = open_memory_store(log_);
    EXPECT_THAT(decide_anew(*store).error().message, HasSubstr("entry 4: its hash is another one"));

    log_ = {};
    lead(day);
    log_.anchor = log_.entries.front().header;
    log_.entries.pop_front();
    EXPECT_THAT(decide_anew(*open_memory_store(log_)).error().message,
                HasSubstr("found a cycle as entry 2; expected a leader or a snapshot"));
}

}  // namespace
}  // namespace muster
