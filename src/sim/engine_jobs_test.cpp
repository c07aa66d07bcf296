#include "sim/engine_jobs.h"

#include "ledger/cursor.h"
#include "ledger/store_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace muster::sim {
namespace {

JobTrace trace_of(std::vector<Job> jobs, JobUnit unit = JobUnit::gpu) {
    return {.name = "made", .unit = unit, .jobs = std::move(jobs)};
}

Job job(std::int64_t submit, std::int64_t run, std::int64_t size) {
    return {.submit_s = submit, .run_s = run, .size = size};
}

JobRun run(const JobTrace& trace, const Machine& machine) {
    auto done = run_jobs_with_engine(
        trace, {.cluster = {.machine = machine, .stretch = {}, .progress = {}}, .policy = {}});
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return std::move(*done);
}

/// No node ever holds more than it has.
void expect_within_nodes(const JobTrace& trace, const JobRun& done) {
    std::map<std::int64_t, std::vector<std::pair<std::int32_t, std::int64_t>>> changes;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        for (const JobPart& part : done.parts_of(done.outcomes[i])) {
            changes[done.outcomes[i].start_s].emplace_back(part.node, part.count);
            changes[done.outcomes[i].end_s].emplace_back(part.node, -part.count);
        }
    }
    std::vector<std::int64_t> held(static_cast<std::size_t>(done.machine.nodes), 0);
    for (const auto& [at, parts] : changes) {
        for (const auto& [node, count] : parts) { held[static_cast<std::size_t>(node)] += count; }
        for (const std::int64_t count : held) {
            ASSERT_GE(count, 0) << "at " << at;
            ASSERT_LE(count, done.machine.per_node) << "at " << at;
        }
    }
}

TEST(EngineJobs, SpreadAGangOverWholeNodesAndARest) {
    const JobTrace trace = trace_of({job(0, 100, 6), job(10, 100, 4), job(10, 100, 2)});

    const JobRun done = run(trace, {.nodes = 2, .per_node = 4});

    EXPECT_EQ(done.parts_of(done.outcomes[0]).size(), 2);
    EXPECT_EQ(done.outcomes[0].start_s, 0);
    EXPECT_EQ(done.outcomes[1].start_s, 100)
        << "four GPUs of one node are free when the first ends";
    EXPECT_EQ(done.outcomes[2].start_s, 10);
    expect_within_nodes(trace, done);
}

TEST(EngineJobs, RunAGangOfProcessorsTogetherOrNotAtAll) {
    const JobTrace trace =
        trace_of({job(5, 50, 3), job(6, 10, 2), job(7, 10, 1), job(8, 10, 99)}, JobUnit::processor);

    const JobRun done = run(trace, {.nodes = 1, .per_node = 4});

    EXPECT_EQ(done.outcomes[0].start_s, 5);
    EXPECT_EQ(done.outcomes[1].start_s, 55);
    EXPECT_EQ(done.outcomes[2].start_s, 7);
    EXPECT_TRUE(done.outcomes[3].is_skipped);
}

TEST(EngineJobs, RecordEveryCycle) {
    const JobTrace trace = trace_of({job(0, 100, 6), job(10, 100, 8)});
    MemoryLog log;

    const auto done = run_jobs_with_engine(
        trace, {.cluster = {.machine = {.nodes = 2, .per_node = 4}, .stretch = {}, .progress = {}},
                .policy = {},
                .store = open_memory_store(log),
                .snapshot_every = 2});

    ASSERT_TRUE(done.has_value());
    const auto store = open_memory_store(log);
    auto cursor = Cursor::at(*store, 1);
    ASSERT_TRUE(cursor.has_value());
    std::size_t placed = 0;
    std::size_t snapshots = 0;
    while (true) {
        const auto item = cursor->next();
        ASSERT_TRUE(item.has_value());
        if (!*item) { break; }
        snapshots += std::holds_alternative<Snapshot>((*item)->record) ? 1 : 0;
        if (const auto* cycle = std::get_if<Cycle>(&(*item)->record)) {
            placed += cycle->plan.placements.size();
        }
    }
    EXPECT_EQ(placed, 2);
    EXPECT_GT(snapshots, 0);
}

}  // namespace
}  // namespace muster::sim
