#include "lab/volcano_policy.h"

#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::lab::volcano {
namespace {

namespace json = boost::json;

json::object job_of(std::string_view spec) {
    json::object job;
    job["spec"] = json::parse(spec);
    return job;
}

TEST(VolcanoPolicy, AsksTheTaskBeforeTheJobAndTakesTheFirstThatMatches) {
    const json::object job = job_of(
        R"({"policies":[{"event":"PodFailed","action":"RestartJob"},{"event":"*","action":"AbortJob"}],
            "tasks":[{"name":"a","policies":[{"exitCode":7,"action":"CompleteJob"}]},
                     {"name":"b","policies":[{"events":["PodFailed"],"action":"RestartPod","timeout":"1m30s"}]}]})");
    const JobSpec spec = read_spec(job);
    struct Case {
        Trigger trigger;
        Action action;
        std::int64_t timeout_ms;
    };
    const std::vector<Case> cases{
        {{.event = "PodFailed", .exit_code = 7, .task = "a"}, Action::complete_job, 0},
        {{.event = "PodFailed", .exit_code = 1, .task = "a"}, Action::restart_job, 0},
        {{.event = "PodFailed", .exit_code = 1, .task = "b"}, Action::restart_pod, 90'000},
        {{.event = "PodEvicted", .task = "b"}, Action::abort_job, 0},
        {{.event = "Unknown"}, Action::abort_job, 0},
        {{.event = "PodPending", .task = "a"}, Action::sync, 0},
    };
    for (const Case& one : cases) {
        const Verdict verdict = judge(spec, one.trigger);
        EXPECT_EQ(verdict.action, one.action) << one.trigger.text();
        EXPECT_EQ(verdict.timeout_ms, one.timeout_ms) << one.trigger.text();
    }
}

TEST(VolcanoPolicy, GivesEachPhaseTheNextOne) {
    const json::object job = job_of(R"({"maxRetry":3,"tasks":[{"name":"a","replicas":2}]})");
    const JobSpec spec = read_spec(job);
    const PodCounts none;
    PodCounts both;
    both.add("a", "Running");
    both.add("a", "Running");
    PodCounts ending;
    ending.terminating = 2;
    PodCounts half;
    half.add("a", "Succeeded");
    half.add("a", "Failed");
    PodCounts done;
    done.add("a", "Succeeded");
    done.add("a", "Succeeded");
    struct Case {
        std::string_view before;
        Action action;
        const PodCounts& counts;
        std::string_view after;
        std::int64_t retries;
    };
    const std::vector<Case> cases{
        {"", Action::sync, none, "Pending", 0},
        {"Pending", Action::sync, none, "Pending", 0},
        {"Pending", Action::sync, both, "Running", 0},
        {"Running", Action::sync, none, "Running", 0},
        {"Running", Action::sync, half, "Failed", 0},
        {"Running", Action::sync, done, "Completed", 0},
        {"Running", Action::restart_job, both, "Restarting", 1},
        {"Running", Action::restart_task, both, "Restarting", 1},
        {"Running", Action::restart_pod, both, "Restarting", 1},
        {"Running", Action::abort_job, both, "Aborting", 0},
        {"Running", Action::terminate_job, both, "Terminating", 0},
        {"Running", Action::complete_job, both, "Completing", 0},
        {"Running", Action::resume_job, both, "Running", 0},
        {"Pending", Action::abort_job, none, "Aborting", 0},
        {"Restarting", Action::sync, ending, "Restarting", 0},
        {"Restarting", Action::sync, none, "Pending", 0},
        {"Restarting", Action::sync, both, "Running", 0},
        {"Aborting", Action::sync, ending, "Aborting", 0},
        {"Aborting", Action::sync, none, "Aborted", 0},
        {"Aborted", Action::resume_job, none, "Restarting", 0},
        {"Aborted", Action::restart_job, none, "Aborted", 0},
        {"Completing", Action::sync, none, "Completed", 0},
        {"Terminating", Action::sync, none, "Terminated", 0},
        {"Completed", Action::restart_job, none, "Completed", 0},
        {"Failed", Action::resume_job, none, "Failed", 0},
    };
    for (const Case& one : cases) {
        const JobState next =
            next_state(spec, {.phase = read_phase(one.before)}, one.counts, 0, one.action);
        EXPECT_EQ(name_of(next.phase), one.after) << one.before << " " << name_of(one.action);
        EXPECT_EQ(next.retries, one.retries) << one.before << " " << name_of(one.action);
    }
}

TEST(VolcanoPolicy, ReadsAndWritesDurations) {
    EXPECT_EQ(duration_of("10m"), 600'000);
    EXPECT_EQ(duration_of("1h2m3.5s"), 3'723'500);
    EXPECT_EQ(duration_of("250ms"), 250);
    for (const std::string_view bad : {"", "5", "m", "-1s", "1x", "nan s"}) {
        EXPECT_EQ(duration_of(bad), 0) << bad;
    }
    EXPECT_EQ(duration_text(3'723'000), "1h2m3s");
    EXPECT_EQ(duration_text(900), "0s");
}

}  // namespace
}  // namespace muster::lab::volcano
