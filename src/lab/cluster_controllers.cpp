#include "lab/cluster_controllers.h"

#include "lab/claim_controller.h"
#include "lab/default_accounts.h"
#include "lab/disruption_controller.h"
#include "lab/known_resources.h"
#include "lab/plugin_group_status.h"

#include <boost/json.hpp>

#include <utility>

namespace muster::lab {

using kube::ObjectName;
using Change = kube::Informer::Change;
using Object = boost::json::object;

struct ClusterControllers::Impl {
    Impl(kube::Transport& transport, LabClock clock)
        : timers(transport, std::move(clock)),
          accounts(transport, timers),
          pods(transport, known::pods,
               [this](Change change, const ObjectName& name, const Object& pod,
                      const Object* before) {
                   budgets.on_pod(name, pod, before);
                   claims.on_pod(name, pod);
                   groups.on_pod(change, name, pod);
               }),
          budgets(transport, timers, pods),
          claims(transport, timers, pods),
          groups(transport, timers, pods) {}

    LabTimers timers;
    DefaultAccounts accounts;
    kube::Informer pods;
    DisruptionController budgets;
    ClaimController claims;
    PluginGroupStatus groups;
};

ClusterControllers::ClusterControllers(kube::Transport& transport, LabClock clock)
    : impl_(std::make_unique<Impl>(transport, std::move(clock))) {}
ClusterControllers::~ClusterControllers() = default;

void ClusterControllers::start() {
    impl_->accounts.start();
    impl_->pods.start();
    impl_->budgets.start();
    impl_->claims.start();
    impl_->groups.start();
}

}  // namespace muster::lab
