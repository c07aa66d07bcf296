#include "lab/workload_controllers.h"

#include "lab/cron_job_controller.h"
#include "lab/deployment_controller.h"
#include "lab/job_controller.h"
#include "lab/replica_set_controller.h"
#include "lab/stateful_set_controller.h"
#include "lab/workload_pods.h"

#include <boost/json.hpp>

#include <string_view>

namespace muster::lab {

using kube::ObjectName;
using Change = kube::Informer::Change;
using Object = boost::json::object;

namespace {

constexpr std::int64_t resync_wait = 60'000;  // ours

}  // namespace

struct WorkloadControllers::Impl {
    Impl(kube::Transport& transport, LabClock clock)
        : timers(transport, std::move(clock)),
          pods(transport, timers,
               [this](std::string_view kind, const ObjectName& owner, Change change,
                      const Object* pod) { on_pod(kind, owner, change, pod); }),
          jobs(transport, timers, pods,
               [this](Change, const ObjectName&, const Object& job, const Object*) {
                   cron_jobs.on_job(job);
               }),
          cron_jobs(transport, timers, jobs.jobs()),
          replica_sets(transport, timers, pods,
                       [this](Change, const ObjectName&, const Object& set, const Object*) {
                           deployments.on_replica_set(set);
                       }),
          deployments(transport, timers, replica_sets.sets()),
          stateful_sets(transport, timers, pods) {}

    void on_pod(std::string_view kind, const ObjectName& owner, Change change, const Object* pod) {
        if (kind == "Job") { jobs.on_pod(owner, change, pod); }
        if (kind == "ReplicaSet") { replica_sets.on_pod(owner); }
        if (kind == "StatefulSet") { stateful_sets.on_pod(owner); }
    }

    void resync() {
        timers.after(resync_wait * timers.speed(), [this] {
            jobs.resync();
            cron_jobs.resync();
            replica_sets.resync();
            deployments.resync();
            stateful_sets.resync();
            resync();
        });
    }

    LabTimers timers;
    WorkloadPods pods;
    JobController jobs;
    CronJobController cron_jobs;
    ReplicaSetController replica_sets;
    DeploymentController deployments;
    StatefulSetController stateful_sets;
};

WorkloadControllers::WorkloadControllers(kube::Transport& transport, LabClock clock)
    : impl_(std::make_unique<Impl>(transport, std::move(clock))) {}
WorkloadControllers::~WorkloadControllers() = default;

void WorkloadControllers::start() {
    impl_->pods.start();
    impl_->jobs.start();
    impl_->cron_jobs.start();
    impl_->replica_sets.start();
    impl_->deployments.start();
    impl_->stateful_sets.start();
    impl_->resync();
}

}  // namespace muster::lab
