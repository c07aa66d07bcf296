// Run time by placement: what a job's distance between its GPUs costs, by the bandwidth ladder of
// the model. Off in the published protocols.
#pragma once

#include "model/gpu_catalog.h"
#include "sim/job_run.h"

#include <cstdint>
#include <span>
#include <string>

namespace muster::sim {

struct Stretch {
    std::int32_t sensitivity_percent = 0;  // of jobs that do not tell; 0 and none tells = off
    const GpuProduct* product = &generic_gpu_product();
    std::int32_t nodes_per_leaf = 0;  // nodes in order; 0 = all on one leaf switch
};

/// The trace's run time is that on the nearest rung that the job's size could have on the machine;
/// the farthest pair of `parts` tells the rung that it has.
std::int64_t stretched_run_s(const Job& job, const Machine& machine, std::span<const JobPart> parts,
                             const Stretch& stretch);

}  // namespace muster::sim
