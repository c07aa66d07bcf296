#include "kube/task_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace muster::kube {

namespace {

/// Whether the pod can be the task of which that is known.
bool agrees(const TaskPod& pod, const TaskStatus& task) {
    if (pod.is_finished) { return task.state == TaskState::finished; }
    if (pod.is_waiting()) {
        return task.state == TaskState::waiting ||
               (task.state == TaskState::placed && !task.is_confirmed);
    }
    return (task.state == TaskState::placed || task.state == TaskState::leaving) &&
           task.node == pod.node;
}

/// The same role in both, each in one pair only.
std::vector<std::pair<Leaf, Leaf>> pairs(const std::vector<Leaf>& before,
                                         const std::vector<Leaf>& now) {
    std::vector<std::pair<Leaf, Leaf>> out;
    std::set<std::uint32_t> taken;
    for (const Leaf& old : before) {
        const auto same = std::find_if(now.begin(), now.end(), [&](const Leaf& leaf) {
            return !taken.contains(leaf.first) && leaf.group->name == old.group->name &&
                   leaf.group->task == old.group->task;
        });
        if (same == now.end()) { continue; }
        taken.insert(same->first);
        out.emplace_back(old, *same);
    }
    return out;
}

/// The pods of one role and the numbers that are still free in it.
class Seats {
public:
    Seats(const Leaf& leaf, const std::vector<TaskStatus>& known) : leaf_(leaf), known_(known) {}

    bool take(std::uint32_t task, TaskPod& pod, TaskPods& out) {
        if (task < leaf_.first || task >= leaf_.first + leaf_.count) { return false; }
        return out.try_emplace(task, std::move(pod)).second;
    }
    [[nodiscard]] std::optional<std::uint32_t> find(const TaskPods& out, const TaskPod* pod) const {
        for (std::uint32_t i = leaf_.first; i < leaf_.first + leaf_.count; ++i) {
            const bool is_fit = pod == nullptr || (i < known_.size() && agrees(*pod, known_[i]));
            if (is_fit && !out.contains(i)) { return i; }
        }
        return {};
    }
    [[nodiscard]] bool fits(std::uint32_t task, const TaskPod& pod) const {
        return task < known_.size() && agrees(pod, known_[task]);
    }

private:
    Leaf leaf_;
    const std::vector<TaskStatus>& known_;
};

bool is_there(const WorkloadSpec& workload, std::size_t group,
              const std::map<std::size_t, std::int32_t>& pods) {
    std::int32_t children = 0;
    std::int32_t there = 0;
    for (std::size_t i = group + 1; i < workload.groups.size(); ++i) {
        if (workload.groups[i].parent != static_cast<std::int32_t>(group)) { continue; }
        ++children;
        there += is_there(workload, i, pods) ? 1 : 0;
    }
    if (children == 0) {
        const auto found = pods.find(group);
        there = found == pods.end() ? 0 : found->second;
    }
    return there >= workload.groups[group].minimum;
}

}  // namespace

std::vector<Leaf> leaves_of(const WorkloadSpec& workload) {
    std::vector<bool> is_inner(workload.groups.size(), false);
    for (const GroupSpec& group : workload.groups) {
        if (group.parent >= 0) { is_inner[static_cast<std::size_t>(group.parent)] = true; }
    }
    std::vector<Leaf> out;
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        if (is_inner[i]) { continue; }
        const auto count = static_cast<std::uint32_t>(workload.groups[i].count);
        out.push_back({&workload.groups[i], first, count});
        first += count;
    }
    return out;
}

std::vector<TaskStatus> carried_over(const WorkloadSpec& before,
                                     const std::vector<TaskStatus>& tasks,
                                     const WorkloadSpec& now) {
    const std::vector<Leaf> leaves = leaves_of(now);
    std::vector<TaskStatus> out(task_count(now));
    for (const auto& [old, leaf] : pairs(leaves_of(before), leaves)) {
        for (std::uint32_t i = 0; i < std::min(old.count, leaf.count); ++i) {
            if (old.first + i < tasks.size()) { out[leaf.first + i] = tasks[old.first + i]; }
        }
    }
    return out;
}

TaskPods settle(TaskPods pods, const WorkloadSpec& now, const TaskPods& before,
                const WorkloadSpec& told, const std::vector<TaskStatus>& known) {
    std::map<std::string, std::pair<std::uint32_t, bool>> kept;  // by uid: its number, is_ordered
    const std::vector<Leaf> leaves = leaves_of(now);
    for (const auto& [old, leaf] : pairs(leaves_of(told), leaves)) {
        for (auto at = before.lower_bound(old.first);
             at != before.end() && at->first < old.first + old.count; ++at) {
            kept[at->second.uid] = {leaf.first + (at->first - old.first), at->second.is_ordered};
        }
    }
    TaskPods out;
    for (const Leaf& leaf : leaves) {
        Seats seats(leaf, known);
        using Open = std::pair<std::uint32_t, TaskPod>;
        std::vector<Open> open;
        for (auto at = pods.lower_bound(leaf.first);
             at != pods.end() && at->first < leaf.first + leaf.count; ++at) {
            const auto memory = kept.find(at->second.uid);
            if (memory != kept.end()) { at->second.is_ordered = memory->second.second; }
            if (memory == kept.end() || !seats.take(memory->second.first, at->second, out)) {
                open.emplace_back(at->first, at->second);
            }
        }
        // What has a node agrees with few, what waits with all that are not bound: those that wait
        // come second. Of each those whose own number agrees, then those that agree with another
        // one; at last the rest.
        for (const bool is_waiting : {false, true}) {
            std::erase_if(open, [&](Open& one) {
                return one.second.is_waiting() == is_waiting && seats.fits(one.first, one.second) &&
                       seats.take(one.first, one.second, out);
            });
            std::erase_if(open, [&](Open& one) {
                if (one.second.is_waiting() != is_waiting) { return false; }
                const auto seat = seats.find(out, &one.second);
                return seat.has_value() && seats.take(*seat, one.second, out);
            });
        }
        for (Open& one : open) {
            if (seats.take(one.first, one.second, out)) { continue; }
            if (const auto seat = seats.find(out, nullptr)) { seats.take(*seat, one.second, out); }
        }
    }
    return out;
}

std::uint32_t task_count(const WorkloadSpec& workload) {
    const std::vector<Leaf> leaves = leaves_of(workload);
    return leaves.empty() ? 0 : leaves.back().first + leaves.back().count;
}

std::string missing_pods(const WorkloadSpec& workload, const TaskPods& pods) {
    std::vector<std::string> out;
    const std::vector<Leaf> leaves = leaves_of(workload);
    for (const Leaf& leaf : leaves) {
        const auto there =
            std::distance(pods.lower_bound(leaf.first), pods.lower_bound(leaf.first + leaf.count));
        if (there >= leaf.group->minimum) { continue; }
        out.push_back(fmt::format("{}{} of {}", leaves.size() > 1 ? leaf.group->name + " " : "",
                                  there, leaf.group->minimum));
    }
    return fmt::format("{} pods are there", fmt::join(out, ", "));
}

bool is_whole(const WorkloadSpec& workload, const TaskPods& pods) {
    return is_whole(workload, pods, [](const TaskPod&) { return true; });
}

bool is_whole(const WorkloadSpec& workload, const TaskPods& pods,
              const std::function<bool(const TaskPod&)>& counts_it) {
    if (workload.groups.empty() || pods.empty()) { return false; }
    std::map<std::size_t, std::int32_t> counts;
    for (const Leaf& leaf : leaves_of(workload)) {
        const auto begin = pods.lower_bound(leaf.first);
        const auto end = pods.lower_bound(leaf.first + leaf.count);
        counts[static_cast<std::size_t>(leaf.group - workload.groups.data())] =
            static_cast<std::int32_t>(
                std::count_if(begin, end, [&](const auto& pod) { return counts_it(pod.second); }));
    }
    return is_there(workload, 0, counts);
}

}  // namespace muster::kube
