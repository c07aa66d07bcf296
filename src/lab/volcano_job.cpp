#include "lab/volcano_job.h"

#include "base/text.h"
#include "kube/events.h"
#include "lab/known_resources.h"
#include "lab/volcano_frameworks.h"
#include "lab/volcano_object.h"
#include "lab/volcano_plugins.h"
#include "lab/volcano_pods.h"
#include "lab/volcano_work.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace volcano {

bool is_version_reached(std::string_view seen, std::string_view awaited) {
    const auto now = parse_int(seen);
    const auto then = parse_int(awaited);
    return now && then ? *now >= *then : seen == awaited;
}

}  // namespace volcano

namespace {

using kube::Answer;
using kube::Call;
using kube::Informer;
using kube::ObjectName;
using volcano::Action;
using volcano::Pass;
using volcano::Work;

/// Only the one with this uid, and what it owns behind it.
kube::Deletion only(std::string_view uid) {
    return {.uid = std::string(uid), .grace = -1, .propagation = "Background"};
}

constexpr std::int64_t gather_ms = 5;       // changes of one moment are one pass
constexpr std::int64_t again_wait_ms = 15;  // after a pass, also one that met a conflict
constexpr std::int64_t sync_poll_ms = 20;   // until the caches are filled
constexpr std::int64_t failure_wait_ms = 500;
constexpr std::int64_t seen_wait_ms = 3'000;  // then what was written is not waited for any more
constexpr int status_conflict = 409;
constexpr int status_not_found = 404;

}  // namespace

struct VolcanoJobs::Impl : std::enable_shared_from_this<VolcanoJobs::Impl> {
    kube::Transport& transport;
    std::function<std::int64_t()> now;
    std::map<ObjectName, Work> work;
    std::set<ObjectName> commands_taken;
    std::int64_t speed;
    kube::EventRecorder events;
    bool is_ready = false;
    Informer jobs;
    Informer pods;
    Informer groups;
    Informer commands;

    Impl(kube::Transport& transport_in, std::function<std::int64_t()> now_in, std::int64_t speed_in)
        : transport(transport_in),
          now(std::move(now_in)),
          speed(std::max<std::int64_t>(speed_in, 1)),
          events(transport, now, "vc-controller-manager"),
          jobs(transport, known::volcano_jobs,
               [this](auto change, const auto& name, const auto& object, const auto*) {
                   job_changed(change, name, object);
               }),
          pods(transport, known::pods,
               [this](auto change, const auto& name, const auto& object, const auto* before) {
                   pod_changed(change, name, object, before);
               },
               {.space = "", .name = "", .labels = "volcano.sh/job-name"}),
          groups(transport, known::pod_groups,
                 [this](auto change, const auto& name, const auto& object, const auto* before) {
                     group_changed(change, name, object, before);
                 }),
          commands(transport, known::commands,
                   [this](auto change, const auto& name, const auto& object, const auto*) {
                       if (change == Informer::Change::set) { take_command(name, object); }
                   }) {}

    // What the caches tell.

    void job_changed(Informer::Change change, const ObjectName& name, const json::object& object) {
        Work& one = work[name];
        if (change == Informer::Change::gone ||
            volcano::is_version_reached(text_at(object, "metadata.resourceVersion"), one.awaited)) {
            one.awaited.clear();
        }
        queue(name);
    }

    void pod_changed(Informer::Change change, const ObjectName& name, const json::object& object,
                     const json::object* before) {
        const std::string former =
            before == nullptr ? std::string() : volcano::owner_of(*before).name;
        const std::string owner = volcano::owner_of(object).name;
        const bool is_gone = change == Informer::Change::gone;
        if (!former.empty() && (is_gone || former != owner)) { forget_pod(former, name, object); }
        if (owner.empty()) { return; }
        const ObjectName job{name.first, owner};
        Work& one = work[job];
        const std::string uid(volcano::uid_of(object));
        const bool was_going = before != nullptr && volcano::is_leaving(*before);
        if ((is_gone || volcano::is_leaving(object)) && !was_going && !one.doomed.contains(uid)) {
            note_eviction(one, object);
        }
        if (is_gone) {
            forget_pod(owner, name, object);
        } else {
            one.pods.insert(name);
            one.expected.erase(name.second);
        }
        queue(job);
    }

    void forget_pod(const std::string& job, const ObjectName& name, const json::object& object) {
        Work& one = work[{name.first, job}];
        one.pods.erase(name);
        one.doomed.erase(std::string(volcano::uid_of(object)));
        queue({name.first, job});
    }

    static void note_eviction(Work& one, const json::object& pod) {
        const auto number = [&](std::string_view key) {
            return parse_int(kube::annotation_of(pod, key)).value_or(0);
        };
        one.evicted.emplace_back(
            volcano::owner_of(pod).uid,
            volcano::Trigger{.event = "PodEvicted",
                             .task = std::string(kube::annotation_of(pod, "volcano.sh/task-spec")),
                             .pod = std::string(text_at(pod, "metadata.name")),
                             .index = number("volcano.sh/task-index"),
                             .version = number("volcano.sh/job-version")});
    }

    void group_changed(Informer::Change change, const ObjectName& name, const json::object& object,
                       const json::object* before) {
        const std::string owner = volcano::owner_of(object).name;
        const std::string former =
            before == nullptr ? std::string() : volcano::owner_of(*before).name;
        if (!former.empty() && former != owner) { work[{name.first, former}].groups.erase(name); }
        if (owner.empty()) { return; }
        Work& one = work[{name.first, owner}];
        if (change == Informer::Change::gone) {
            one.groups.erase(name);
        } else {
            one.groups.insert(name);
            one.expected.erase(name.second);
        }
        queue({name.first, owner});
    }

    /// A command is taken away before it is carried out, so that it is not carried out twice.
    void take_command(const ObjectName& name, const json::object& command) {
        if (text_at(command, "target.kind") != "Job" || !commands_taken.insert(name).second) {
            return;
        }
        const ObjectName job{name.first, std::string(text_at(command, "target.name"))};
        const Action action = volcano::read_action(text_at(command, "action"));
        Call call = kube::delete_call(known::commands, name, only(volcano::uid_of(command)));
        transport.call(std::move(call),
                       [weak = weak_from_this(), name, job, action](const Result<Answer>& answer) {
                           const auto self = weak.lock();
                           if (self == nullptr) { return; }
                           self->commands_taken.erase(name);
                           if (!answer || !answer->is_ok()) { return; }
                           self->work[job].command = action;
                           self->queue(job);
                       });
    }

    // When to pass.

    void start() {
        jobs.start();
        pods.start();
        groups.start();
        commands.start();
        wait_for_caches();
    }

    void later(std::int64_t milliseconds, std::function<void(Impl&)> task) {
        transport.after(milliseconds, [weak = weak_from_this(), task = std::move(task)] {
            if (const auto self = weak.lock()) { task(*self); }
        });
    }

    void wait_for_caches() {
        is_ready = jobs.is_synced() && pods.is_synced() && groups.is_synced();
        if (!is_ready) {
            later(sync_poll_ms, [](Impl& self) { self.wait_for_caches(); });
            return;
        }
        std::vector<ObjectName> names;
        for (const auto& [name, one] : work) { names.push_back(name); }
        for (const ObjectName& name : names) { queue(name); }
    }

    void queue(const ObjectName& name, std::int64_t wait_ms = gather_ms) {
        if (!is_ready) { return; }
        Work& one = work[name];
        if (one.calls > 0) {
            one.is_again = true;
            return;
        }
        if (one.is_queued) { return; }
        one.is_queued = true;
        later(wait_ms, [name](Impl& self) {
            self.work[name].is_queued = false;
            self.pass(name);
        });
    }

    void wake(const ObjectName& name, std::int64_t at_ms) {
        Work& one = work[name];
        const std::int64_t moment = now();
        if (one.wake_ms > moment && one.wake_ms <= at_ms) { return; }
        one.wake_ms = at_ms;
        later(std::max<std::int64_t>((at_ms - moment + speed - 1) / speed, 1),
              [name](Impl& self) { self.queue(name); });
    }

    // One pass.

    void pass(const ObjectName& name) {
        Work& one = work[name];
        if (one.calls > 0) {
            one.is_again = true;
            return;
        }
        const json::object* job = jobs.find(name);
        if (job == nullptr) {
            clear(name);
            return;
        }
        if (!one.awaited.empty()) {
            if (now() < one.awaited_until) {
                wake(name, one.awaited_until);
                return;
            }
            one.awaited.clear();
        }
        // Whoever deletes it in the foreground waits for its dependents; nothing is made any more.
        if (volcano::is_leaving(*job)) { return; }

        const std::string group = volcano::pod_group_name(*job);
        volcano::Observed observed{.job = job,
                                   .group = groups.find({name.first, group}),
                                   .doomed = &one.doomed,
                                   .command = one.command,
                                   .now_ms = now()};
        for (const auto& [uid, event] : one.evicted) {
            if (uid == volcano::uid_of(*job)) { observed.events.push_back(event); }
        }
        for (const ObjectName& pod : one.pods) {
            if (const json::object* found = pods.find(pod)) { observed.pods.push_back(found); }
        }
        tell_of_group(name, *job, observed.group);
        auto planned = std::make_shared<Pass>(volcano::plan_pass(observed));
        auto copy = std::make_shared<const json::object>(*job);
        if (planned->wake_ms > 0) { wake(name, planned->wake_ms); }
        begin(name);
        if (planned->status.empty()) {
            forget_events(one);
            carry_out(name, *copy, *planned);
        } else {
            send(name, kube::replace_call(known::volcano_jobs, planned->status.front(), "status"),
                 [this, name, planned, copy](const Answer& answer) {
                     if (!answer.is_ok()) { return false; }
                     status_written(name, answer);
                     carry_out(name, *copy, *planned);
                     return true;
                 });
        }
        end(name);
    }

    static void forget_events(Work& one) {
        one.evicted.clear();
        one.command = Action::sync;
    }

    void status_written(const ObjectName& name, const Answer& answer) {
        Work& one = work[name];
        forget_events(one);
        boost::system::error_code error;
        const json::value written = json::parse(answer.body, error);
        if (error || !written.is_object()) { return; }
        const std::string_view version = text_at(written.get_object(), "metadata.resourceVersion");
        const json::object* seen = jobs.find(name);
        if (seen != nullptr &&
            volcano::is_version_reached(text_at(*seen, "metadata.resourceVersion"), version)) {
            return;
        }
        one.awaited = version;
        one.awaited_until = now() + seen_wait_ms * speed;
    }

    void carry_out(const ObjectName& name, const json::object& job, const Pass& planned) {
        if (planned.action != Action::sync) {
            events.record(job, "Normal", "ExecuteAction",
                          fmt::format("{}: {}", volcano::name_of(planned.action), planned.cause));
        }
        Work& one = work[name];
        for (const volcano::Doomed& pod : planned.pods_removed) {
            if (!one.doomed.insert(pod.uid).second) { continue; }
            remove(name, known::pods, pod.name, pod.uid);
        }
        if (volcano::is_live(planned.state.phase)) { make_plugin_objects(name, job); }
        const std::int64_t until = now() + seen_wait_ms * speed;
        for (const json::object& group : planned.group_made) {
            make(name, known::pod_groups, group, until);
        }
        for (const json::object& group : planned.group_updated) {
            send(name, kube::replace_call(known::pod_groups, group),
                 [](const Answer& answer) { return answer.is_ok(); });
        }
        for (const json::object& pod : planned.pods_made) { make(name, known::pods, pod, until); }
        end_group(name, job, planned);
        if (planned.removes_job) {
            remove(name, known::volcano_jobs, name, std::string(volcano::uid_of(job)));
        }
    }

    void end_group(const ObjectName& name, const json::object& job, const Pass& planned) {
        const ObjectName group{name.first, volcano::pod_group_name(job)};
        const json::object* found = groups.find(group);
        if (found == nullptr) { return; }
        if (planned.removes_group) {
            remove(name, known::pod_groups, group, std::string(volcano::uid_of(*found)));
        } else if (planned.completes_group) {
            send(name,
                 kube::patch_call({.resource = known::pod_groups, .name = group, .rest = "status"},
                                  {{"status", json::object{{"phase", "Completed"}}}}),
                 [](const Answer& answer) { return answer.is_ok(); });
        }
    }

    void make(const ObjectName& job, const kube::Resource& resource, const json::object& object,
              std::int64_t until) {
        Work& one = work[job];
        const std::string made(text_at(object, "metadata.name"));
        if (const auto at = one.expected.find(made); at != one.expected.end()) {
            if (at->second > now()) {
                wake(job, at->second);
                return;
            }
        }
        one.expected[made] = until;
        send(job, kube::create_call(resource, job.first, object),
             [this, job, made](const Answer& answer) {
                 if (answer.is_ok()) { return true; }
                 Work& mine = work[job];
                 // It is there: the cache will tell, or whose it is will go.
                 if (answer.status != status_conflict) { mine.expected.erase(made); }
                 if (answer.status == status_conflict) { wake(job, now() + seen_wait_ms * speed); }
                 return answer.status == status_conflict;
             });
    }

    void remove(const ObjectName& job, const kube::Resource& resource, const ObjectName& name,
                const std::string& uid) {
        send(job, kube::delete_call(resource, name, only(uid)),
             [this, job, uid](const Answer& answer) {
                 const bool is_done = answer.is_ok() || answer.status == status_not_found ||
                                      answer.status == status_conflict;
                 if (!is_done) { work[job].doomed.erase(uid); }
                 return is_done;
             });
    }

    void make_plugin_objects(const ObjectName& name, const json::object& job) {
        const volcano::JobSpec spec = volcano::read_spec(job);
        const auto objects = volcano::plugin_objects(job, spec);
        std::string all(volcano::uid_of(job));
        for (const auto& [resource, object] : objects) { all += json::serialize(object); }
        Work& one = work[name];
        if (objects.empty() || one.plugins == all) { return; }
        one.plugins = all;
        for (const auto& [resource, object] : objects) {
            json::object whole = object;
            if (resource == known::secrets) { volcano::add_ssh_keys(whole, spec); }
            send(name, kube::create_call(resource, name.first, whole),
                 [this, name, kind = resource, hosts = object](const Answer& answer) {
                     if (answer.status != status_conflict) { return answer.is_ok(); }
                     // A service of this name serves; hosts have to be those of now, and a secret
                     // keeps its keys.
                     if (kind == known::services) { return true; }
                     const ObjectName there{name.first,
                                            std::string(text_at(hosts, "metadata.name"))};
                     send(name,
                          kube::patch_call({.resource = kind, .name = there, .rest = {}}, hosts),
                          [](const Answer& merged) { return merged.is_ok(); });
                     return true;
                 });
        }
    }

    /// The job is gone: what it had goes too. Services are left to the garbage collector.
    void clear(const ObjectName& name) {
        Work& one = work[name];
        begin(name);
        for (const ObjectName& pod_name : std::set<ObjectName>(one.pods)) {
            const json::object* pod = pods.find(pod_name);
            if (pod == nullptr || volcano::is_leaving(*pod)) { continue; }
            const std::string uid(volcano::uid_of(*pod));
            if (!one.doomed.insert(uid).second) { continue; }
            remove(name, known::pods, pod_name, uid);
        }
        for (const ObjectName& group_name : std::set<ObjectName>(one.groups)) {
            const json::object* group = groups.find(group_name);
            if (group == nullptr || volcano::is_leaving(*group)) { continue; }
            remove(name, known::pod_groups, group_name, std::string(volcano::uid_of(*group)));
        }
        one.evicted.clear();
        one.expected.clear();
        one.told.clear();
        end(name);
        if (const auto at = work.find(name); at != work.end() && at->second.is_empty()) {
            work.erase(at);
        }
    }

    // Calls, counted per job.

    void begin(const ObjectName& name) { ++work[name].calls; }

    void end(const ObjectName& name) {
        const auto at = work.find(name);
        if (at == work.end() || --at->second.calls > 0) { return; }
        Work& one = at->second;
        const bool has_failed = std::exchange(one.has_failed, false);
        if (std::exchange(one.is_again, false) || has_failed) {
            queue(name, has_failed ? failure_wait_ms : again_wait_ms);
        }
    }

    /// `is_done` says whether the answer is as good as what was wanted; if not, there is another
    /// pass: soon after a conflict, later after a failure.
    void send(const ObjectName& name, Call call, std::function<bool(const Answer&)> is_done) {
        begin(name);
        transport.call(std::move(call), [weak = weak_from_this(), name,
                                         is_done = std::move(is_done)](const Result<Answer>& got) {
            const auto self = weak.lock();
            if (self == nullptr) { return; }
            const bool is_good = got && is_done(*got);
            Work& one = self->work[name];
            if (!is_good) {
                (got && got->status == status_conflict ? one.is_again : one.has_failed) = true;
            }
            self->end(name);
        });
    }

    void tell_of_group(const ObjectName& name, const json::object& job, const json::object* group) {
        const json::array* conditions =
            group == nullptr ? nullptr : kube::array_at(*group, "status.conditions");
        if (conditions == nullptr || text_at(*group, "status.phase") == "Running") { return; }
        for (const json::value& one : *conditions) {
            const json::object* condition = one.if_object();
            if (condition == nullptr || text_at(*condition, "type") != "Unschedulable" ||
                text_at(*condition, "status") != "True") {
                continue;
            }
            const std::string message =
                fmt::format("PodGroup {}/{} waits: {}", name.first,
                            text_at(*group, "metadata.name"), text_at(*condition, "message"));
            if (std::exchange(work[name].told, message) == message) { return; }
            events.record(job, "Warning", "PodGroupPending", message);
            return;
        }
    }
};

VolcanoJobs::VolcanoJobs(kube::Transport& transport, std::function<std::int64_t()> now_ms,
                         std::int64_t speed)
    : impl_(std::make_shared<Impl>(transport, std::move(now_ms), speed)) {}
VolcanoJobs::~VolcanoJobs() = default;

void VolcanoJobs::start() { impl_->start(); }

}  // namespace muster::lab
