// Job traces under the engine itself: the production loop with a ledger, in virtual time.
#pragma once

#include "ledger/store.h"
#include "model/policy.h"
#include "sim/virtual_jobs.h"

#include <cstdint>
#include <memory>
#include <string>

namespace muster::sim {

struct EngineJobsOptions {
    VirtualJobsOptions cluster;
    Policy policy;
    std::unique_ptr<Store> store;  // null: a ledger in memory that ends with the run
    std::string engine_version;
    std::uint64_t snapshot_every = 0;  // cycles
};

Result<JobRun> run_jobs_with_engine(const JobTrace& trace, EngineJobsOptions options);

}  // namespace muster::sim
