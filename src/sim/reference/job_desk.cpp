#include "sim/reference/job_desk.h"

#include "base/assert.h"

#include <algorithm>

namespace muster::sim {

JobDesk::JobDesk(const JobTrace& trace, const Stretch& stretch, JobRun& run)
    : trace_(&trace),
      stretch_(stretch),
      run_(&run),
      pool_(run.machine) {
    jobs_.reserve(trace.jobs.size());
    for (const Job& job : trace.jobs) {
        jobs_.push_back({.size = job.size, .limit_s = std::max<std::int64_t>(1, job.limit_s())});
    }
}

void JobDesk::start(JobIndex job) {
    JobOutcome& outcome = run_->outcomes[job];
    MUSTER_ASSERT(!outcome.has_run());
    outcome.first_part = static_cast<std::uint32_t>(run_->parts.size());
    pool_.take(size(job), run_->parts);
    outcome.part_count = static_cast<std::uint32_t>(run_->parts.size()) - outcome.first_part;
    const std::int64_t run_s =
        stretched_run_s(trace_->jobs[job], run_->machine, run_->parts_of(outcome), stretch_);
    outcome.start_s = now_;
    outcome.end_s = now_ + run_s;
    const RunningJob running{
        .end_s = now_ + std::max(run_s, limit_s(job)), .job = job, .size = size(job)};
    running_.insert(std::ranges::upper_bound(running_, running), running);
    ends_.emplace(outcome.end_s, running);
}

std::int64_t JobDesk::next_end_s() const { return ends_.empty() ? -1 : ends_.top().first; }

void JobDesk::advance(std::int64_t now) {
    MUSTER_ASSERT(now >= now_);
    now_ = now;
    ended_.clear();
    while (!ends_.empty() && ends_.top().first <= now) {
        const RunningJob job = ends_.top().second;
        ends_.pop();
        pool_.give(run_->parts_of(run_->outcomes[job.job]));
        running_.erase(std::ranges::lower_bound(running_, job));
        ended_.push_back(job);
    }
}

}  // namespace muster::sim
