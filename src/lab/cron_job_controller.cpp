#include "lab/cron_job_controller.h"

#include "kube/objects.h"
#include "lab/cron_schedule.h"
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
using Change = kube::Informer::Change;

namespace {

constexpr std::int64_t minute_length = 60'000;
constexpr int missed_max = 100;
constexpr std::int64_t look_back = 32 * 24 * 60 * minute_length;

bool is_complete(const json::object& job) { return kube::condition_of(job, "Complete") == "True"; }
bool is_ended(const json::object& job) {
    return is_complete(job) || kube::condition_of(job, "Failed") == "True";
}

/// The last time that has come since `since`; -1 when none has. Of very many the search starts
/// near the end.
std::int64_t last_due(const CronSchedule& schedule, std::int64_t since, std::int64_t now) {
    std::int64_t due = -1;
    int steps = 0;
    for (std::int64_t next = next_time(schedule, since); next >= 0 && next <= now;
         next = next_time(schedule, next)) {
        due = next;
        if (++steps == missed_max) { since = std::max(next, now - look_back); }
        if (steps >= missed_max && next < since) { next = since; }
    }
    return due;
}

bool is_utc(std::string_view zone) {
    return zone.empty() || zone == "UTC" || zone == "Etc/UTC" || zone == "Etc/GMT" || zone == "GMT";
}

}  // namespace

CronJobController::CronJobController(kube::Transport& transport, LabTimers& timers,
                                     const kube::Informer& jobs)
    : transport_(transport),
      timers_(timers),
      jobs_(jobs),
      events_(
          transport, [&timers] { return timers.now(); }, "cronjob-controller"),
      queue_(timers, [this](const ObjectName& name) { reconcile(name); }),
      cron_jobs_(transport, known::cron_jobs, queue_.listener()) {}

void CronJobController::resync() { queue_.add_all(cron_jobs_); }

void CronJobController::on_job(const Object& job) {
    if (const auto cron = controller_name(job, "CronJob")) { queue_.add(*cron); }
}

void CronJobController::reconcile(const ObjectName& name) {
    const Object* cron = cron_jobs_.find(name);
    if (cron == nullptr || kube::is_leaving(*cron)) { return; }
    if (!jobs_.is_synced()) { return queue_.add_later(name, 100 * timers_.speed()); }
    const auto jobs = controlled_by(*cron, jobs_);  // the oldest first: names end with minutes
    show(*cron, jobs);
    trim(*cron, jobs);
    if (kube::flag_at(*cron, "spec.suspend")) { return; }
    if (!is_utc(text_at(*cron, "spec.timeZone"))) {
        return events_.record(*cron, "Warning", "UnknownTimeZone",
                              fmt::format("time zone {} is not served here, only UTC",
                                          text_at(*cron, "spec.timeZone")));
    }
    const auto schedule = parse_cron(text_at(*cron, "spec.schedule"));
    if (!schedule) {
        return events_.record(*cron, "Warning", "UnparseableSchedule", schedule.error().message);
    }
    const std::int64_t now = timers_.now();
    const std::int64_t last = kube::read_time(text_at(*cron, "status.lastScheduleTime"));
    const std::int64_t made = kube::read_time(text_at(*cron, "metadata.creationTimestamp"));
    const std::int64_t due = last_due(*schedule, std::max(last, made), now);
    const std::int64_t next = next_time(*schedule, now);
    if (next >= 0) { queue_.add_later(name, next - now); }
    if (due < 0) { return; }
    const std::int64_t deadline = int_at(*cron, "spec.startingDeadlineSeconds", -1);
    if (deadline >= 0 && now > due + deadline * 1000) {
        return events_.record(*cron, "Warning", "MissSchedule",
                              "Missed scheduled time to start a job: " + kube::time_text(due));
    }
    run(*cron, due, jobs);
}

/// The name comes from the time, so that a second try meets the first.
void CronJobController::run(const Object& cron, std::int64_t due,
                            const std::vector<const Object*>& jobs) {
    const ObjectName name = kube::name_of(cron);
    const std::string_view policy = text_at(cron, "spec.concurrencyPolicy");
    for (const Object* job : jobs) {
        if (is_ended(*job) || kube::is_leaving(*job)) { continue; }
        if (policy == "Forbid") {
            return events_.record(cron, "Normal", "JobAlreadyActive",
                                  "Not starting job because prior execution is running and "
                                  "concurrency policy is Forbid");
        }
        if (policy != "Replace") { continue; }
        const std::string called = kube::name_of(*job).second;
        if (called == fmt::format("{}-{}", name.second, due / minute_length)) { continue; }
        kube::delete_object(
            transport_, known::jobs, kube::name_of(*job),
            {.uid = std::string(kube::uid_of(*job)), .grace = -1, .propagation = "Background"});
        events_.record(cron, "Normal", "SuccessfulDelete", "Deleted job " + called);
    }
    Object metadata;
    if (const Object* given = kube::object_at(cron, "spec.jobTemplate.metadata")) {
        metadata = *given;
    }
    const std::string called = fmt::format("{}-{}", name.second, due / minute_length);
    metadata["name"] = called;
    metadata["namespace"] = name.first;
    metadata["ownerReferences"] = json::array{kube::owner_reference(cron)};
    Object job{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", std::move(metadata)}};
    put_in(job, "annotations", "batch.kubernetes.io/cronjob-scheduled-timestamp",
           kube::time_text(due));
    const Object* spec = kube::object_at(cron, "spec.jobTemplate.spec");
    job["spec"] = spec ? *spec : Object();
    if (!jobs_.find({name.first, called})) {
        kube::create_object(transport_, known::jobs, name.first, job);
        events_.record(cron, "Normal", "SuccessfulCreate", "Created job " + called);
    }
    write_status(transport_, known::cron_jobs, cron, {{"lastScheduleTime", kube::time_text(due)}});
}

void CronJobController::show(const Object& cron, const std::vector<const Object*>& jobs) {
    json::array active;
    std::string success;
    for (const Object* job : jobs) {
        const std::string ended(text_at(*job, "status.completionTime"));
        if (is_complete(*job)) { success = std::max(success, ended); }
        if (is_ended(*job)) { continue; }
        active.push_back({{"apiVersion", "batch/v1"},
                          {"kind", "Job"},
                          {"name", text_at(*job, "metadata.name")},
                          {"namespace", text_at(*job, "metadata.namespace")},
                          {"uid", kube::uid_of(*job)},
                          {"resourceVersion", text_at(*job, "metadata.resourceVersion")}});
    }
    // References are compared by who they are: their versions change with every step of a job.
    const json::array* before = kube::array_at(cron, "status.active");
    const bool is_same =
        active.size() == (before ? before->size() : 0) &&
        std::equal(active.begin(), active.end(), before ? before->begin() : active.begin(),
                   [](const json::value& a, const json::value& b) {
                       return b.is_object() &&
                              text_at(a.as_object(), "uid") == text_at(b.as_object(), "uid");
                   });
    Object status;
    if (!is_same) {
        status["active"] = active.empty() ? json::value() : json::value(std::move(active));
    }
    if (success > text_at(cron, "status.lastSuccessfulTime")) {
        status["lastSuccessfulTime"] = success;
    }
    write_status(transport_, known::cron_jobs, cron, std::move(status));
}

void CronJobController::trim(const Object& cron, const std::vector<const Object*>& jobs) {
    for (const bool is_good : {true, false}) {
        std::vector<const Object*> ended;
        for (const Object* job : jobs) {
            if (is_ended(*job) && is_complete(*job) == is_good) { ended.push_back(job); }
        }
        const std::int64_t kept = is_good ? int_at(cron, "spec.successfulJobsHistoryLimit", 3)
                                          : int_at(cron, "spec.failedJobsHistoryLimit", 1);
        for (std::size_t i = 0;
             static_cast<std::int64_t>(i) + kept < static_cast<std::int64_t>(ended.size()); ++i) {
            if (kube::is_leaving(*ended[i])) { continue; }
            kube::delete_object(transport_, known::jobs, kube::name_of(*ended[i]),
                                {.uid = std::string(kube::uid_of(*ended[i])),
                                 .grace = -1,
                                 .propagation = "Background"});
        }
    }
}

}  // namespace muster::lab
