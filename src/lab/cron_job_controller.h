// batch/v1 CronJob: jobs by a schedule in UTC, with concurrencyPolicy, a starting deadline, suspend
// and history limits. Of several missed times only the last one is made up for.
#pragma once

#include "kube/events.h"
#include "lab/reconcile_queue.h"

#include <boost/json/fwd.hpp>

#include <vector>

namespace muster::lab {

class CronJobController {
public:
    using Object = boost::json::object;
    CronJobController(kube::Transport& transport, LabTimers& timers, const kube::Informer& jobs);

    void start() { cron_jobs_.start(); }
    void resync();
    void on_job(const Object& job);

private:
    void reconcile(const kube::ObjectName& name);
    void show(const Object& cron, const std::vector<const Object*>& jobs);
    void trim(const Object& cron, const std::vector<const Object*>& jobs);
    void run(const Object& cron, std::int64_t due, const std::vector<const Object*>& jobs);

    kube::Transport& transport_;
    LabTimers& timers_;
    const kube::Informer& jobs_;
    kube::EventRecorder events_;
    ReconcileQueue queue_;
    kube::Informer cron_jobs_;
};

}  // namespace muster::lab
