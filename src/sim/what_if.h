// What a recorded history would have come to under another policy: the same submissions, run times
// and failures, through the production loop in virtual time, by the recorded policy and by the
// other one. What really happened stands beside both.
#pragma once

#include "ledger/store.h"
#include "model/policy.h"
#include "sim/job_measures.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::sim {

struct WhatIfOptions {
    std::uint64_t from = 1;  // begins as `muster replay` does
    Policy policy;
    std::string policy_name;  // of it, for people
    std::string engine_version;
    std::vector<StartTarget> targets;
    Progress progress;
};

/// One way in which it went, or would have.
struct Course {
    JobRun run;
    JobMeasures measures;
    std::vector<QueueMeasure> queues;  // by name
    std::uint64_t refused_facts = 0;   // that make no sense in this course
};

struct WhatIf {
    JobTrace trace;
    Course recorded;
    Course again;  // under the recorded policy
    Course other;
    std::int64_t started = 0;      // in the log
    std::int64_t same_starts = 0;  // of them in `again`, to the millisecond
    std::uint64_t first = 0;       // entry
    std::uint64_t cycles = 0;      // of the log
};

/// Fails when the log does not read, begins in the middle, or has no time.
Result<WhatIf> what_if(Store& store, const WhatIfOptions& options);

}  // namespace muster::sim
