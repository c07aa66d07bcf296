#include "sim/engine_jobs.h"

#include "control/loop.h"
#include "ledger/store_memory.h"
#include "sim/cpu_time.h"

namespace muster::sim {

Result<JobRun> run_jobs_with_engine(const JobTrace& trace, EngineJobsOptions options) {
    const std::int64_t begun = cpu_nanoseconds();
    MemoryLog log;
    VirtualJobs cluster(trace, std::move(options.cluster));
    std::unique_ptr<Store> store =
        options.store ? std::move(options.store) : open_memory_store(log);
    MUSTER_TRY(loop, Loop::start({cluster, cluster, cluster, cluster}, std::move(store),
                                 {.leader = "simulation",
                                  .engine_version = options.engine_version,
                                  .policy = options.policy,
                                  .patience_ms = 0,
                                  .snapshot_every = options.snapshot_every}));
    while (true) {
        MUSTER_TRY(decision, loop.turn());
        if (!decision) { break; }
    }
    JobRun run = cluster.take_run();
    run.cpu_ns = cpu_nanoseconds() - begun;
    return run;
}

}  // namespace muster::sim
