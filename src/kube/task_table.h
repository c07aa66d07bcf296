// Which pod is which task. A reading of the cluster numbers the pods of a group as it finds them;
// here a pod keeps its number for as long as it lives, and one that nothing is known of yet gets a
// number that agrees with what was told or recorded. Pure.
#pragma once

#include "kube/client.h"
#include "model/snapshot.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace muster::kube {

struct TaskPod {
    ObjectName name;
    std::string uid;
    std::string node;   // empty while it waits
    std::string group;  // of any dialect, in its namespace; empty when it is alone
    bool is_finished = false;
    bool has_failed = false;      // and is finished
    bool has_controller = false;  // that makes another one when it goes
    bool has_machine = false;     // its node is there
    bool is_ours = false;         // one of our schedulers is named in it
    bool is_ordered = false;      // the cluster was told something of it

    [[nodiscard]] bool is_waiting() const { return node.empty() && !is_finished; }
};

using TaskPods = std::map<std::uint32_t, TaskPod>;

/// One role, as tasks are numbered.
struct Leaf {
    const GroupSpec* group = nullptr;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};
std::vector<Leaf> leaves_of(const WorkloadSpec& workload);

/// What was known of a workload's tasks, numbered as `now` numbers them; a role that is another one
/// now has none that are known.
std::vector<TaskStatus> carried_over(const WorkloadSpec& before,
                                     const std::vector<TaskStatus>& tasks, const WorkloadSpec& now);

/// `pods` as they were read get numbers within their roles. `before`: the pods that were told last,
/// numbered by `told`. `known` is as long as `now` has tasks.
TaskPods settle(TaskPods pods, const WorkloadSpec& now, const TaskPods& before,
                const WorkloadSpec& told, const std::vector<TaskStatus>& known);

[[nodiscard]] std::uint32_t task_count(const WorkloadSpec& workload);

/// "7 of 8 pods are there", or the same of each role that has too few for its minimum.
[[nodiscard]] std::string missing_pods(const WorkloadSpec& workload, const TaskPods& pods);

/// True when enough of its pods are there for all of its minimums, or enough of those that count.
bool is_whole(const WorkloadSpec& workload, const TaskPods& pods);
bool is_whole(const WorkloadSpec& workload, const TaskPods& pods,
              const std::function<bool(const TaskPod&)>& counts_it);

}  // namespace muster::kube
