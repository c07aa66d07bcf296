// The engine on the public traces: every job runs, no node holds more than it has, and it is far
// from a queue that blocks on its head.
#include "sim/engine_jobs.h"

#include "sim/job_measures.h"
#include "sim/reference/study_testing.h"

#include <gtest/gtest.h>

#include <map>

namespace muster::sim {
namespace {

TEST(EngineJobs, RunAllOfPhilly) {
    MUSTER_NEEDS_DATA(folder);
    constexpr std::int64_t october = 1'506'816'000;
    constexpr std::int64_t december = 1'512'086'340;
    const auto trace = load_job_trace({.file = *folder / "sia-sosp23/philly.csv",
                                       .format = "philly",
                                       .span = {.from_s = october, .to_s = december}});
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    const Machine machine{.nodes = 64, .per_node = 8};

    const auto done = run_jobs_with_engine(
        *trace, {.cluster = {.machine = machine, .stretch = {}, .progress = {}}, .policy = {}});

    ASSERT_TRUE(done.has_value()) << done.error().message;
    ASSERT_EQ(trace->jobs.size(), 68'510);
    std::map<std::int64_t, std::map<std::int32_t, std::int64_t>> changes;
    std::int64_t waited = 0;
    for (std::size_t i = 0; i < trace->jobs.size(); ++i) {
        const JobOutcome& outcome = done->outcomes[i];
        ASSERT_TRUE(outcome.has_run()) << i;
        ASSERT_GE(outcome.start_s, trace->jobs[i].submit_s) << i;
        waited += outcome.start_s - trace->jobs[i].submit_s;
        for (const JobPart& part : done->parts_of(outcome)) {
            changes[outcome.start_s][part.node] += part.count;
            changes[outcome.end_s][part.node] -= part.count;
        }
    }
    std::vector<std::int64_t> held(64, 0);
    for (const auto& [at, nodes] : changes) {
        for (const auto& [node, change] : nodes) {
            held[static_cast<std::size_t>(node)] += change;
            ASSERT_GE(held[static_cast<std::size_t>(node)], 0) << at;
            ASSERT_LE(held[static_cast<std::size_t>(node)], machine.per_node) << at;
        }
    }
    constexpr std::int64_t fifo_wait_s = 304'759;
    EXPECT_LT(waited / static_cast<std::int64_t>(trace->jobs.size()), fifo_wait_s / 10);
}

}  // namespace
}  // namespace muster::sim
