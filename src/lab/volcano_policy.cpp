#include "lab/volcano_policy.h"

#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <array>
#include <utility>

namespace muster::lab::volcano {

namespace json = boost::json;

namespace {

constexpr std::array<std::pair<Action, std::string_view>, 9> action_names{{
    {Action::sync, "SyncJob"},
    {Action::restart_job, "RestartJob"},
    {Action::restart_task, "RestartTask"},
    {Action::restart_partition, "RestartPartition"},
    {Action::restart_pod, "RestartPod"},
    {Action::abort_job, "AbortJob"},
    {Action::terminate_job, "TerminateJob"},
    {Action::complete_job, "CompleteJob"},
    {Action::resume_job, "ResumeJob"},
}};

constexpr std::array<std::pair<Phase, std::string_view>, 11> phase_names{{
    {Phase::none, ""},
    {Phase::pending, "Pending"},
    {Phase::running, "Running"},
    {Phase::restarting, "Restarting"},
    {Phase::aborting, "Aborting"},
    {Phase::aborted, "Aborted"},
    {Phase::completing, "Completing"},
    {Phase::completed, "Completed"},
    {Phase::terminating, "Terminating"},
    {Phase::terminated, "Terminated"},
    {Phase::failed, "Failed"},
}};

bool names_event(std::string_view named, std::string_view event) {
    if (named == event) { return !event.empty(); }
    // Every pod is pending and running at some time: only who asks for it means that.
    return named == "*" && event != "PodPending" && event != "PodRunning";
}

bool matches(const json::object& policy, const Trigger& trigger) {
    if (names_event(text_at(policy, "event"), trigger.event)) { return true; }
    if (const json::array* events = array_at(policy, "events"); events != nullptr) {
        for (const json::value& event : *events) {
            if (event.is_string() && names_event(event.get_string(), trigger.event)) {
                return true;
            }
        }
    }
    return trigger.exit_code != 0 && int_at(policy, "exitCode") == trigger.exit_code;
}

const json::object* match_in(const json::object& holder, const Trigger& trigger) {
    const json::array* policies = array_at(holder, "policies");
    if (policies == nullptr) { return nullptr; }
    for (const json::value& one : *policies) {
        const json::object* policy = one.if_object();
        if (policy != nullptr && matches(*policy, trigger)) { return policy; }
    }
    return nullptr;
}

/// All have run: has it been a success?
Phase result_of(const JobSpec& spec, const PodCounts& counts) {
    if (spec.minimum >= spec.tasks_minimum()) {
        for (const TaskSpec& task : spec.tasks) {
            if (task.own_minimum && counts.of(task.name, "Succeeded") < *task.own_minimum) {
                return Phase::failed;
            }
        }
    }
    return counts.succeeded >= spec.success_min.value_or(spec.minimum) ? Phase::completed
                                                                       : Phase::failed;
}

JobState restart(const JobSpec& spec, JobState state, bool is_whole) {
    ++state.retries;
    state.keeps_succeeded = false;
    if (state.retries >= spec.retries_max) {
        // What failed last stays to be looked at.
        state.phase = Phase::failed;
        return state;
    }
    state.phase = Phase::restarting;
    if (is_whole) { ++state.version; }
    return state;
}

Phase live_phase(const JobSpec& spec, const JobState& state, const PodCounts& counts,
                 std::int64_t outdated) {
    switch (state.phase) {
        case Phase::none: return Phase::pending;
        case Phase::pending:
            return spec.replicas > 0 &&
                           counts.running + counts.succeeded + counts.failed >= spec.minimum
                       ? Phase::running
                       : Phase::pending;
        case Phase::running:
            if (spec.replicas == 0) { return Phase::running; }
            if (spec.success_min && counts.succeeded >= *spec.success_min) {
                return Phase::completed;
            }
            return counts.succeeded + counts.failed == spec.replicas ? result_of(spec, counts)
                                                                     : Phase::running;
        case Phase::restarting:
            if (counts.terminating > 0 || outdated > 0) { return Phase::restarting; }
            return counts.running >= spec.minimum ? Phase::running : Phase::pending;
        case Phase::aborting:
        case Phase::aborted:
        case Phase::completing:
        case Phase::completed:
        case Phase::terminating:
        case Phase::terminated:
        case Phase::failed: break;
    }
    return state.phase;
}

}  // namespace

Action read_action(std::string_view name) {
    for (const auto& [action, text] : action_names) {
        if (text == name) { return action; }
    }
    return Action::sync;
}

std::string_view name_of(Action action) {
    for (const auto& [one, text] : action_names) {
        if (one == action) { return text; }
    }
    return {};
}

Phase read_phase(std::string_view name) {
    for (const auto& [phase, text] : phase_names) {
        if (text == name) { return phase; }
    }
    return Phase::none;
}

std::string_view name_of(Phase phase) {
    for (const auto& [one, text] : phase_names) {
        if (one == phase) { return text; }
    }
    return {};
}

std::string Trigger::text() const {
    std::string out = event;
    if (!pod.empty()) {
        out += " of pod " + pod;
    } else if (!task.empty()) {
        out += " of task " + task;
    }
    if (exit_code != 0) { out += fmt::format(", exit code {}", exit_code); }
    return out;
}

bool is_live(Phase phase) {
    return phase == Phase::none || phase == Phase::pending || phase == Phase::running ||
           phase == Phase::restarting;
}

bool is_finished(Phase phase) {
    return phase == Phase::completed || phase == Phase::failed || phase == Phase::terminated;
}

Verdict judge(const JobSpec& spec, const Trigger& trigger) {
    const TaskSpec* task = spec.find(trigger.task);
    const json::object* policy = task == nullptr ? nullptr : match_in(*task->raw, trigger);
    if (policy == nullptr) { policy = match_in(*spec.raw, trigger); }
    if (policy == nullptr) { return {}; }
    return {.action = read_action(text_at(*policy, "action")),
            .timeout_ms = duration_of(text_at(*policy, "timeout"))};
}

JobState next_state(const JobSpec& spec, const JobState& state, const PodCounts& counts,
                    std::int64_t outdated, Action action) {
    JobState next = state;
    const bool is_still = counts.unfinished() + counts.terminating == 0;
    if (is_live(state.phase)) {
        switch (action) {
            case Action::sync:
            case Action::resume_job:
                next.phase = live_phase(spec, state, counts, outdated);
                return next;
            case Action::restart_job: return restart(spec, state, true);
            case Action::restart_task:
            case Action::restart_partition:
            case Action::restart_pod: return restart(spec, state, false);
            case Action::abort_job: next.phase = Phase::aborting; return next;
            case Action::terminate_job: next.phase = Phase::terminating; return next;
            case Action::complete_job: next.phase = Phase::completing; return next;
        }
    }
    if (state.phase == Phase::aborting || state.phase == Phase::aborted) {
        if (action == Action::resume_job) {
            return {.phase = Phase::restarting,
                    .version = state.version + 1,
                    .retries = state.retries,
                    .keeps_succeeded = true};
        }
        next.phase = is_still ? Phase::aborted : state.phase;
    } else if (state.phase == Phase::completing && is_still) {
        next.phase = Phase::completed;
    } else if (state.phase == Phase::terminating && is_still) {
        next.phase = Phase::terminated;
    }
    return next;
}

}  // namespace muster::lab::volcano
