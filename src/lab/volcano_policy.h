// What a Volcano Job does about what happens to its pods: policies give an action, and action and
// counts give the next phase. All pure.
#pragma once

#include "lab/volcano_spec.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::lab::volcano {

enum class Action : std::uint8_t {
    sync,  // nothing but keeping pods and counts as they ought to be
    restart_job,
    restart_task,
    restart_partition,
    restart_pod,
    abort_job,
    terminate_job,
    complete_job,
    resume_job
};
/// What is not known is `sync`.
Action read_action(std::string_view name);
std::string_view name_of(Action action);

/// Something that happened.
struct Trigger {
    std::string event;  // "PodFailed"; empty: nothing
    std::int64_t exit_code = 0;
    std::string task;
    std::string pod;
    std::int64_t index = 0;     // of the pod in its task
    std::int64_t since_ms = 0;  // when; 0 is long ago
    std::int64_t version = 0;   // of the job, when the pod was made

    [[nodiscard]] std::string text() const;
};

/// The action of the first policy that matches, the task's before the job's.
struct Verdict {
    Action action = Action::sync;
    std::int64_t timeout_ms = 0;  // to wait first
};
Verdict judge(const JobSpec& spec, const Trigger& trigger);

enum class Phase : std::uint8_t {
    none,  // just created
    pending,
    running,
    restarting,
    aborting,
    aborted,
    completing,
    completed,
    terminating,
    terminated,
    failed
};
Phase read_phase(std::string_view name);
std::string_view name_of(Phase phase);
/// Its pods are wanted.
bool is_live(Phase phase);
/// Completed, Failed or Terminated: what ttlSecondsAfterFinished counts from.
bool is_finished(Phase phase);

struct JobState {
    Phase phase = Phase::none;
    std::int64_t version = 0;  // of the pods; a restart begins a new one
    std::int64_t retries = 0;
    bool keeps_succeeded = false;  // resumed: what was done is not done again

    bool operator==(const JobState&) const = default;
};

/// `outdated`: how many pods of former versions are still there that a restart takes away.
JobState next_state(const JobSpec& spec, const JobState& state, const PodCounts& counts,
                    std::int64_t outdated, Action action);

}  // namespace muster::lab::volcano
