// The controllers of the built-in workloads: Job, CronJob, ReplicaSet, Deployment, StatefulSet.
// Each looks at an object when something of it has changed, and does what brings it nearer to its
// spec; what was lost on the way is found again by looking at all of them once a minute. Who
// deletes what owners leave behind is the garbage collector, not this.
#pragma once

#include "kube/client.h"
#include "lab/lab_timers.h"

#include <memory>

namespace muster::lab {

class WorkloadControllers {
public:
    WorkloadControllers(kube::Transport& transport, LabClock clock);
    ~WorkloadControllers();
    WorkloadControllers(const WorkloadControllers&) = delete;
    WorkloadControllers& operator=(const WorkloadControllers&) = delete;

    void start();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::lab
