// A cluster that runs a job trace in virtual time, behind the same seams as a real one: jobs are
// submitted when the trace says so, run as long as it says, and leave. Nodes are alike: `n0` … A
// job on GPUs is a gang over nodes (whole nodes and a rest); on processors it is a gang of
// one-processor tasks.
#pragma once

#include "control/seams.h"
#include "sim/job_run.h"
#include "sim/stretch.h"

#include <cstdint>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::sim {

struct VirtualJobsOptions {
    Machine machine;
    Stretch stretch;
    Progress progress;
};

class VirtualJobs final : public Source, public Actuator, public Clock, public Leader {
public:
    /// Times of the trace are in seconds; the facts' are in milliseconds from its first one on.
    VirtualJobs(const JobTrace& trace, VirtualJobsOptions options);

    Result<> begin(const Snapshot& /*known*/) override { return {}; }
    /// All that happens in the next second in which something does; nothing at the end.
    Result<std::vector<Fact>> observe(std::int64_t patience_ms) override;
    Result<> carry_out(std::span<const TaskOrder> orders) override;
    std::int64_t now() override { return (now_s_ - origin_s_) * 1'000; }
    bool is_leader() override { return true; }

    [[nodiscard]] JobRun take_run() { return std::move(run_); }

private:
    struct End {
        std::int64_t at_s = 0;
        std::uint32_t job = 0;

        auto operator<=>(const End&) const = default;
    };

    void set_up(std::vector<Fact>& facts) const;
    [[nodiscard]] WorkloadSpec workload_of(std::uint32_t job) const;
    [[nodiscard]] std::uint32_t task_count(const Job& job) const;
    void start(std::uint32_t job);

    const JobTrace& trace_;
    VirtualJobsOptions options_;
    JobRun run_;
    std::vector<std::uint32_t> ordered_;       // tasks, by job
    std::vector<std::vector<JobPart>> parts_;  // of jobs that start right now, by job
    std::vector<Fact> confirmations_;          // heard at the next observation
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::size_t next_ = 0;  // job to be submitted
    std::int64_t origin_s_ = 0;
    std::int64_t now_s_ = 0;
    std::size_t ended_ = 0;
    bool is_set_up_ = false;
};

}  // namespace muster::sim
