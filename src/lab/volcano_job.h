// Volcano's controller of `batch.volcano.sh/v1alpha1` Jobs for the lab: PodGroup, pods, services
// and status of each, policies, retries, commands (`bus.volcano.sh/v1alpha1`), removal when the
// time to live is over. All pods of a job are made at once, also when its gang cannot start; only
// `dependsOn` lets them wait. What is not done: volumes' claims are named but not made.
//
// Level-triggered: each pass looks at the objects and asks for what is missing; one pass of a job
// at a time; a conflict is another pass. The only memory that a restart loses is an eviction or a
// command that was seen and not yet acted upon. All runs in the thread of the transport's loop.
#pragma once

#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace muster::lab {

class VolcanoJobs {
public:
    /// `now_ms`: milliseconds since the epoch, of which `speed` pass in one of the transport's.
    /// The transport outlives the controller.
    VolcanoJobs(kube::Transport& transport, std::function<std::int64_t()> now_ms,
                std::int64_t speed = 1);
    ~VolcanoJobs();
    VolcanoJobs(const VolcanoJobs&) = delete;
    VolcanoJobs& operator=(const VolcanoJobs&) = delete;

    void start();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::lab
