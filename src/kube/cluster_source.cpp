#include "kube/cluster_source.h"

#include "kube/objects.h"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::kube {

Result<> ClusterSource::begin(const Snapshot& known) {
    known_ = known;
    known_index_.clear();
    for (std::size_t i = 0; i < known_.workloads.size(); ++i) {
        known_index_.emplace(known_.workloads[i].spec.name, i);
    }
    pods_.clear();
    machines_.clear();
    MUSTER_CHECK(objects_.start());
    objects_.touch();
    return {};
}

Result<std::vector<Fact>> ClusterSource::observe(std::int64_t patience_ms) {
    if (!objects_.wait_for_change(patience_ms)) { return std::vector<Fact>{}; }
    return tell();
}

const TaskPods* ClusterSource::pods_of(const std::string& workload) const {
    const auto found = pods_.find(workload);
    return found == pods_.end() ? nullptr : &found->second;
}

const WorkloadSpec* ClusterSource::find_workload(const std::string& name) const {
    const auto found = known_index_.find(name);
    return found == known_index_.end() ? nullptr : &known_.workloads[found->second].spec;
}

void ClusterSource::note_ordered(const std::string& workload, std::uint32_t task) {
    const auto pods = pods_.find(workload);
    if (pods == pods_.end()) { return; }
    if (const auto pod = pods->second.find(task); pod != pods->second.end()) {
        pod->second.is_ordered = true;
    }
}

void ClusterSource::note_missing(const std::string& workload, std::uint32_t task) {
    missing_.push_back({workload, task, false});
    objects_.touch();
}

WorkloadStatus* ClusterSource::find_known(const std::string& name, const std::string& uid) {
    const auto found = known_index_.find(name);
    if (found == known_index_.end()) { return nullptr; }
    WorkloadStatus& known = known_.workloads[found->second];
    return is_another(known.spec.uid, uid) ? nullptr : &known;
}

std::vector<Fact> ClusterSource::tell() {
    ClusterState state = read_state(objects_.texts(), options_);
    state.listing.leases = known_.leases;  // no matter of this cluster's
    hold_back(state);
    std::vector<Fact> out;
    for (TaskGone& gone : std::exchange(missing_, {})) { out.emplace_back(std::move(gone)); }
    settle_tasks(state, out);
    drop_replaced_nodes(state, out);
    std::vector<Fact> differences = facts_against(known_, state.listing);
    std::move(differences.begin(), differences.end(), std::back_inserter(out));
    keep(state);
    return out;
}

/// A gang is told when enough of its pods are there: room is not kept for pods that nobody made.
/// What runs, and what was told and still has pods, is told at any size.
void ClusterSource::hold_back(ClusterState& state) const {
    std::erase_if(state.listing.workloads, [&](const WorkloadSpec& workload) {
        const auto found = state.pods.find(workload.name);
        if (found == state.pods.end()) { return true; }
        const TaskPods& pods = found->second;
        const bool runs = std::any_of(pods.begin(), pods.end(), [](const auto& pod) {
            return !pod.second.node.empty() && !pod.second.is_finished;
        });
        const WorkloadSpec* known = find_workload(workload.name);
        const bool is_known = known != nullptr && !is_another(known->uid, workload.uid);
        return !runs && !is_known && !is_whole(workload, pods);
    });
}

/// Another machine of the same name: the first one is gone, and all that ran there.
void ClusterSource::drop_replaced_nodes(const ClusterState& state, std::vector<Fact>& out) {
    std::erase_if(known_.nodes, [&](const NodeSpec& node) {
        const auto before = machines_.find(node.name);
        const auto now = state.machines.find(node.name);
        if (before == machines_.end() || now == state.machines.end() ||
            before->second == now->second) {
            return false;
        }
        for (WorkloadStatus& workload : known_.workloads) {
            for (TaskStatus& task : workload.tasks) {
                if (task.node == node.name && task.state != TaskState::finished) { task = {}; }
            }
        }
        out.emplace_back(NodeGone{node.name});
        return true;
    });
}

/// Numbers the pods, tells the runs that have ended, and lists those that there are.
void ClusterSource::settle_tasks(ClusterState& state, std::vector<Fact>& out) {
    for (const WorkloadSpec& workload : state.listing.workloads) {
        TaskPods& pods = state.pods[workload.name];
        WorkloadStatus* known = find_known(workload.name, workload.uid);
        const WorkloadSpec told = known != nullptr ? known->spec : WorkloadSpec{};
        const TaskPods before = known != nullptr && pods_.contains(workload.name)
                                    ? pods_.at(workload.name)
                                    : TaskPods{};
        pods =
            settle(std::move(pods), workload, before, told,
                   carried_over(told, known != nullptr ? known->tasks : std::vector<TaskStatus>{},
                                workload));
        if (known != nullptr) {
            end_runs(*known, pods, out);
            known->tasks = carried_over(told, known->tasks, workload);
            // A job that is run again makes new pods for tasks that had finished.
            const bool is_again = std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
                return pod.second.is_waiting() &&
                       known->tasks[pod.first].state == TaskState::finished;
            });
            if (is_again) {
                out.emplace_back(WorkloadGone{workload.name});
                known->spec = {};
                known->spec.name = workload.name;
                known->tasks.assign(known->tasks.size(), {});
            }
        }
        for (const auto& [task, pod] : pods) {
            const bool is_there = state.machines.contains(pod.node);
            if (!pod.is_finished && !is_there) { continue; }
            state.listing.runs.push_back({.workload = workload.name,
                                          .task = task,
                                          .node = pod.node,
                                          .has_devices = false,
                                          .devices = {},
                                          .is_finished = pod.is_finished});
        }
    }
}

/// A run ends with its pod, which is told once. Numbers are still those that were told.
void ClusterSource::end_runs(WorkloadStatus& known, const TaskPods& now, std::vector<Fact>& out) {
    const auto before = pods_.find(known.spec.name);
    if (before == pods_.end()) { return; }
    std::map<std::string, std::uint32_t> alive;
    for (const auto& [task, pod] : now) { alive.emplace(pod.uid, task); }
    for (const auto& [task, pod] : before->second) {
        if (task >= known.tasks.size() || known.tasks[task].state == TaskState::finished) {
            continue;
        }
        const bool had_run = pod.is_ordered || known.tasks[task].is_confirmed;
        const auto found = alive.find(pod.uid);
        if (!had_run || found != alive.end()) { continue; }
        const bool has_finished = has_failed(pod);
        out.emplace_back(TaskGone{known.spec.name, task, has_finished});
        known.tasks[task] = {};
        if (has_finished) { known.tasks[task].state = TaskState::finished; }
    }
}

/// No room is kept for another try: when there is one, a new pod says so.
bool ClusterSource::has_failed(const TaskPod& pod) const {
    const auto* object = objects_.find({ObjectKind::pod, pod.name});
    return object != nullptr && uid_of(*object) == pod.uid &&
           text_at(*object, "status.phase") == "Failed";
}

void ClusterSource::keep(const ClusterState& state) {
    std::map<std::string, std::size_t> index;
    std::vector<WorkloadStatus> workloads;
    for (const WorkloadSpec& spec : state.listing.workloads) {
        WorkloadStatus status;
        status.spec = spec;
        const WorkloadStatus* known = find_known(spec.name, spec.uid);
        const std::vector<Leaf> leaves = leaves_of(spec);
        status.tasks.resize(leaves.back().first + leaves.back().count);
        for (std::size_t i = 0; known != nullptr && i < status.tasks.size(); ++i) {
            if (i < known->tasks.size() && known->tasks[i].state == TaskState::finished) {
                status.tasks[i].state = TaskState::finished;
            }
        }
        index.emplace(spec.name, workloads.size());
        workloads.push_back(std::move(status));
    }
    for (const Listing::Run& run : state.listing.runs) {
        TaskStatus& task = workloads[index.at(run.workload)].tasks[run.task];
        if (task.state == TaskState::finished) { continue; }
        task.state = run.is_finished ? TaskState::finished : TaskState::placed;
        task.is_confirmed = !run.is_finished;
        task.node = run.is_finished ? "" : run.node;
    }
    known_.levels = state.listing.levels;
    known_.nodes = state.listing.nodes;
    if (std::none_of(state.listing.queues.begin(), state.listing.queues.end(),
                     [](const QueueSpec& queue) { return queue.name == "default"; })) {
        std::erase_if(known_.queues, [](const QueueSpec& q) { return q.name != "default"; });
    } else {
        known_.queues.clear();
    }
    known_.queues.insert(known_.queues.end(), state.listing.queues.begin(),
                         state.listing.queues.end());
    known_.workloads = std::move(workloads);
    known_index_ = std::move(index);
    pods_ = state.pods;
    machines_ = state.machines;
    malformed_ = state.malformed;
    refused_ = state.refused;
}

}  // namespace muster::kube
