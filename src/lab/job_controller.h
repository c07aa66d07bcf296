// batch/v1 Job: parallelism, completions, back-off, Indexed jobs, suspend, deadline, time to live,
// and the policies of job_policy.h. Without finalizers on pods: what a pod that is gone had come to
// is remembered here and in the status.
#pragma once

#include "lab/reconcile_queue.h"
#include "lab/workload_pods.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace muster::lab {

class JobController {
public:
    using Object = boost::json::object;
    /// `changed` hears of each change of a job.
    JobController(kube::Transport& transport, LabTimers& timers, WorkloadPods& pods,
                  kube::Informer::Listener changed);

    void start() { jobs_.start(); }
    void resync();
    [[nodiscard]] const kube::Informer& jobs() const { return jobs_; }
    void on_pod(const kube::ObjectName& job, kube::Informer::Change change, const Object* pod);

private:
    struct Failures {
        std::int64_t count = 0;
        std::map<std::int64_t, std::int64_t> by_index;  // where each has a limit
        std::set<std::int64_t> indexes;                 // that are given up
        std::string fatal;                              // why the job ends, by a rule
    };
    /// What pods that are gone had come to, and what happened lately.
    struct Past {
        std::string uid;
        std::int64_t succeeded = 0;
        Failures failures;
        std::set<std::int64_t> indexes;  // that succeeded
        std::int64_t failures_seen = 0;
        std::int64_t last_failure = 0;
        std::int64_t told_end = 0;  // when the end was written, which takes a moment to come back
    };
    struct Tally {
        std::vector<const Object*> active;
        std::set<std::int64_t> done;  // indexes
        std::set<std::int64_t> held;  // indexes of active pods
        std::int64_t ready = 0;
        std::int64_t terminating = 0;
        std::int64_t succeeded = 0;
        Failures failures;
        std::int64_t restarts = 0;
    };
    struct End {
        std::string_view first;  // the condition before the last one
        std::string_view type;
        std::string_view reason;
        std::string message;
    };

    void reconcile(const kube::ObjectName& name);
    Past& past_of(const kube::ObjectName& name, const Object& job);
    [[nodiscard]] Tally count(const Object& job, const Past& past) const;
    [[nodiscard]] std::optional<End> end_of(const Object& job, const Tally& tally) const;
    static void note_failure(const Object& job, const Object& pod, Failures& failures);
    void finish(const Object& job, const Tally& tally, const End& end, Past& past);
    void clean_up(const kube::ObjectName& name, const Object& job);
    void suspend(const Object& job, const Tally& tally);
    void adjust(const kube::ObjectName& name, const Object& job, Tally& tally, Past& past);
    void create(const Object& job, std::int64_t index);
    Object status_of(const Object& job, const Tally& tally) const;

    kube::Transport& transport_;
    LabTimers& timers_;
    WorkloadPods& pods_;
    kube::EventRecorder events_;
    ReconcileQueue queue_;
    std::map<kube::ObjectName, Past> past_;
    kube::Informer jobs_;
};

}  // namespace muster::lab
