#include "control/recover.h"

#include "control/decider.h"
#include "control/fake_seams_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace muster {
namespace {

Ledger open(MemoryLog& log, Policy policy = {}) {
    auto ledger = Ledger::open(open_memory_store(log), {.leader = "test", .policy = policy});
    EXPECT_TRUE(ledger.has_value());
    return std::move(*ledger);
}

Snapshot recovered(MemoryLog& log, Policy policy = {}) {
    Ledger ledger = open(log, policy);
    auto engine = recover(ledger, policy);
    EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
    return engine ? engine->engine.snapshot() : Snapshot{};
}

Policy policy_naming(const std::string& model) {
    return {.mix = {{.milli_cpu = 1'000, .gpu_count = 1, .models = {model}}}};
}

TEST(Recover, OfNothingIsAnEmptyEngine) {
    MemoryLog log;

    EXPECT_EQ(recovered(log).cycle, 0u);
}

TEST(Recover, IsASnapshotAndWhatIsBehindIt) {
    MemoryLog log;
    Ledger ledger = open(log);
    Decider live(Engine(), {});
    const auto run = [&](std::vector<Fact> facts, bool with_snapshot) {
        const Decision made = live.decide(std::move(facts), with_snapshot);
        ASSERT_TRUE(ledger.append(made.cycle).has_value());
        if (made.snapshot) { ASSERT_TRUE(ledger.append(*made.snapshot).has_value()); }
    };
    run({node_fact("a", 4), WorkloadSet{gang("w", 1, 4)}}, false);
    run({NodeGone{"nothing"}, WorkloadSet{gang("x", 1, 4)}}, true);
    run({WorkloadGone{"w"}, TimeIs{50}}, false);
    ASSERT_TRUE(ledger.apply({.keep = Keep::snapshots, .snapshots = 1}).has_value());

    EXPECT_EQ(recovered(log), live.engine().snapshot());
    Ledger next = open(log);
    EXPECT_EQ(recover(next, {})->cycles, 1u);
}

TEST(Recover, RestoresWhereALeaderBeganAndFoldsUnderItsPolicy) {
    // The second leader's engine was restored, so the node that came back stands last.
    MemoryLog log;
    {
        Ledger ledger = open(log, policy_naming("A100"));
        Decider live(Engine(policy_naming("A100")), policy_naming("A100"));
        for (std::vector<Fact> facts : {std::vector<Fact>{node_fact("a", 1), node_fact("b", 1)},
                                        std::vector<Fact>{NodeGone{"a"}}}) {
            ASSERT_TRUE(ledger.append(live.decide(std::move(facts)).cycle).has_value());
        }
    }
    Ledger ledger = open(log, policy_naming("H200"));
    auto begun = recover(ledger, policy_naming("H200"));
    ASSERT_TRUE(begun.has_value());
    Decider live(std::move(begun->engine), policy_naming("H200"));
    ASSERT_TRUE(ledger.append(live.decide({node_fact("a", 1)}).cycle).has_value());

    Snapshot third = recovered(log);

    third.policy = policy_naming("H200");
    EXPECT_EQ(third, live.engine().snapshot());
    EXPECT_EQ(third.nodes.back().name, "a");
}

TEST(Recover, SnapshotsAreFoldedUnderTheirOwnPolicy) {
    MemoryLog log;
    Ledger ledger = open(log, policy_naming("A100"));
    Decider live(Engine(policy_naming("A100")), policy_naming("A100"));
    const Decision first = live.decide({TimeIs{1}}, true);
    ASSERT_TRUE(ledger.append(first.cycle).has_value());
    ASSERT_TRUE(ledger.append(*first.snapshot).has_value());
    ASSERT_TRUE(ledger.append(live.decide({node_fact("a", 1)}).cycle).has_value());
    ASSERT_TRUE(ledger.apply({.keep = Keep::snapshots}).has_value());

    Snapshot next = recovered(log, policy_naming("H200"));

    next.policy = policy_naming("A100");
    EXPECT_EQ(next, live.engine().snapshot());
}

struct Nonsense {
    const char* name;
    std::function<void(Cycle&)> spoil;
    const char* told;
};

class RecoverNonsense : public testing::TestWithParam<Nonsense> {};

TEST_P(RecoverNonsense, IsToldAsCorrupt) {
    Decider live(Engine(), {});
    Engine reader;
    const auto follow = [&](const Cycle& cycle) {
        const auto done = fold(reader, cycle);
        ASSERT_TRUE(done.has_value()) << done.error().message;
    };
    follow(live.decide({node_fact("a", 4), WorkloadSet{gang("w", 1, 2)}}).cycle);
    Cycle cycle = live.decide({WorkloadSet{gang("x", 2, 1)}, WorkloadSet{gang("y", 1, 1)}}).cycle;
    ASSERT_EQ(cycle.plan.placements.size(), 1u);
    ASSERT_EQ(cycle.plan.refusals.size(), 1u);

    GetParam().spoil(cycle);
    const auto done = fold(reader, cycle);

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::corrupt);
    EXPECT_THAT(done.error().message, testing::HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    All, RecoverNonsense,
    testing::Values(
        Nonsense{"Cycle", [](Cycle& c) { c.plan.cycle = 9; }, "it follows cycle 1, expected 8"},
        Nonsense{"UnknownPlaced", [](Cycle& c) { c.plan.placements[0].workload = "z"; },
                 "places z, which is not known"},
        Nonsense{"TaskTwice", [](Cycle& c) { c.plan.placements[0].tasks[1].task = 0; },
                 "places x/0 on a"},
        Nonsense{"NoSuchTask", [](Cycle& c) { c.plan.placements[0].tasks[0].task = 7; },
                 "places x/7 on a"},
        Nonsense{"NoSuchNode", [](Cycle& c) { c.plan.placements[0].tasks[0].node = "q"; },
                 "places x/0 on q"},
        Nonsense{"TakenDevices", [](Cycle& c) { c.plan.placements[0].tasks[0].devices.gpus = 1; },
                 "places x/0 on a"},
        Nonsense{"NoSuchDevice",
                 [](Cycle& c) { c.plan.placements[0].tasks[0].devices.gpus = 1U << 6; },
                 "places x/0 on a"},
        Nonsense{"ReleasesOneThatWaits",
                 [](Cycle& c) { c.plan.releases.push_back({.workload = "y", .tasks = {}}); },
                 "releases y, which does not run"},
        Nonsense{"ReleasesElsewhere",
                 [](Cycle& c) {
                     c.plan.releases.push_back({.workload = "w", .tasks = {{.node = "b"}}});
                 },
                 "releases w/0 from b"},
        Nonsense{"RefusesOneThatRuns", [](Cycle& c) { c.plan.refusals[0].workload = "w"; },
                 "refuses w, which does not wait"},
        Nonsense{"FactTaken",
                 [](Cycle& c) {
                     c.conflicts.push_back({.fact = 0, .rule = ConflictRule::fact_refused});
                 },
                 "fact 0 was refused, and is taken now"},
        Nonsense{"FactRefused", [](Cycle& c) { c.facts.push_back(NodeGone{"q"}); },
                 "fact 2 was taken, and is refused now"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace muster
