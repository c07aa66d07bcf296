// apps/v1 ReplicaSet: keeps as many pods as its spec says. Pods that exist already are not adopted.
#pragma once

#include "lab/reconcile_queue.h"
#include "lab/workload_pods.h"

namespace muster::lab {

class ReplicaSetController {
public:
    using Object = boost::json::object;
    /// `changed` hears of each change of a ReplicaSet.
    ReplicaSetController(kube::Transport& transport, LabTimers& timers, WorkloadPods& pods,
                         kube::Informer::Listener changed);

    void start() { sets_.start(); }
    void resync();
    [[nodiscard]] const kube::Informer& sets() const { return sets_; }
    void on_pod(const kube::ObjectName& set) { queue_.add(set); }

private:
    void reconcile(const kube::ObjectName& name);

    kube::Transport& transport_;
    LabTimers& timers_;
    WorkloadPods& pods_;
    kube::EventRecorder events_;
    ReconcileQueue queue_;
    kube::Informer sets_;
};

}  // namespace muster::lab
