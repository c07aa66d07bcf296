// apps/v1 StatefulSet: pods with names and an order (web-0, web-1, …), or all at once with the
// Parallel policy; rolling updates from the last to the first, with a partition. Without: volume
// claims and ControllerRevisions, which the lab does not serve.
#pragma once

#include "lab/reconcile_queue.h"
#include "lab/workload_pods.h"

#include <map>
#include <string>

namespace muster::lab {

class StatefulSetController {
public:
    using Object = boost::json::object;
    StatefulSetController(kube::Transport& transport, LabTimers& timers, WorkloadPods& pods);

    void start() { sets_.start(); }
    void resync();
    void on_pod(const kube::ObjectName& set) { queue_.add(set); }

private:
    using Members = std::map<std::int64_t, const Object*>;

    void reconcile(const kube::ObjectName& name);
    [[nodiscard]] Members members_of(const Object& set) const;
    void act(const Object& set, const Members& members, const std::string& revision);
    void update(const Object& set, const Members& members, const std::string& revision);
    void create(const Object& set, std::int64_t ordinal, const std::string& revision);
    void show(const Object& set, const Members& members, const std::string& revision);

    kube::Transport& transport_;
    LabTimers& timers_;
    WorkloadPods& pods_;
    kube::EventRecorder events_;
    ReconcileQueue queue_;
    kube::Informer sets_;
};

}  // namespace muster::lab
