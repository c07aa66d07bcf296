#include "sim/reference/job_replay.h"

#include "sim/cpu_time.h"
#include "sim/reference/job_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace muster::sim {

namespace {

Result<std::unique_ptr<JobPolicy>> make_policy(const JobReplayOptions& options) {
    const std::string& name = options.policy;
    const bool is_fcfs = name == "fcfs" || name == "fifo";
    if (options.has_window_backfill) {
        if (!is_fcfs && name != "sjf") {
            return fail(Code::invalid,
                        fmt::format("policy {} has its own backfilling; expected fcfs or sjf with "
                                    "that of windows",
                                    name));
        }
        return make_pick({.order = is_fcfs ? PickOrder::submission : PickOrder::least_requested,
                          .is_backfilling = true});
    }
    if (is_fcfs) { return make_fcfs(); }
    if (name == "easy") { return make_easy(); }
    if (name == "sjf") {
        return options.machine.nodes == 1 ? make_pick({.order = PickOrder::least_requested})
                                          : make_sjf();
    }
    if (name == "sjf-skip") { return make_sjf_skip(); }
    if (name == "conservative" && options.machine.nodes == 1 &&
        options.stretch.sensitivity_percent == 0) {
        return make_conservative();
    }
    if (name == "conservative") {
        return fail(Code::invalid,
                    "policy conservative reserves processors; expected one pool of them, and run "
                    "times that do not depend on the place");
    }
    return fail(Code::invalid,
                fmt::format("found policy '{:.40}'; expected fcfs, easy, conservative, sjf or "
                            "sjf-skip",
                            name));
}

}  // namespace

Result<JobRun> replay_jobs(const JobTrace& trace, const JobReplayOptions& options) {
    constexpr std::size_t told_every = 1'000;
    MUSTER_TRY(policy, make_policy(options));
    JobRun run{.policy = options.policy, .machine = options.machine};
    run.outcomes.resize(trace.jobs.size());
    const std::int64_t begin_ns = cpu_nanoseconds();
    JobDesk desk(trace, options.stretch, run);
    std::size_t done = 0;
    std::size_t told = 0;
    for (std::size_t next = 0;;) {
        std::int64_t now = INT64_MAX;
        for (const std::int64_t at :
             {desk.next_end_s(), next < trace.jobs.size() ? trace.jobs[next].submit_s : -1}) {
            if (at >= 0) { now = std::min(now, at); }
        }
        if (now == INT64_MAX) { break; }
        desk.advance(now);
        done += desk.ended().size();
        for (; next < trace.jobs.size() && trace.jobs[next].submit_s == desk.now(); ++next) {
            if (is_skipped(trace.jobs[next], options.machine)) {
                run.outcomes[next].is_skipped = true;
                ++done;
                continue;
            }
            policy->submit(desk, static_cast<JobIndex>(next));
        }
        policy->decide(desk);
        if (options.progress && done >= told + told_every) {
            options.progress(done, trace.jobs.size());
            told = done;
        }
    }
    run.cpu_ns = cpu_nanoseconds() - begin_ns;
    return run;
}

}  // namespace muster::sim
