// apps/v1 Deployment: one ReplicaSet per pod template; a rolling update in its simple form (new up,
// old down within maxSurge and maxUnavailable) or Recreate; revisions as `kubectl rollout` reads
// them. Without: proportional scaling during an update, progress deadlines, adoption.
#pragma once

#include "kube/events.h"
#include "lab/reconcile_queue.h"

#include <boost/json/fwd.hpp>

#include <memory>
#include <string>
#include <vector>

namespace muster::lab {

class DeploymentController {
public:
    using Object = boost::json::object;
    DeploymentController(kube::Transport& transport, LabTimers& timers,
                         const kube::Informer& replica_sets);

    void start() { deployments_.start(); }
    void resync();
    void on_replica_set(const Object& set);

private:
    struct Sets {
        const Object* current = nullptr;  // of the template as it is now
        std::vector<const Object*> old;
        std::int64_t revision_max = 0;
    };

    void reconcile(const kube::ObjectName& name);
    [[nodiscard]] Sets sets_of(const Object& deployment, const std::string& current) const;
    void create_set(const Object& deployment, const std::string& hash, const Sets& sets);
    void keep_revision(const Object& deployment, const Sets& sets);
    void roll(const Object& deployment, const Sets& sets);
    void roll_old(const Object& deployment, const Sets& sets, std::int64_t room);
    std::int64_t scale(const Object& deployment, const Object& set, std::int64_t replicas);
    void trim_history(const Object& deployment, const Sets& sets);
    void show(const Object& deployment, const Sets& sets);

    kube::Transport& transport_;
    LabTimers& timers_;
    const kube::Informer& replica_sets_;
    kube::EventRecorder events_;
    ReconcileQueue queue_;
    std::shared_ptr<int> alive_ = std::make_shared<int>();
    kube::Informer deployments_;
};

}  // namespace muster::lab
