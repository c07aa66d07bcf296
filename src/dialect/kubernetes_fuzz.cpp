// Any bytes as a cluster, as jobs and for lint: no crash, errors name their file, and what comes
// out keeps the bounds of the model.
#include "dialect/kubernetes.h"

#include "base/assert.h"
#include "dialect/lint.h"
#include "model/limits.h"

#include <cstddef>
#include <cstdint>

namespace {

void check(const muster::WorkloadSpec& workload) {
    MUSTER_ASSERT(!workload.name.empty());
    MUSTER_ASSERT(!workload.groups.empty());
    MUSTER_ASSERT(workload.groups.size() <= muster::groups_per_workload_max);
    MUSTER_ASSERT(workload.groups[0].parent == -1);
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        const muster::GroupSpec& group = workload.groups[i];
        MUSTER_ASSERT(group.parent < static_cast<std::int32_t>(i));
        MUSTER_ASSERT(group.minimum >= 1);
        MUSTER_ASSERT(group.task.request.milli_cpu >= 0);
        MUSTER_ASSERT(group.task.request.milli_cpu <= muster::milli_cpu_max);
        MUSTER_ASSERT(group.task.gpu.milli <= muster::gpu_milli_whole);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<muster::SourceText> sources = {
        {"fuzz", std::string(reinterpret_cast<const char*>(data), size)}};
    const auto cluster = muster::dialect::read_cluster(sources);
    if (cluster) {
        for (const muster::Fact& fact : cluster->facts) {
            if (const auto* set = std::get_if<muster::WorkloadSet>(&fact)) { check(set->workload); }
            if (const auto* set = std::get_if<muster::NodeSet>(&fact)) {
                MUSTER_ASSERT(set->node.gpus.size() <= muster::gpus_per_node_max);
            }
        }
    } else {
        MUSTER_ASSERT(!cluster.error().message.empty());
    }
    const auto jobs = muster::dialect::read_jobs(sources);
    if (jobs) {
        for (const muster::WorkloadSpec& workload : jobs->workloads) { check(workload); }
    }
    (void)muster::dialect::lint(sources, cluster ? &*cluster : nullptr);
    return 0;
}
