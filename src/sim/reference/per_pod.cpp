#include "sim/reference/per_pod.h"

#include "base/assert.h"
#include "engine/engine.h"

#include <algorithm>
#include <cstddef>

namespace muster::sim {

namespace {

/// Time goes from one end of a job to the next. `Bind` binds what it can and starts jobs.
template <class Bind>
PodJobsRun run(const std::vector<PodJob>& jobs, std::int64_t until, Bind bind) {
    PodJobsRun out;
    for (const PodJob& job : jobs) { out.jobs.push_back({.name = job.name}); }
    std::int64_t now = 0;
    while (now < until) {
        bind(out.jobs, now);
        std::int64_t next = until;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            const PodJobEnd& job = out.jobs[i];
            const bool is_running = job.started >= 0 && job.ended < 0;
            if (is_running) { next = std::min(next, job.started + jobs[i].seconds); }
        }
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            PodJobEnd& job = out.jobs[i];
            if (job.ended >= 0) { continue; }
            const std::int64_t held = job.bound * (next - now);
            (job.started >= 0 ? out.useful_gpu_seconds : out.wasted_gpu_seconds) += held;
            if (job.started >= 0 && job.started + jobs[i].seconds == next) {
                job.ended = next;
                job.bound = 0;
            }
        }
        now = next;
    }
    return out;
}

}  // namespace

PodJobsRun run_per_pod(std::int64_t gpus, const std::vector<PodJob>& jobs, std::int64_t until) {
    return run(jobs, until, [&](std::vector<PodJobEnd>& state, std::int64_t now) {
        std::int64_t free = gpus;
        for (const PodJobEnd& job : state) { free -= job.bound; }
        for (bool has_bound = true; has_bound && free > 0;) {
            has_bound = false;
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                const bool wants = state[i].ended < 0 && state[i].bound < jobs[i].pods;
                if (!wants || free == 0) { continue; }
                ++state[i].bound;
                --free;
                has_bound = true;
            }
        }
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            const bool is_whole = state[i].bound == jobs[i].pods;
            if (is_whole && state[i].started < 0) { state[i].started = now; }
        }
    });
}

PodJobsRun run_as_gangs(std::int64_t gpus, const std::vector<PodJob>& jobs, std::int64_t until) {
    Engine engine;
    const auto apply = [&](Fact fact) {
        const auto done = engine.apply(fact);
        MUSTER_ASSERT(done.has_value());
    };
    NodeSpec node;
    node.name = "node";
    node.gpus.resize(static_cast<std::size_t>(gpus));
    apply(NodeSet{std::move(node)});
    for (const PodJob& job : jobs) {
        GroupSpec group;
        group.name = job.name;
        group.count = static_cast<std::int32_t>(job.pods);
        group.minimum = group.count;
        group.task.gpu = {.kind = GpuKind::whole, .count = 1};
        WorkloadSpec workload;
        workload.name = job.name;
        workload.groups = {std::move(group)};
        apply(WorkloadSet{std::move(workload)});
    }
    std::vector<bool> is_gone(jobs.size());
    return run(jobs, until, [&](std::vector<PodJobEnd>& state, std::int64_t now) {
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (state[i].ended < 0 || is_gone[i]) { continue; }
            apply(WorkloadGone{jobs[i].name});
            is_gone[i] = true;
        }
        for (const Placement& placement : engine.cycle().placements) {
            const auto job = std::ranges::find(state, placement.workload, &PodJobEnd::name);
            MUSTER_ASSERT(job != state.end());
            job->bound = static_cast<std::int64_t>(placement.tasks.size());
            job->started = now;
        }
    });
}

}  // namespace muster::sim
