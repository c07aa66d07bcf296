// resource.k8s.io/v1: a ResourceClaim for each pod that names a ResourceClaimTemplate, which goes
// with its pod or as soon as that pod has ended; and reservations of pods that are no more. Who
// allocates devices to claims is not this.
#pragma once

#include "kube/events.h"
#include "lab/reconcile_queue.h"

#include <boost/json/fwd.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace muster::lab {

class ClaimController {
public:
    using Object = boost::json::object;

    /// `pods` is started by whoever owns it, and tells `on_pod`.
    ClaimController(kube::Transport& transport, LabTimers& timers, const kube::Informer& pods);

    void start();
    void on_pod(const kube::ObjectName& name, const Object& pod);

private:
    void reconcile(const kube::ObjectName& pod);
    void clean(const kube::ObjectName& claim);
    void make(const Object& pod, std::string_view reference, std::string_view of_template);
    /// The claim made for that reference of the pod; null when there is none yet.
    [[nodiscard]] const Object* claim_of(const Object& pod, std::string_view reference) const;
    void show(const Object& pod);
    void drop_claims(const Object& pod);

    kube::Transport& transport_;
    LabTimers& timers_;
    const kube::Informer& pods_;
    kube::EventRecorder events_;
    ReconcileQueue queue_;    // pods
    ReconcileQueue claimed_;  // claims
    kube::Informer claims_;
    kube::Informer templates_;
    std::set<std::pair<std::string, std::string>> asked_;  // uids of pods, references
    std::map<std::string, std::set<kube::ObjectName>, std::less<>> by_pod_;  // by uid
    std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace muster::lab
