// What came of a trace under a policy: when each job started and ended, and where. With the trace
// it is all that measures and report need, whoever decided.
#pragma once

#include "sim/job_trace.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace muster::sim {

/// Nodes alike: 64 of 8 GPUs, or one of N processors where nodes do not matter.
struct Machine {
    std::int32_t nodes = 1;
    std::int64_t per_node = 0;  // GPUs or processors

    [[nodiscard]] std::int64_t capacity() const { return nodes * per_node; }
};

struct JobPart {
    std::int32_t node = 0;
    std::int64_t count = 0;
};

/// Of the job at the same place in the trace.
struct JobOutcome {
    std::int64_t start_s = -1;  // −1: never
    std::int64_t end_s = -1;
    std::uint32_t first_part = 0;  // in JobRun::parts
    std::uint32_t part_count = 0;  // 0: where is not known
    bool is_skipped = false;       // no run: larger than the machine, nothing asked, no run time

    [[nodiscard]] bool has_run() const { return start_s >= 0; }
};

struct JobRun {
    std::string policy;
    Machine machine;
    std::vector<JobOutcome> outcomes;  // one per job of the trace
    std::vector<JobPart> parts;
    std::int64_t cpu_ns = 0;  // of this process, for the run alone

    [[nodiscard]] std::span<const JobPart> parts_of(const JobOutcome& outcome) const {
        return std::span(parts).subspan(outcome.first_part, outcome.part_count);
    }
};

/// The protocols leave these out: no size, no run time, or larger than the machine.
inline bool is_skipped(const Job& job, const Machine& machine) {
    return job.size <= 0 || job.run_s < 0 || job.size > machine.capacity();
}

/// Told how many of how many jobs have ended; may be empty.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

}  // namespace muster::sim
