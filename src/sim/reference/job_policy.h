// The queue policies of peers. Each keeps its own order of those that wait.
#pragma once

#include "base/result.h"
#include "sim/reference/job_desk.h"

#include <memory>
#include <string>
#include <string_view>

namespace muster::sim {

class JobPolicy {
public:
    virtual ~JobPolicy() = default;
    virtual void submit(const JobDesk& desk, JobIndex job) = 0;
    /// After all ends and submissions of an instant.
    virtual void decide(JobDesk& desk) = 0;
};

/// In order of submission; the first that does not fit blocks the rest.
std::unique_ptr<JobPolicy> make_fcfs();
/// The same, and a later job may start that ends before the head's reserved start, or that uses
/// only what is spare at it. Reservations count what is free, not where.
std::unique_ptr<JobPolicy> make_easy();
/// Each job has a reservation; none may delay that of another. Only for one node.
std::unique_ptr<JobPolicy> make_conservative();
/// Least requested time first; the first that does not fit blocks the rest.
std::unique_ptr<JobPolicy> make_sjf();
/// Least requested time first; all are tried.
std::unique_ptr<JobPolicy> make_sjf_skip();

enum class PickOrder : std::uint8_t { submission, least_requested };

/// One job is picked, stays picked until it starts, and blocks. With `is_backfilling` those in
/// order of submission may start meanwhile that fit and end, by their request, before the picked
/// job's earliest start as it was when it blocked.
struct PickOptions {
    PickOrder order = PickOrder::submission;
    bool is_backfilling = false;
};
std::unique_ptr<JobPolicy> make_pick(PickOptions options);

/// The first requested end at which so many are free, and how many are spare then. By number alone,
/// so that a head that is only blocked by shape waits for the next end at least.
struct Shadow {
    std::int64_t start_s = 0;
    std::int64_t spare = 0;
};
Shadow shadow_of(const JobDesk& desk, std::int64_t size);

}  // namespace muster::sim
