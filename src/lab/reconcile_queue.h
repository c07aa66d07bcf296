// Objects that a controller shall look at again, each once however often it is named.
#pragma once

#include "kube/client.h"
#include "lab/lab_timers.h"

#include <functional>
#include <map>
#include <set>

namespace muster::lab {

class ReconcileQueue {
public:
    using Reconcile = std::function<void(const kube::ObjectName&)>;

    ReconcileQueue(LabTimers& timers, Reconcile reconcile);
    ReconcileQueue(const ReconcileQueue&) = delete;
    ReconcileQueue& operator=(const ReconcileQueue&) = delete;

    /// In the next turn.
    void add(const kube::ObjectName& name);
    void add_all(const kube::Informer& informer);
    /// Of an informer whose objects are all looked at when they change.
    [[nodiscard]] kube::Informer::Listener listener();
    /// In so many lab milliseconds; the earliest wait counts.
    void add_later(const kube::ObjectName& name, std::int64_t wait);

private:
    void drain();

    LabTimers& timers_;
    Reconcile reconcile_;
    std::set<kube::ObjectName> names_;
    std::map<kube::ObjectName, std::int64_t> due_;
};

}  // namespace muster::lab
