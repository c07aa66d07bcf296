// What the world did by itself, taken out of a log and lived again.
#include "sim/what_if.h"

#include "control/decider.h"
#include "control/replay.h"
#include "ledger/store_memory.h"
#include "sim/engine_jobs.h"
#include "sim/history.h"
#include "sim/job_generate.h"
#include "sim/what_if_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::sim {
namespace {

using testing::HasSubstr;

JobTrace made_trace(const std::string& words, const Machine& machine) {
    JobTrace trace = generate_jobs(*parse_generator(words), machine.capacity());
    trace.unit = machine.nodes > 1 ? JobUnit::gpu : JobUnit::processor;
    EXPECT_TRUE(prepare(trace, {}, {}).has_value());
    return trace;
}

JobRun record(const JobTrace& trace, const Machine& machine, MemoryLog& log,
              const Policy& policy = {}) {
    auto run = run_jobs_with_engine(trace, {.cluster = {.machine = machine},
                                            .policy = policy,
                                            .store = open_memory_store(log),
                                            .engine_version = "0.1.0"});
    EXPECT_TRUE(run.has_value());
    return *run;
}

WhatIf asked(MemoryLog& log, WhatIfOptions options = {}) {
    const auto store = open_memory_store(log);
    auto what = what_if(*store, options);
    EXPECT_TRUE(what.has_value()) << what.error().message;
    return what ? std::move(*what) : WhatIf{};
}

TEST(WhatIf, TheSamePolicyStartsEveryJobWhenTheLogDid) {
    const std::vector<std::pair<Machine, std::string>> cases = {
        {{.nodes = 4, .per_node = 8}, "jobs=400,load=120,mix=1:5/8:2/12:1/32:1,queues=3,high=20"},
        {{.nodes = 1, .per_node = 24}, "jobs=300,load=110,mix=1:5/7:2/24:1"},
    };
    for (const auto& [machine, words] : cases) {
        const JobTrace trace = made_trace(words, machine);
        MemoryLog log;
        const JobRun run = record(trace, machine, log);

        const WhatIf what = asked(log);

        EXPECT_EQ(what.started, static_cast<std::int64_t>(trace.jobs.size()));
        EXPECT_EQ(what.same_starts, what.started);
        const JobMeasures measures = measure(trace, run);
        for (const Course* course : {&what.recorded, &what.again, &what.other}) {
            EXPECT_DOUBLE_EQ(course->measures.wait_s.mean, measures.wait_s.mean);
            EXPECT_DOUBLE_EQ(course->measures.jct_s.mean, measures.jct_s.mean);
            EXPECT_EQ(course->measures.jct_s.max, measures.jct_s.max);
            EXPECT_NEAR(course->measures.idle_share, measures.idle_share, 1e-9);
            EXPECT_EQ(course->refused_facts, 0U);
        }
        if (machine.nodes > 1) {
            EXPECT_NEAR(what.again.measures.fragmented_share, measures.fragmented_share, 1e-9);
        }
    }
}

TEST(WhatIf, AnotherPolicyRunsTheSameWork) {
    const Machine machine{.nodes = 6, .per_node = 8};
    const JobTrace trace = made_trace("jobs=400,load=120,mix=1:6/2:2/8:1", machine);
    MemoryLog log;
    record(trace, machine, log);

    const WhatIf what =
        asked(log, {.policy = {.mix = {{.gpu_count = 8}}}, .policy_name = "eights <only>"});

    EXPECT_EQ(what.other.measures.unfinished, 0);
    const auto work = [](const WhatIf& one, const Course& course) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < one.trace.jobs.size(); ++i) {
            const JobOutcome& outcome = course.run.outcomes[i];
            sum += (outcome.end_s - outcome.start_s) * one.trace.jobs[i].size;
        }
        return sum;
    };
    EXPECT_EQ(work(what, what.other), work(what, what.again));
    const std::string page = what_if_report(what);
    EXPECT_THAT(page, HasSubstr("eights &lt;only&gt;"));
    EXPECT_THAT(page, HasSubstr("400 of 400 start when they did in the log"));
}

/// A log as a cluster would write it: facts at times, the engine's plans, confirmations by hand.
class MadeLog : public testing::Test {
protected:
    void SetUp() override {
        ledger_.emplace(*Ledger::open(open_memory_store(log_), {.leader = "test"}));
    }

    /// Orders are carried out at once; the next cycle hears of it.
    Plan at(std::int64_t seconds, std::vector<Fact> facts, bool with_snapshot = false) {
        facts.insert(facts.begin(), TimeIs{seconds * 1'000});
        facts.insert(facts.end(), heard_.begin(), heard_.end());
        heard_.clear();
        const Decision decision = decider_.decide(std::move(facts), with_snapshot);
        for (const TaskOrder& order : decision.opened) {
            if (order.kind == OrderKind::bind) {
                heard_.emplace_back(
                    TaskBound{order.workload, order.task, order.node, true, order.devices});
            } else {
                heard_.emplace_back(TaskGone{order.workload, order.task, false});
            }
        }
        EXPECT_TRUE(ledger_->append(decision.cycle).has_value());
        if (decision.snapshot) { EXPECT_TRUE(ledger_->append(*decision.snapshot).has_value()); }
        return decision.cycle.plan;
    }

    static Fact node(const std::string& name) {
        NodeSpec spec{.name = name};
        spec.gpus.resize(8);
        return NodeSet{std::move(spec)};
    }
    static Fact gang(const std::string& name, std::int32_t tasks) {
        WorkloadSpec spec;
        spec.name = name;
        GroupSpec& group = spec.groups.emplace_back();
        group.minimum = group.count = tasks;
        group.task.gpu = {.kind = GpuKind::whole, .count = 8};
        return WorkloadSet{std::move(spec)};
    }

    History history(std::uint64_t from = 1) {
        const auto store = open_memory_store(log_);
        auto beginning = beginning_of(*store, from);
        EXPECT_TRUE(beginning.has_value());
        auto read = read_history(std::move(beginning->records));
        EXPECT_TRUE(read.has_value());
        return std::move(*read);
    }

    MemoryLog log_;
    std::optional<Ledger> ledger_;
    Decider decider_{Engine{}, {}};
    std::vector<Fact> heard_;
};

TEST_F(MadeLog, KeepsRunTimesAndDropsWhatFollowedFromDecisions) {
    at(100, {node("a"), node("b"), gang("one", 2), gang("two", 1)});
    at(160, {WorkloadGone{"one"}});
    at(400, {WorkloadGone{"two"}});

    const History read = history();

    EXPECT_EQ(read.run_times, (std::vector<std::int64_t>{60'000, 240'000}));
    EXPECT_EQ(read.events.size(), 4U);  // nodes and submissions; no end and no bind
    EXPECT_EQ(read.begin_at, 100'000);
    EXPECT_EQ(read.end_at, 400'000);
    const WhatIf what = asked(log_);
    EXPECT_EQ(what.same_starts, 2);
    EXPECT_DOUBLE_EQ(what.again.measures.idle_share, what.recorded.measures.idle_share);
}

TEST_F(MadeLog, AWorkloadThatWasWithdrawnIsWithdrawn) {
    at(0, {node("a"), gang("one", 1), gang("two", 1)});
    at(50, {WorkloadGone{"two"}});
    at(90, {WorkloadGone{"one"}});

    const WhatIf what = asked(log_);

    EXPECT_EQ(what.started, 1);
    EXPECT_EQ(what.recorded.measures.unfinished, 1);
    EXPECT_EQ(what.again.measures.unfinished, 1);
}

TEST_F(MadeLog, WhoStillRunsStaysToTheEnd) {
    at(0, {node("a"), gang("one", 1)});
    at(70, {gang("late", 1)});

    const WhatIf what = asked(log_);

    EXPECT_EQ(what.again.run.outcomes[0].end_s, 70);
    EXPECT_FALSE(what.again.run.outcomes[1].has_run());
    EXPECT_EQ(what.same_starts, 1);
}

TEST_F(MadeLog, ANameUsedAgainIsAnotherWorkload) {
    at(0, {node("a"), gang("one", 1)});
    at(10, {WorkloadGone{"one"}});
    at(20, {gang("one", 1)});
    at(50, {WorkloadGone{"one"}});

    const History read = history();

    EXPECT_EQ(read.names, (std::vector<std::string>{"one", "one#2"}));
    EXPECT_EQ(read.run_times, (std::vector<std::int64_t>{10'000, 30'000}));
    EXPECT_EQ(asked(log_).same_starts, 2);
}

TEST_F(MadeLog, AnotherUidUnderOneNameIsAnotherWorkload) {
    const auto with_uid = [](const char* uid) {
        Fact fact = gang("one", 1);
        std::get<WorkloadSet>(fact).workload.uid = uid;
        return fact;
    };
    at(0, {node("a"), gang("one", 1)});
    at(5, {with_uid("u1")});  // the same one, known better
    at(10, {with_uid("u2")});
    at(50, {WorkloadGone{"one"}});

    const History read = history();

    EXPECT_EQ(read.names, (std::vector<std::string>{"one", "one#2"}));
    EXPECT_EQ(read.run_times, (std::vector<std::int64_t>{10'000, 40'000}));
    EXPECT_EQ(asked(log_).same_starts, 2);
}

TEST_F(MadeLog, AGangThatLostANodeHasItsLastRun) {
    at(0, {node("a"), node("b"), gang("one", 2)});
    EXPECT_EQ(at(30, {NodeGone{"b"}}).releases.size(), 1U);
    at(40, {node("b")});
    at(50, {});
    at(90, {WorkloadGone{"one"}});

    const History read = history();

    EXPECT_GE(read.recorded.lives()[0].start, 40'000);
    EXPECT_EQ(read.run_times[0], 90'000 - read.recorded.lives()[0].start);
    const WhatIf what = asked(log_);
    EXPECT_EQ(what.started, 1);
    EXPECT_GE(what.again.run.outcomes[0].start_s, 40);
}

TEST_F(MadeLog, BeginsWithWhatRanAtASnapshot) {
    at(0, {node("a"), gang("one", 1), gang("two", 1)}, true);
    at(60, {WorkloadGone{"one"}});
    at(100, {WorkloadGone{"two"}});
    {
        const auto store = open_memory_store(log_);
        ASSERT_TRUE(store->drop_before(3, 1).has_value());
    }

    const WhatIf what = asked(log_);

    EXPECT_EQ(what.first, 3U);
    EXPECT_EQ(what.started, 1);  // the one that ran already is not measured
    EXPECT_EQ(what.same_starts, 1);
    EXPECT_EQ(what.again.measures.skipped, 1);
    EXPECT_EQ(what.again.run.outcomes[1].start_s, 60);
    EXPECT_EQ(what.again.run.outcomes[1].end_s, 100);
}

TEST_F(MadeLog, WhatSomebodyElseBoundStartsThereAgain) {
    at(0, {node("a"), node("b"), gang("one", 1)});
    at(5, {gang("foreign", 1), TaskBound{"foreign", 0, "b", false, {}}});
    at(45, {WorkloadGone{"foreign"}});

    const WhatIf what = asked(log_);

    EXPECT_EQ(what.again.run.outcomes[1].start_s, 5);
    EXPECT_EQ(what.again.run.outcomes[1].end_s, 45);
}

TEST_F(MadeLog, NeedsAHistoryInTime) {
    ASSERT_TRUE(ledger_->append(decider_.decide({node("a")}).cycle).has_value());

    EXPECT_THAT(what_if(*open_memory_store(log_), {}).error().message,
                HasSubstr("all of it happens at 0 ms; expected a history in time"));
}

}  // namespace
}  // namespace muster::sim
