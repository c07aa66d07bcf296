// `Loop::run` with its two threads: the engine's and the I/O side's.
#include "control/loop.h"

#include "control/fake_seams_test.h"
#include "engine/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

LoopOptions quick(LoopOptions options = {}) {
    options.patience_ms = 0;
    options.retry = {.first_ms = 100, .most_ms = 1'000};
    return options;
}

Loop start(FakeSeams& seams, std::unique_ptr<Store> store, LoopOptions options = {}) {
    auto loop = Loop::start({seams, seams, seams, seams}, std::move(store), quick(options));
    EXPECT_TRUE(loop.has_value());
    return std::move(*loop);
}

/// A hundred gangs come, run and go.
void script(FakeSeams& seams) {
    seams.hear({node_fact("a", 8), node_fact("b", 8)});
    for (int i = 0; i < 100; ++i) {
        const std::string name = "w" + std::to_string(i);
        seams.hear({WorkloadSet{gang(name, 2, 4)}});
        seams.hear({TaskBound{name, 0, i % 2 == 0 ? "a" : "b", false, {}}});
        seams.hear({WorkloadGone{name}});
    }
}

TEST(LoopRun, DecidesWhatTurnsDecide) {
    FakeSeams threaded;
    FakeSeams single;
    script(threaded);
    script(single);
    MemoryLog threaded_log;
    MemoryLog single_log;
    Loop run = start(threaded, open_memory_store(threaded_log), {.snapshot_every = 7});
    Loop turns = start(single, open_memory_store(single_log), {.snapshot_every = 7});

    ASSERT_TRUE(run.run([&] { return threaded.script.empty(); }).has_value());
    while (!single.script.empty()) { ASSERT_TRUE(turns.turn().has_value()); }

    EXPECT_EQ(threaded_log.entries, single_log.entries);
    EXPECT_EQ(threaded.orders, single.orders);
    EXPECT_EQ(run.engine().snapshot(), turns.engine().snapshot());
}

/// The whole script to come, on a ledger that may fail.
struct OnFailingLedger {
    FakeSeams seams;
    MemoryLog log;
    std::unique_ptr<FailingStore> own = std::make_unique<FailingStore>(log);
    FailingStore& store = *own;
    Loop loop = start(seams, std::move(own));

    OnFailingLedger() { script(seams); }
};

TEST(LoopRun, TriesAFailedTurnAgain) {
    OnFailingLedger run;
    auto& [seams, log, own, store, loop] = run;
    seams.script.emplace_front(fail(Code::unavailable, "away"));
    store.is_full = true;
    int polls = 0;

    const auto done = loop.run([&] {
        store.is_full = ++polls % 5 != 0;
        return seams.script.empty() && !store.is_full;
    });

    EXPECT_TRUE(done.has_value());
    EXPECT_EQ(loop.engine().world().cycle, 301u);
}

TEST(LoopRun, EndsWhenAnotherOneLeads) {
    FakeSeams seams;
    MemoryLog log;
    Loop loop = start(seams, open_memory_store(log));
    script(seams);
    std::optional<Loop> other;
    int polls = 0;

    const auto done = loop.run([&] {
        if (++polls == 10) { other.emplace(start(seams, open_memory_store(log))); }
        return polls > 1'000;
    });

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_EQ(other->engine().world().cycle, 9u);
}

TEST(LoopRun, StopsWithAnUnrecordedTurnAndGoesOnWithIt) {
    OnFailingLedger run;
    auto& [seams, log, own, store, loop] = run;
    store.is_full = true;
    int polls = 0;
    ASSERT_TRUE(loop.run([&] { return ++polls > 5; }).has_value());

    store.is_full = false;
    ASSERT_TRUE(loop.run([&] { return seams.script.empty(); }).has_value());

    EXPECT_EQ(loop.engine().world().cycle, 301u);
    EXPECT_EQ(loop.ledger().last().sequence, 302u) << "each cycle once, and its leader";
}

}  // namespace
}  // namespace muster
