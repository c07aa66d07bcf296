// A policy that changes while the loop runs: whatever was heard before and behind it, and wherever
// the process stops, the log decides anew to the same plans, and whoever recovers goes on alike.
#include "control/fake_seams_test.h"
#include "control/loop.h"
#include "control/recover.h"
#include "control/replay.h"
#include "engine/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

namespace muster {
namespace {

Policy policy_of(int number) {
    Policy out;
    if (number > 0) { out.mix = {{.gpu_count = number % 8 + 1, .weight = number}}; }
    return out;
}

struct Process {
    Process(MemoryLog& log, FakeSeams& seams, const LoopOptions& options) {
        auto own = std::make_unique<FailingStore>(log);
        store = own.get();
        auto started = Loop::start({seams, seams, seams, seams}, std::move(own), options);
        if (started) { loop.emplace(std::move(*started)); }
    }
    FailingStore* store = nullptr;
    std::optional<Loop> loop;
};

RC_GTEST_PROP(PolicyChange, KeepsTheLogReplayable, ()) {
    MemoryLog log;
    FakeSeams seams;
    int wanted = 0;
    LoopOptions options{.retry = {.first_ms = 100, .most_ms = 1'000}, .snapshot_every = 3};
    auto process = std::make_unique<Process>(log, seams, options);
    RC_ASSERT(process->loop.has_value());
    const int steps = *rc::gen::inRange(1, 40);
    for (int step = 0; step < steps; ++step) {
        const std::string name = std::to_string(step);
        switch (*rc::gen::inRange(0, 7)) {
            case 0: seams.hear({node_fact("n" + name, 4)}); break;
            case 1:
            case 2: seams.hear({WorkloadSet{gang("w" + name, *rc::gen::inRange(1, 4), 1)}}); break;
            case 3:
                wanted = *rc::gen::inRange(0, 9);
                process->loop->set_policy(policy_of(wanted));
                break;
            case 4: process->store->is_full = !process->store->is_full; break;
            case 5: {
                for (const TaskOrder& order : seams.take_orders()) {
                    if (order.kind == OrderKind::bind) { seams.hear({confirm(order)}); }
                }
                break;
            }
            default:  // it stops; who starts next is told the policy that was wanted
                options.policy = policy_of(wanted);
                process = std::make_unique<Process>(log, seams, options);
                RC_ASSERT(process->loop.has_value());
        }
        seams.time += 10;
        static_cast<void>(process->loop->turn());
    }
    process->store->is_full = false;
    RC_ASSERT(process->loop->turn().has_value());  // what was decided under the old one
    RC_ASSERT(process->loop->turn().has_value());

    const auto store = open_memory_store(log);
    const auto again = decide_anew(*store, 1);
    RC_ASSERT(again.has_value());
    RC_ASSERT(!again->difference.has_value());
    RC_ASSERT(process->loop->engine().world().policy == policy_of(wanted));
}

TEST(PolicyChange, IsOnRecordAtABoundaryAndDecidesAtOnce) {
    MemoryLog log;
    FakeSeams seams;
    Process process(log, seams, {.retry = {.first_ms = 100, .most_ms = 1'000}});
    seams.hear({node_fact("a", 4), WorkloadSet{gang("w", 2, 1)}});
    ASSERT_TRUE(process.loop->turn().has_value());
    const std::uint64_t epoch = process.loop->ledger().epoch();
    const std::size_t entries = log.entries.size();

    process.loop->set_policy(policy_of(3));
    seams.time += 5;
    const auto turned = process.loop->turn();

    ASSERT_TRUE(turned.has_value() && turned->has_value());
    ASSERT_EQ(log.entries.size(), entries + 2);
    EXPECT_EQ(log.entries[entries].header.kind, RecordKind::opened);
    EXPECT_EQ(log.entries[entries + 1].header.kind, RecordKind::cycle);
    EXPECT_EQ(process.loop->ledger().epoch(), epoch + 1);
    const auto record = decode_record(log.entries[entries].payload);
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(std::get<Opened>(*record).policy_hash, policy_hash(policy_of(3)));
}

TEST(PolicyChange, WaitsForADecisionThatIsNotOnRecordYet) {
    MemoryLog log;
    FakeSeams seams;
    Process process(log, seams, {.retry = {.first_ms = 100, .most_ms = 1'000}});
    process.store->is_full = true;
    seams.hear({node_fact("a", 4), WorkloadSet{gang("w", 2, 1)}});
    ASSERT_FALSE(process.loop->turn().has_value());

    process.loop->set_policy(policy_of(3));
    process.store->is_full = false;
    ASSERT_TRUE(process.loop->turn().has_value());
    ASSERT_TRUE(process.loop->turn().has_value());

    std::vector<RecordKind> kinds;
    for (const Entry& entry : log.entries) { kinds.push_back(entry.header.kind); }
    EXPECT_THAT(kinds,
                testing::ElementsAre(RecordKind::opened, RecordKind::cycle, RecordKind::opened));
}

}  // namespace
}  // namespace muster
