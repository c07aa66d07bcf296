// policy/v1 PodDisruptionBudget: how many of its pods are healthy, how many must be, and how many
// may be evicted therefore. The eviction subresource reads it and notes in status.disruptedPods
// whom it let go, until that pod has gone.
#pragma once

#include "kube/events.h"
#include "lab/reconcile_queue.h"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace muster::lab {

class DisruptionController {
public:
    using Object = boost::json::object;

    /// `pods` is started by whoever owns it, and tells `on_pod`.
    DisruptionController(kube::Transport& transport, LabTimers& timers, const kube::Informer& pods);

    void start();
    void on_pod(const kube::ObjectName& name, const Object& pod, const Object* before);

private:
    struct Wanted {
        std::int64_t expected = 0;
        std::int64_t healthy = 0;
        std::string failure;  // why the two are not known
    };

    void reconcile(const kube::ObjectName& name);
    [[nodiscard]] std::vector<const Object*> pods_of(const kube::ObjectName& budget,
                                                     const Object& spec) const;
    [[nodiscard]] Wanted wanted_of(const Object& spec,
                                   const std::vector<const Object*>& pods) const;
    /// How many pods the controller of that pod wants; none when it has no scale.
    [[nodiscard]] std::optional<std::int64_t> scale_of(const std::string& space,
                                                       const Object& owner) const;
    void all_of(const std::string& space);

    kube::Transport& transport_;
    LabTimers& timers_;
    const kube::Informer& pods_;
    kube::EventRecorder events_;
    ReconcileQueue queue_;
    kube::Informer budgets_;
    kube::Informer replica_sets_;
    kube::Informer deployments_;
    kube::Informer stateful_sets_;
};

}  // namespace muster::lab
