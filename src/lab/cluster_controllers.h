// What a cluster's controller manager does beside running workloads: default service accounts,
// numbers of disruption budgets, claims of claim templates, status of scheduler-plugins' groups.
// They share one cache of pods.
#pragma once

#include "kube/client.h"
#include "lab/lab_timers.h"

#include <memory>

namespace muster::lab {

class ClusterControllers {
public:
    ClusterControllers(kube::Transport& transport, LabClock clock);
    ~ClusterControllers();
    ClusterControllers(const ClusterControllers&) = delete;
    ClusterControllers& operator=(const ClusterControllers&) = delete;

    void start();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::lab
