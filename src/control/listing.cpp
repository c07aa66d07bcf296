#include "control/listing.h"

#include <map>
#include <string_view>
#include <utility>

namespace muster {

namespace {

template <class T>
std::map<std::string_view, const T*> by_name(const std::vector<T>& all) {
    std::map<std::string_view, const T*> out;
    for (const T& one : all) { out.emplace(one.name, &one); }
    return out;
}

/// `Set` for each that is new or another one; `gone` for each that is no more.
template <class Set, class T, class Gone>
void compare(const std::vector<T>& known, const std::vector<T>& now, std::vector<Fact>& out,
             Gone gone) {
    const auto before = by_name(known);
    const auto after = by_name(now);
    for (auto one = known.rbegin(); one != known.rend(); ++one) {  // children before parents
        if (!after.contains(one->name)) { gone(*one); }
    }
    for (const T& one : now) {
        const auto found = before.find(one.name);
        if (found == before.end() || !(*found->second == one)) { out.emplace_back(Set{one}); }
    }
}

class Tasks {
public:
    Tasks(const Snapshot& known, const Listing& now, std::vector<Fact>& out) : out_(out) {
        for (const Listing::Run& run : now.runs) { runs_[{run.workload, run.task}] = &run; }
        for (const NodeSpec& node : now.nodes) { nodes_.emplace(node.name, true); }
        for (const WorkloadStatus& one : known.workloads) { known_[one.spec.name] = &one; }
        for (const WorkloadSpec& one : now.workloads) {
            const auto before = known_.find(one.name);
            if (before == known_.end()) { continue; }
            if (is_another(before->second->spec.uid, one.uid)) {
                known_.erase(before);  // that one is gone
            } else {
                compare(one.name, before->second->tasks);
            }
        }
        for (const Listing::Run& run : now.runs) { tell(run); }
    }

private:
    /// Those that ran and are not there any more.
    void compare(const std::string& name, const std::vector<TaskStatus>& tasks) {
        for (std::uint32_t i = 0; i < tasks.size(); ++i) {
            if (tasks[i].state == TaskState::placed && tasks[i].is_confirmed &&
                !runs_.contains({name, i}) && nodes_.contains(tasks[i].node)) {
                out_.emplace_back(TaskGone{name, i, false});
            }
        }
    }

    void tell(const Listing::Run& run) {
        const auto found = known_.find(run.workload);
        const TaskStatus* task = found != known_.end() && run.task < found->second->tasks.size()
                                     ? &found->second->tasks[run.task]
                                     : nullptr;
        if (task != nullptr && task->state == TaskState::finished) { return; }
        if (run.is_finished) {
            out_.emplace_back(TaskGone{run.workload, run.task, true});
            return;
        }
        const bool is_there = task != nullptr && task->state != TaskState::waiting &&
                              task->is_confirmed && task->node == run.node &&
                              (!run.has_devices || task->devices == run.devices);
        if (!is_there) {
            out_.emplace_back(
                TaskBound{run.workload, run.task, run.node, run.has_devices, run.devices});
        }
    }

    std::vector<Fact>& out_;
    std::map<std::pair<std::string_view, std::uint32_t>, const Listing::Run*> runs_;
    std::map<std::string_view, bool> nodes_;
    std::map<std::string_view, const WorkloadStatus*> known_;
};

}  // namespace

std::vector<Fact> facts_against(const Snapshot& known, const Listing& now) {
    std::vector<Fact> out;
    if (known.levels != now.levels) { out.emplace_back(TopologySet{now.levels}); }
    compare<NodeSet>(known.nodes, now.nodes, out,
                     [&](const NodeSpec& node) { out.emplace_back(NodeGone{node.name}); });
    std::vector<WorkloadSpec> workloads;
    for (const WorkloadStatus& one : known.workloads) { workloads.push_back(one.spec); }
    compare<WorkloadSet>(workloads, now.workloads, out, [&](const WorkloadSpec& workload) {
        out.emplace_back(WorkloadGone{workload.name});
    });
    compare<QueueSet>(known.queues, now.queues, out, [&](const QueueSpec& queue) {
        if (queue.name != "default") { out.emplace_back(QueueGone{queue.name}); }
    });
    compare<LeaseSet>(known.leases, now.leases, out, [&](LeaseSpec lease) {
        lease.state = LeaseState::returned;
        ++lease.epoch;
        out.emplace_back(LeaseSet{std::move(lease)});
    });
    Tasks(known, now, out);
    return out;
}

}  // namespace muster
