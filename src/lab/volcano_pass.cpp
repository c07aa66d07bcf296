#include "lab/volcano_pass.h"

#include "lab/volcano_members.h"
#include "lab/volcano_object.h"
#include "lab/volcano_pods.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster::lab::volcano {

namespace json = boost::json;

namespace {

constexpr std::size_t conditions_max = 20;
constexpr std::size_t pods_made_max = 500;  // in one pass; the next one makes more

struct Chosen {
    Action action = Action::sync;
    Trigger trigger;
};

void wake_at(Pass& pass, std::int64_t at_ms) {
    pass.wake_ms = pass.wake_ms == 0 ? at_ms : std::min(pass.wake_ms, at_ms);
}

Chosen choose(const Observed& observed, const JobSpec& spec, const Members& members,
              const JobState& state, Pass& pass) {
    if (observed.command != Action::sync) {
        return {.action = observed.command, .trigger = {.event = "Command"}};
    }
    if (state.phase != Phase::pending && state.phase != Phase::running) { return {}; }
    for (Trigger& trigger : find_triggers(observed, spec, members, state)) {
        const Verdict verdict = judge(spec, trigger);
        if (verdict.action == Action::sync || verdict.action == Action::resume_job) { continue; }
        // That a pod is pending is no event by itself, only that it is for so long.
        if (trigger.event == "PodPending" && verdict.timeout_ms == 0) { continue; }
        const std::int64_t due = trigger.since_ms == 0 ? 0 : trigger.since_ms + verdict.timeout_ms;
        if (due > observed.now_ms) {
            wake_at(pass, due);
            continue;
        }
        return {.action = verdict.action, .trigger = std::move(trigger)};
    }
    return {};
}

bool is_target(const Member& member, const Chosen& chosen, const JobSpec& spec) {
    const Trigger& trigger = chosen.trigger;
    switch (chosen.action) {
        case Action::restart_task: return member.task == trigger.task;
        case Action::restart_pod: return member.name == trigger.pod;
        case Action::restart_partition: {
            const TaskSpec* task = spec.find(member.task);
            if (task == nullptr || member.task != trigger.task) { return false; }
            const std::int64_t size = task->partition_size;
            return size <= 0 || member.index / size == trigger.index / size;
        }
        case Action::sync:
        case Action::restart_job:
        case Action::abort_job:
        case Action::terminate_job:
        case Action::complete_job:
        case Action::resume_job: return false;
    }
    return false;
}

bool is_outdated(const Member& member, const JobState& state) {
    return state.phase == Phase::restarting && member.version < state.version &&
           !(state.keeps_succeeded && member.phase == "Succeeded");
}

void set_count(json::object& status, std::string_view key, std::int64_t count) {
    if (count == 0) {
        status.erase(key);
    } else {
        status[key] = count;
    }
}

/// Newest last, as Volcano adds them; the oldest fall out.
void add_condition(json::object& status, std::string_view phase, const std::string& now) {
    json::array& conditions = children(status, "conditions");
    conditions.emplace_back(json::object{{"status", phase}, {"lastTransitionTime", now}});
    while (conditions.size() > conditions_max) { conditions.erase(conditions.begin()); }
}

json::object make_status(const Observed& observed, const JobSpec& spec, const PodCounts& counts,
                         const Pass& pass) {
    const json::object& job = *observed.job;
    json::object status;
    if (const json::object* before = object_at(job, "status")) { status = *before; }
    const std::string_view phase = name_of(pass.state.phase);
    if (text_at(status, "state.phase") != phase || pass.action != Action::sync) {
        const std::string now = time_text(observed.now_ms);
        json::object state{{"phase", phase}, {"lastTransitionTime", now}};
        if (pass.action != Action::sync) {
            state["reason"] = name_of(pass.action);
            state["message"] = pass.cause;
        }
        status["state"] = std::move(state);
        add_condition(status, phase, now);
        const std::int64_t made = time_of(text_at(job, "metadata.creationTimestamp"));
        if (is_finished(pass.state.phase) && made > 0) {
            status["runningDuration"] = duration_text(observed.now_ms - made);
        }
    }
    status["minAvailable"] = spec.minimum;
    set_count(status, "pending", counts.pending);
    set_count(status, "running", counts.running);
    set_count(status, "succeeded", counts.succeeded);
    set_count(status, "failed", counts.failed);
    set_count(status, "terminating", counts.terminating);
    set_count(status, "unknown", counts.unknown);
    set_count(status, "version", pass.state.version);
    set_count(status, "retryCount", pass.state.retries);
    json::object tasks;
    for (const auto& [task, phases] : counts.tasks) {
        json::object by_phase;
        for (const auto& [name, count] : phases) { by_phase[name] = count; }
        tasks[task] = {{"phase", std::move(by_phase)}};
    }
    if (tasks.empty()) {
        status.erase("taskStatusCount");
    } else {
        status["taskStatusCount"] = std::move(tasks);
    }
    return status;
}

void plan_group(const Observed& observed, const JobSpec& spec, const PodCounts& counts,
                Pass& pass) {
    json::object wanted = pod_group_spec(*observed.job, spec, counts);
    if (observed.group == nullptr) {
        pass.group_made.push_back(make_pod_group(*observed.job, std::move(wanted)));
        return;
    }
    if (is_leaving(*observed.group)) { return; }
    json::object group = *observed.group;
    json::object& have = child(group, "spec");
    bool is_changed = false;
    for (const std::string_view key : {"minMember", "minTaskMember", "minResources", "queue",
                                       "priorityClassName", "networkTopology", "subGroupPolicy"}) {
        const json::value* now = have.if_contains(key);
        json::value* then = wanted.if_contains(key);
        if (then == nullptr) {
            is_changed = have.erase(key) > 0 || is_changed;
        } else if (now == nullptr || *now != *then) {
            have[key] = *then;
            is_changed = true;
        }
    }
    if (is_changed) { pass.group_updated.push_back(std::move(group)); }
}

void plan_missing(const Observed& observed, const JobSpec& spec, const Members& members,
                  Pass& pass) {
    for (const TaskSpec& task : spec.tasks) {
        if (!is_released(task, spec, members.counts)) { continue; }
        for (std::int64_t i = 0; i < task.replicas; ++i) {
            if (members.names.contains(pod_name(*observed.job, task.name, i))) { continue; }
            if (pass.pods_made.size() >= pods_made_max) { return; }
            pass.pods_made.push_back(make_pod(
                *observed.job, spec, {.task = task, .index = i, .version = pass.state.version}));
        }
    }
}

void plan_removals(const JobSpec& spec, Members& members, const Chosen& chosen, Pass& pass) {
    const bool is_live_now = is_live(pass.state.phase);
    // The highest index goes first.
    for (auto at = members.all.rbegin(); at != members.all.rend(); ++at) {
        if (at->is_going) { continue; }
        const bool is_removed = is_live_now ? !at->is_wanted || is_outdated(*at, pass.state) ||
                                                  (pass.state.phase == Phase::restarting &&
                                                   is_target(*at, chosen, spec))
                                            : !at->is_over();
        if (!is_removed) { continue; }
        pass.pods_removed.push_back(
            {.name = {std::string(text_at(*at->pod, "metadata.namespace")), at->name},
             .uid = std::string(uid_of(*at->pod))});
    }
    pass.pods_removed.insert(pass.pods_removed.end(), members.strays.begin(), members.strays.end());
}

void plan_end(const Observed& observed, const JobSpec& spec, Pass& pass) {
    const bool is_complete =
        pass.state.phase == Phase::completed || pass.state.phase == Phase::completing;
    if (observed.group != nullptr && !is_leaving(*observed.group)) {
        pass.removes_group = !is_complete;
        pass.completes_group = pass.state.phase == Phase::completed &&
                               text_at(*observed.group, "status.phase") != "Completed";
    }
    if (!is_finished(pass.state.phase) || !spec.ttl_s || !pass.status.empty()) { return; }
    const std::int64_t ended = time_of(text_at(*observed.job, "status.state.lastTransitionTime"));
    const std::int64_t due = ended + *spec.ttl_s * 1000;
    if (due <= observed.now_ms) {
        pass.removes_job = true;
    } else {
        wake_at(pass, due);
    }
}

}  // namespace

JobState read_state(const json::object& job) {
    JobState state;
    state.phase = read_phase(text_at(job, "status.state.phase"));
    state.version = int_at(job, "status.version");
    state.retries = int_at(job, "status.retryCount");
    state.keeps_succeeded = state.phase == Phase::restarting &&
                            text_at(job, "status.state.reason") == name_of(Action::resume_job);
    return state;
}

Pass plan_pass(const Observed& observed) {
    Pass pass;
    const JobSpec spec = read_spec(*observed.job);
    Members members = read_members(observed, spec);
    const JobState state = read_state(*observed.job);
    const std::int64_t outdated = std::count_if(
        members.all.begin(), members.all.end(),
        [&](const Member& member) { return !member.is_going && is_outdated(member, state); });
    const Chosen chosen = choose(observed, spec, members, state, pass);
    pass.state = next_state(spec, state, members.counts, outdated, chosen.action);
    if (pass.state != state) {
        pass.action = chosen.action;
        if (chosen.action != Action::sync) {
            pass.cause = chosen.trigger.text();
            if (pass.state.phase == Phase::failed) {
                pass.cause +=
                    fmt::format("; retry {} of at most {}", pass.state.retries, spec.retries_max);
            }
        }
    }
    json::object status = make_status(observed, spec, members.counts, pass);
    const json::object* before = object_at(*observed.job, "status");
    if (before == nullptr || *before != status) {
        json::object job = *observed.job;
        job["status"] = std::move(status);
        pass.status.push_back(std::move(job));
    }
    plan_removals(spec, members, chosen, pass);
    if (is_live(pass.state.phase)) {
        plan_group(observed, spec, members.counts, pass);
        plan_missing(observed, spec, members, pass);
    } else {
        plan_end(observed, spec, pass);
    }
    return pass;
}

}  // namespace muster::lab::volcano
