#include "lab/job_controller.h"

#include "base/text.h"
#include "kube/objects.h"
#include "lab/job_policy.h"
#include "lab/known_resources.h"
#include "lab/workload_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;
using kube::int_at;
using kube::ObjectName;
using kube::text_at;
using kube::time_text;
using Change = kube::Informer::Change;

namespace {

constexpr std::string_view index_key = "batch.kubernetes.io/job-completion-index";
constexpr std::int64_t back_off_first = 10'000;  // lab milliseconds
constexpr std::int64_t back_off_max = 600'000;
constexpr std::int64_t told_wait = 10'000;  // ours
constexpr std::int64_t indexes_max = 100'000;

std::int64_t index_of(const json::object& pod) {
    const auto index = parse_int(kube::annotation_of(pod, index_key));
    return index ? *index : -1;
}

bool is_indexed(const json::object& job) {
    return text_at(job, "spec.completionMode") == "Indexed";
}

bool has_ended(const json::object& job) {
    return kube::condition_of(job, "Complete") == "True" ||
           kube::condition_of(job, "Failed") == "True";
}

bool is_ours(const json::object& job) {
    const std::string_view manager = text_at(job, "spec.managedBy");
    return manager.empty() || manager == "kubernetes.io/job-controller";
}

std::int64_t restarts_of(const json::object& pod) {
    std::int64_t sum = 0;
    for (const char* path : {"status.initContainerStatuses", "status.containerStatuses"}) {
        const json::array* statuses = kube::array_at(pod, path);
        if (statuses == nullptr) { continue; }
        for (const json::value& one : *statuses) {
            if (const json::object* status = one.if_object()) {
                sum += int_at(*status, "restartCount");
            }
        }
    }
    return sum;
}

void add_index(json::object& pod, std::string_view job, std::int64_t index) {
    const std::string text = std::to_string(index);
    put_in(pod, "annotations", index_key, text);
    put_in(pod, "labels", index_key, text);
    pod["metadata"].as_object()["generateName"] = fmt::format("{}-{}-", job, index);
    json::object& spec = pod["spec"].as_object();
    spec["hostname"] = fmt::format("{}-{}", job, index);
    const json::object variable{
        {"name", "JOB_COMPLETION_INDEX"},
        {"valueFrom",
         {{"fieldRef",
           {{"apiVersion", "v1"},
            {"fieldPath", fmt::format("metadata.annotations['{}']", index_key)}}}}}};
    for (const char* list : {"initContainers", "containers"}) {
        json::value* containers = spec.if_contains(list);
        if (containers == nullptr || !containers->is_array()) { continue; }
        for (json::value& one : containers->as_array()) {
            if (!one.is_object()) { continue; }
            json::value& env = one.as_object()["env"];
            if (!env.is_array()) { env = json::array(); }
            env.as_array().push_back(variable);
        }
    }
}

}  // namespace

JobController::JobController(kube::Transport& transport, LabTimers& timers, WorkloadPods& pods,
                             kube::Informer::Listener changed)
    : transport_(transport),
      timers_(timers),
      pods_(pods),
      events_(
          transport, [&timers] { return timers.now(); }, "job-controller"),
      queue_(timers, [this](const ObjectName& name) { reconcile(name); }),
      jobs_(transport, known::jobs,
            [this, told = std::move(changed)](Change change, const ObjectName& name,
                                              const Object& job, const Object* before) {
                if (change == Change::gone) {
                    past_.erase(name);
                    pods_.forget(job);
                }
                queue_.add(name);
                if (told) { told(change, name, job, before); }
            }) {}

void JobController::resync() { queue_.add_all(jobs_); }

void JobController::on_pod(const ObjectName& job, Change change, const Object* pod) {
    queue_.add(job);
    const auto at = past_.find(job);
    if (pod == nullptr || change != Change::gone || at == past_.end()) { return; }
    const Object* owner = kube::controller_of(*pod);
    if (owner == nullptr || text_at(*owner, "uid") != at->second.uid) { return; }
    if (text_at(*pod, "status.phase") == "Succeeded") {
        ++at->second.succeeded;
        if (index_of(*pod) >= 0) { at->second.indexes.insert(index_of(*pod)); }
    } else if (is_over(*pod) || !pods_.is_doomed(*pod)) {
        const Object* owning = jobs_.find(job);
        note_failure(owning == nullptr ? *owner : *owning, *pod, at->second.failures);
    }
}

void JobController::note_failure(const Object& job, const Object& pod, Failures& failures) {
    using Action = FailureVerdict::Action;
    FailureVerdict verdict = judge_failure(job, pod);
    if (verdict.action == Action::ignore) { return; }
    ++failures.count;
    if (verdict.action == Action::fail_job && failures.fatal.empty()) {
        failures.fatal = std::move(verdict.message);
    }
    const std::int64_t limit = int_at(job, "spec.backoffLimitPerIndex", -1);
    const std::int64_t index = index_of(pod);
    if (limit < 0 || index < 0) { return; }
    const std::int64_t times = ++failures.by_index[index];
    if (verdict.action == Action::fail_index || times > limit) { failures.indexes.insert(index); }
}

JobController::Past& JobController::past_of(const ObjectName& name, const Object& job) {
    Past& past = past_[name];
    if (past.uid == kube::uid_of(job)) { return past; }
    past = Past();
    past.uid = kube::uid_of(job);
    past.indexes = read_indexes(text_at(job, "status.completedIndexes"));
    past.failures.indexes = read_indexes(text_at(job, "status.failedIndexes"));
    // What the status counted and is not there any more was there before our time.
    const Tally present = count(job, past);
    past.succeeded = std::max<std::int64_t>(int_at(job, "status.succeeded") - present.succeeded, 0);
    past.failures.count =
        std::max<std::int64_t>(int_at(job, "status.failed") - present.failures.count, 0);
    past.failures_seen = past.failures.count + present.failures.count;
    return past;
}

JobController::Tally JobController::count(const Object& job, const Past& past) const {
    Tally tally;
    tally.succeeded = past.succeeded;
    tally.failures = past.failures;
    tally.done = past.indexes;
    for (const Object* pod : pods_.of(job)) {
        const std::string_view phase = text_at(*pod, "status.phase");
        const bool is_doomed = pods_.is_doomed(*pod);
        tally.restarts += restarts_of(*pod);
        if (phase == "Succeeded") {
            ++tally.succeeded;
            if (index_of(*pod) >= 0) { tally.done.insert(index_of(*pod)); }
        } else if (phase == "Failed" || (kube::is_leaving(*pod) && !is_doomed)) {
            note_failure(job, *pod, tally.failures);
        }
        if (is_standing(*pod) && !is_doomed) {
            tally.active.push_back(pod);
            tally.held.insert(index_of(*pod));
            if (kube::condition_of(*pod, "Ready") == "True") { ++tally.ready; }
        } else if (!is_over(*pod)) {
            ++tally.terminating;
        }
    }
    if (is_indexed(job)) { tally.succeeded = static_cast<std::int64_t>(tally.done.size()); }
    return tally;
}

void JobController::reconcile(const ObjectName& name) {
    const Object* job = jobs_.find(name);
    const bool is_known = job != nullptr && pods_.is_synced();
    if (!is_known) {
        if (job != nullptr) { queue_.add_later(name, 100 * timers_.speed()); }
        return;
    }
    if (kube::is_leaving(*job) || !is_ours(*job)) { return; }
    if (has_ended(*job)) { return clean_up(name, *job); }
    if (!pods_.is_settled(*job)) { return; }
    Past& past = past_of(name, *job);
    Tally tally = count(*job, past);
    if (tally.failures.count > past.failures_seen) { past.last_failure = timers_.now(); }
    past.failures_seen = tally.failures.count;
    if (const auto end = end_of(*job, tally)) { return finish(*job, tally, *end, past); }
    if (kube::flag_at(*job, "spec.suspend")) { return suspend(*job, tally); }
    adjust(name, *job, tally, past);
    Object status = status_of(*job, tally);
    if (text_at(*job, "status.startTime").empty()) {
        status["startTime"] = time_text(timers_.now());
    }
    if (kube::condition_of(*job, "Suspended") == "True") {
        json::array conditions = conditions_in(*job);
        set_condition(conditions,
                      {.type = "Suspended",
                       .status = "False",
                       .reason = "JobResumed",
                       .message = "Job resumed"},
                      timers_.now());
        status["conditions"] = std::move(conditions);
        events_.record(*job, "Normal", "Resumed", "Job resumed");
    }
    const std::int64_t deadline = int_at(*job, "spec.activeDeadlineSeconds", -1);
    const std::int64_t started = kube::read_time(text_at(*job, "status.startTime"));
    if (deadline >= 0 && started >= 0) {
        queue_.add_later(name, started + deadline * 1000 - timers_.now());
    }
    write_status(transport_, known::jobs, *job, std::move(status));
}

std::optional<JobController::End> JobController::end_of(const Object& job,
                                                        const Tally& tally) const {
    const auto failed = [](std::string_view reason, std::string message) {
        return End{"FailureTarget", "Failed", reason, std::move(message)};
    };
    const auto complete = [](std::string_view reason, std::string message) {
        return End{"SuccessCriteriaMet", "Complete", reason, std::move(message)};
    };
    if (!tally.failures.fatal.empty()) { return failed("PodFailurePolicy", tally.failures.fatal); }
    const bool is_by_index = int_at(job, "spec.backoffLimitPerIndex", -1) >= 0;
    const std::int64_t limit = int_at(job, "spec.backoffLimit", is_by_index ? INT32_MAX : 6);
    const bool restarts_count =
        text_at(job, "spec.template.spec.restartPolicy") == "OnFailure" && tally.restarts > 0;
    if (tally.failures.count > limit || (restarts_count && tally.restarts >= limit)) {
        return failed("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    }
    const auto failed_indexes = static_cast<std::int64_t>(tally.failures.indexes.size());
    if (failed_indexes > int_at(job, "spec.maxFailedIndexes", INT32_MAX)) {
        return failed("MaxFailedIndexesExceeded",
                      "Job has exceeded the specified maximal number of failed indexes");
    }
    const std::int64_t started = kube::read_time(text_at(job, "status.startTime"));
    const std::int64_t seconds = int_at(job, "spec.activeDeadlineSeconds", -1);
    const bool is_suspended = kube::flag_at(job, "spec.suspend");
    if (seconds >= 0 && started >= 0 && !is_suspended &&
        timers_.now() >= started + seconds * 1000) {
        return failed("DeadlineExceeded", "Job was active longer than specified deadline");
    }
    if (is_indexed(job)) {
        if (auto rule = success_by_rule(job, tally.done)) {
            return complete("SuccessPolicy", std::move(*rule));
        }
    }
    const std::int64_t completions = int_at(job, "spec.completions", -1);
    const bool is_done = completions >= 0 ? tally.succeeded >= completions
                                          : tally.succeeded > 0 && tally.active.empty();
    if (is_done) {
        return complete("CompletionsReached", "Reached expected number of succeeded pods");
    }
    if (failed_indexes > 0 && tally.succeeded + failed_indexes >= completions) {
        return failed("FailedIndexes", "Job has failed indexes");
    }
    return std::nullopt;
}

void JobController::finish(const Object& job, const Tally& tally, const End& end, Past& past) {
    if (past.told_end != 0 && timers_.now() < past.told_end + told_wait * timers_.speed()) {
        return;
    }
    past.told_end = timers_.now();
    for (const Object* pod : tally.active) { pods_.remove(job, *pod, events_); }
    json::array conditions = conditions_in(job);
    const std::int64_t now = timers_.now();
    for (const std::string_view type : {end.first, end.type}) {
        set_condition(
            conditions,
            {.type = type, .status = "True", .reason = end.reason, .message = end.message}, now);
    }
    Tally rest = tally;
    rest.active.clear();
    rest.ready = 0;
    Object status = status_of(job, rest);
    status["conditions"] = std::move(conditions);
    if (text_at(job, "status.startTime").empty()) { status["startTime"] = time_text(now); }
    if (end.type == "Complete") {
        status["completionTime"] = time_text(now);
        events_.record(job, "Normal", "Completed", "Job completed");
    } else {
        events_.record(job, "Warning", end.reason, end.message);
    }
    write_status(transport_, known::jobs, job, std::move(status));
}

/// After the end: what still runs goes, and the job itself when its time to live is over.
void JobController::clean_up(const ObjectName& name, const Object& job) {
    std::int64_t terminating = 0;
    for (const Object* pod : pods_.of(job)) {
        if (is_standing(*pod)) { pods_.remove(job, *pod, events_); }
        if (!is_over(*pod)) { ++terminating; }
    }
    write_status(transport_, known::jobs, job, {{"terminating", terminating}});
    const std::int64_t seconds = int_at(job, "spec.ttlSecondsAfterFinished", -1);
    if (seconds < 0) { return; }
    std::int64_t ended = 0;
    for (const json::value& one : conditions_in(job)) {
        const Object* condition = one.if_object();
        const std::string_view type = condition ? text_at(*condition, "type") : "";
        if (type == "Complete" || type == "Failed") {
            ended = kube::read_time(text_at(*condition, "lastTransitionTime"));
        }
    }
    const std::int64_t wait = ended + seconds * 1000 - timers_.now();
    if (wait > 0) { return queue_.add_later(name, wait); }
    kube::delete_object(
        transport_, known::jobs, name,
        {.uid = std::string(kube::uid_of(job)), .grace = -1, .propagation = "Background"});
}

void JobController::suspend(const Object& job, const Tally& tally) {
    for (const Object* pod : tally.active) { pods_.remove(job, *pod, events_); }
    Tally rest = tally;
    rest.active.clear();
    rest.ready = 0;
    Object status = status_of(job, rest);
    status["startTime"] = nullptr;
    if (kube::condition_of(job, "Suspended") != "True") {
        json::array conditions = conditions_in(job);
        set_condition(conditions,
                      {.type = "Suspended",
                       .status = "True",
                       .reason = "JobSuspended",
                       .message = "Job suspended"},
                      timers_.now());
        status["conditions"] = std::move(conditions);
        events_.record(job, "Normal", "Suspended", "Job suspended");
    }
    write_status(transport_, known::jobs, job, std::move(status));
}

/// Brings the number of active pods to what it should be.
void JobController::adjust(const ObjectName& name, const Object& job, Tally& tally, Past& past) {
    const std::int64_t parallelism = int_at(job, "spec.parallelism", 1);
    const std::int64_t completions = int_at(job, "spec.completions", -1);
    auto active = static_cast<std::int64_t>(tally.active.size());
    std::int64_t wanted = parallelism;
    if (completions >= 0) {
        const auto given_up = static_cast<std::int64_t>(tally.failures.indexes.size());
        wanted = std::min(parallelism, completions - tally.succeeded - given_up);
    } else if (tally.succeeded > 0) {
        wanted = std::min(active, parallelism);  // a work queue that is running empty
    }
    while (active > wanted) {
        // Those that have not come far are the least loss.
        const auto least = std::min_element(tally.active.begin(), tally.active.end(),
                                            [](const Object* a, const Object* b) {
                                                return kube::condition_of(*a, "Ready") != "True" &&
                                                       kube::condition_of(*b, "Ready") == "True";
                                            });
        pods_.remove(job, **least, events_);
        tally.active.erase(least);
        --active;
    }
    if (active >= wanted) { return; }
    if (tally.failures.count > 0 && past.last_failure > 0) {
        const std::int64_t doublings = std::min<std::int64_t>(tally.failures.count - 1, 10);
        const std::int64_t wait = std::min(back_off_first << doublings, back_off_max);
        const std::int64_t rest = past.last_failure + wait - timers_.now();
        if (rest > 0) { return queue_.add_later(name, rest); }
    }
    std::int64_t count = std::min(wanted - active, static_cast<std::int64_t>(pods_.room(job)));
    for (std::int64_t index = 0; count > 0; ++index) {
        if (!is_indexed(job)) {
            create(job, -1);
        } else if (index >= std::min(completions, indexes_max)) {
            return;
        } else if (tally.done.contains(index) || tally.held.contains(index) ||
                   tally.failures.indexes.contains(index)) {
            continue;
        } else {
            create(job, index);
        }
        --count;
    }
}

void JobController::create(const Object& job, std::int64_t index) {
    Object pod = pod_of_template(job);
    const std::string_view name = text_at(job, "metadata.name");
    const std::string_view uid = kube::uid_of(job);
    put_in(pod, "labels", "batch.kubernetes.io/controller-uid", uid);
    put_in(pod, "labels", "batch.kubernetes.io/job-name", name);
    put_in(pod, "labels", "controller-uid", uid);
    put_in(pod, "labels", "job-name", name);
    if (index >= 0) { add_index(pod, name, index); }
    pods_.create(job, pod, events_);
}

json::object JobController::status_of(const Object& job, const Tally& tally) const {
    Object status{{"active", count_or_none(static_cast<std::int64_t>(tally.active.size()))},
                  {"ready", tally.ready},
                  {"terminating", tally.terminating},
                  {"succeeded", count_or_none(tally.succeeded)},
                  {"failed", count_or_none(tally.failures.count)}};
    if (is_indexed(job) && !tally.done.empty()) {
        status["completedIndexes"] = write_indexes(tally.done);
    }
    if (!tally.failures.indexes.empty()) {
        status["failedIndexes"] = write_indexes(tally.failures.indexes);
    }
    return status;
}

}  // namespace muster::lab
