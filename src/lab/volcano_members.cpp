#include "lab/volcano_members.h"

#include "base/text.h"
#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace muster::lab::volcano {

namespace json = boost::json;

namespace {

std::int64_t number_of(const json::object& pod, std::string_view annotation) {
    return parse_int(kube::annotation_of(pod, annotation)).value_or(0);
}

std::int64_t failed_since(const json::object& pod) {
    const json::array* containers = array_at(pod, "status.containerStatuses");
    if (containers == nullptr) { return 0; }
    std::int64_t latest = 0;
    for (const json::value& one : *containers) {
        if (const json::object* status = one.if_object()) {
            latest = std::max(latest, time_of(text_at(*status, "state.terminated.finishedAt")));
        }
    }
    return latest;
}

std::int64_t restarts_of(const json::object& pod) {
    std::int64_t sum = 0;
    for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
        const json::array* containers = array_at(pod, fmt::format("status.{}", list));
        if (containers == nullptr) { continue; }
        for (const json::value& one : *containers) {
            if (const json::object* status = one.if_object()) {
                sum += int_at(*status, "restartCount");
            }
        }
    }
    return sum;
}

bool has_policies(const JobSpec& spec) {
    if (array_at(*spec.raw, "policies") != nullptr) { return true; }
    return std::any_of(spec.tasks.begin(), spec.tasks.end(), [](const TaskSpec& task) {
        return array_at(*task.raw, "policies") != nullptr;
    });
}

void find_in_tasks(const JobSpec& spec, const Members& members, std::vector<Trigger>& out) {
    for (const TaskSpec& task : spec.tasks) {
        if (task.replicas > 0 && members.counts.of(task.name, "Succeeded") >= task.replicas) {
            out.push_back({.event = "TaskCompleted", .task = task.name});
        }
        std::int64_t restarts = 0;
        for (const Member& member : members.all) {
            if (member.task == task.name && member.is_wanted && !member.is_going &&
                !member.is_over()) {
                restarts += restarts_of(*member.pod);
            }
        }
        if (task.retries_max >= 0 && restarts > task.retries_max) {
            out.push_back({.event = "TaskFailed", .task = task.name});
        }
    }
}

}  // namespace

std::int64_t exit_code_of(const json::object& pod) {
    const json::array* containers = array_at(pod, "status.containerStatuses");
    if (containers == nullptr) { return 0; }
    for (const json::value& one : *containers) {
        const json::object* status = one.if_object();
        if (status == nullptr) { continue; }
        const std::int64_t code = int_at(*status, "state.terminated.exitCode");
        if (code != 0) { return code; }
    }
    return 0;
}

Members read_members(const Observed& observed, const JobSpec& spec) {
    Members out;
    const std::string_view uid = uid_of(*observed.job);
    for (const json::object* pod : observed.pods) {
        Member member{.pod = pod, .name = std::string(text_at(*pod, "metadata.name"))};
        out.names.insert(member.name);
        member.is_going = is_leaving(*pod) || observed.doomed->contains(std::string(uid_of(*pod)));
        if (owner_of(*pod).uid != uid) {
            if (!member.is_going) {
                out.strays.push_back(
                    {.name = {std::string(text_at(*pod, "metadata.namespace")), member.name},
                     .uid = std::string(uid_of(*pod))});
            }
            continue;
        }
        member.task = std::string(kube::annotation_of(*pod, "volcano.sh/task-spec"));
        member.phase = text_or(*pod, "status.phase", "Pending");
        member.index = number_of(*pod, "volcano.sh/task-index");
        member.version = number_of(*pod, "volcano.sh/job-version");
        const TaskSpec* task = spec.find(member.task);
        member.is_wanted = task != nullptr && member.index < task->replicas;
        if (member.is_going) {
            ++out.counts.terminating;
        } else if (member.is_wanted) {
            out.counts.add(member.task, member.phase);
        }
        out.all.push_back(std::move(member));
    }
    std::sort(out.all.begin(), out.all.end(), [](const Member& a, const Member& b) {
        return std::tie(a.task, a.index, a.name) < std::tie(b.task, b.index, b.name);
    });
    return out;
}

std::vector<Trigger> find_triggers(const Observed& observed, const JobSpec& spec,
                                   const Members& members, const JobState& state) {
    std::vector<Trigger> out;
    if (!has_policies(spec)) { return out; }
    std::vector<Trigger> pending;
    for (const Member& member : members.all) {
        if (member.is_going || !member.is_wanted || member.version < state.version) { continue; }
        if (member.phase == "Failed") {
            out.push_back({.event = "PodFailed",
                           .exit_code = exit_code_of(*member.pod),
                           .task = member.task,
                           .pod = member.name,
                           .index = member.index,
                           .since_ms = failed_since(*member.pod)});
        } else if (member.phase == "Pending") {
            pending.push_back(
                {.event = "PodPending",
                 .task = member.task,
                 .pod = member.name,
                 .index = member.index,
                 .since_ms = time_of(text_at(*member.pod, "metadata.creationTimestamp"))});
        }
    }
    for (const Trigger& event : observed.events) {
        if (event.version >= state.version) { out.push_back(event); }
    }
    find_in_tasks(spec, members, out);
    if (observed.group != nullptr && text_at(*observed.group, "status.phase") == "Unknown") {
        out.push_back({.event = "Unknown"});
    }
    out.insert(out.end(), pending.begin(), pending.end());
    return out;
}

}  // namespace muster::lab::volcano
