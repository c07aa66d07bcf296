// What a reference policy sees and does at one instant: the clock, what is free, what runs and
// until when at the latest, and starting a job.
#pragma once

#include "sim/job_run.h"
#include "sim/reference/job_pool.h"
#include "sim/stretch.h"

#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace muster::sim {

using JobIndex = std::uint32_t;  // in the trace

struct RunningJob {
    std::int64_t end_s = 0;  // at the latest, as it requested
    JobIndex job = 0;
    std::int64_t size = 0;

    auto operator<=>(const RunningJob&) const = default;
};

class JobDesk {
public:
    JobDesk(const JobTrace& trace, const Stretch& stretch, JobRun& run);

    [[nodiscard]] std::int64_t now() const { return now_; }
    [[nodiscard]] std::int64_t size(JobIndex job) const { return jobs_[job].size; }
    /// What it may take at most, as far as is known before it starts.
    [[nodiscard]] std::int64_t limit_s(JobIndex job) const { return jobs_[job].limit_s; }
    [[nodiscard]] std::int64_t free() const { return pool_.free(); }
    [[nodiscard]] bool fits(JobIndex job) const { return pool_.fits(size(job)); }
    /// Soonest end first.
    [[nodiscard]] std::span<const RunningJob> running() const { return running_; }
    /// Those that ended at this instant, with the end that they had requested.
    [[nodiscard]] std::span<const RunningJob> ended() const { return ended_; }

    /// Only what fits.
    void start(JobIndex job);

    /// For the loop: when the next job ends, −1 when none runs; and moving the clock there.
    [[nodiscard]] std::int64_t next_end_s() const;
    void advance(std::int64_t now);

private:
    struct Needs {
        std::int64_t size;
        std::int64_t limit_s;
    };
    using End = std::pair<std::int64_t, RunningJob>;

    const JobTrace* trace_;
    Stretch stretch_;
    JobRun* run_;
    JobPool pool_;
    std::vector<Needs> jobs_;  // apart from the trace, for the sake of the cache
    std::int64_t now_ = 0;
    std::vector<RunningJob> running_;
    std::vector<RunningJob> ended_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace muster::sim
