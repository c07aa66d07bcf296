#include "kube/cluster_source.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::kube {

namespace {

WorkloadStatus* find_known(Snapshot& known, const std::map<std::string, std::size_t>& index,
                           const WorkloadSpec& workload) {
    const auto found = index.find(workload.name);
    if (found == index.end()) { return nullptr; }
    WorkloadStatus& status = known.workloads[found->second];
    return is_another(status.spec.uid, workload.uid) ? nullptr : &status;
}

}  // namespace

Result<> ClusterSource::begin(const Snapshot& known) {
    known_ = known;
    told_.clear();
    begun_.clear();
    kept_.clear();
    held_.clear();
    fences_.clear();
    withheld_.clear();
    ready_.clear();
    new_pods_.clear();
    for_volumes_.clear();
    windows_.restart();
    std::uint32_t index = 0;
    for (WorkloadStatus& workload : known_.workloads) {
        std::string name = workload.spec.name;
        if (std::any_of(workload.tasks.begin(), workload.tasks.end(),
                        [](const TaskStatus& task) { return !task.node.empty(); })) {
            begun_.insert(name);
        }
        told_.emplace(std::move(name), Told{{{}, index++}, std::move(workload)});
    }
    known_.workloads.clear();
    pods_.clear();
    machines_.clear();
    parts_.forget();
    is_all_ = true;
    MUSTER_CHECK(objects_.start());
    objects_.touch();
    return {};
}

Result<std::vector<Fact>> ClusterSource::observe(std::int64_t patience_ms) {
    std::vector<Fact> out;
    const bool is_awaited = !withheld_.empty() || !kept_.empty();
    if (objects_.wait_for_change(patience_ms) || is_awaited) { out = tell(); }
    for (Fact& fact : tell_overdue()) { out.push_back(std::move(fact)); }
    return out;
}

/// While the cluster is not heard, nobody knows what has come.
std::vector<Fact> ClusterSource::tell_overdue() {
    const auto is_under_way = [&](const TaskPods& pods) {
        return std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
            return is_under_way_ && is_under_way_(pod.second.uid);
        });
    };
    const bool is_deaf = windows_.open() > 0 && !objects_.problem().empty();
    return windows_.due([&](const TaskPods& pods) { return is_deaf || is_under_way(pods); },
                        [&](const std::string& name) { return pods_of(name); });
}

void ClusterSource::note_cause(const std::string& workload, std::string cause) {
    causes_[workload] = std::move(cause);
}

std::set<std::string> ClusterSource::workloads_on(const std::set<std::string>& nodes) const {
    std::set<std::string> out;
    for (const auto& [name, pods] : pods_) {
        if (std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
                return !pod.second.is_finished && nodes.contains(pod.second.node);
            })) {
            out.insert(name);
        }
    }
    return out;
}

void ClusterSource::look_again() {
    is_all_ = true;
    parts_.touch_all();
    objects_.touch();
}

const TaskPods* ClusterSource::pods_of(const std::string& workload) const {
    const auto found = pods_.find(workload);
    return found == pods_.end() ? nullptr : &found->second;
}

const WorkloadSpec* ClusterSource::find_workload(const std::string& name) const {
    const auto found = told_.find(name);
    return found == told_.end() ? nullptr : &found->second.status.spec;
}

dialect::VolumeSteps ClusterSource::volumes_before(const ObjectName& pod,
                                                   const std::string& node) const {
    const std::vector<std::string> claims = parts_.claims_of({ObjectKind::pod, pod});
    if (claims.empty() || !parts_.around().has_storage) { return {}; }
    const NodeSpec* spec = find_node(parts_.frame().listing.nodes, node);
    return dialect::steps_before_bind(parts_.around(), claims, node,
                                      spec != nullptr ? spec->labels : std::vector<Label>{});
}

/// False of a pod that is gone or has its node: nobody waits for it.
bool ClusterSource::lacks_volume(const std::string& workload, std::uint32_t task,
                                 const std::string& node) const {
    const TaskPods* pods = pods_of(workload);
    if (pods == nullptr) { return false; }
    const auto pod = pods->find(task);
    return pod != pods->end() && pod->second.is_waiting() &&
           !volumes_before(pod->second.name, node).is_ready;
}

std::vector<TaskRefName> ClusterSource::take_ready() {
    std::erase_if(for_volumes_, [&](const auto& gang) {
        const auto& [workload, nodes] = gang;
        for (const auto& [task, node] : nodes) {
            if (lacks_volume(workload, task, node)) { return false; }
        }
        for (const auto& [task, node] : nodes) { ready_.emplace_back(workload, task); }
        return true;
    });
    return std::exchange(ready_, {});
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
    if (const auto pods = pods_.find(workload); pods != pods_.end()) {
        if (const auto pod = pods->second.find(task); pod != pods->second.end()) {
            pod->second.is_ordered = false;
            parts_.touch({ObjectKind::pod, pod->second.name});
        }
    }
    objects_.touch();
}

std::vector<Fact> ClusterSource::tell() {
    ClusterParts::FrameChange frame = parts_.read_frame(objects_.take_changed());
    fence_nodes(frame);
    if (!frame.nodes.empty()) {
        for (const auto& [name, pods] : pods_) {
            for (const auto& [task, pod] : pods) {
                if (!frame.nodes.contains(pod.node)) { continue; }
                parts_.touch({ObjectKind::pod, pod.name});
                if (!pod.is_finished && pod.has_machine && !has_node(pod.node)) {
                    note_cause(name, fmt::format("node {} is gone", pod.node));
                }
            }
        }
    }
    std::vector<Bound> bound = take_bound(frame.nodes);
    for (const std::string& name : kept_) {
        for (const auto& [task, pod] : pods_[name]) { parts_.touch({ObjectKind::pod, pod.name}); }
    }
    ClusterParts::Change change = parts_.read_demand();
    const bool is_all = std::exchange(is_all_, false);
    if (is_all) {
        for (const auto& [name, told] : told_) { change.names.insert(name); }
    }
    keep_ordered(change);
    const std::set<std::string> names = change.names;
    for (const std::string& name : names) { held_.erase(name); }
    Excerpt part = excerpt(std::move(change), frame.modified, frame.is_read || is_all);
    hold_back(part);
    std::vector<Fact> out;
    for (TaskGone& gone : std::exchange(missing_, {})) { out.emplace_back(std::move(gone)); }
    settle_tasks(part, out);
    // What was read again anyway has said it already.
    std::erase_if(bound, [&](const Bound& one) { return names.contains(one.workload); });
    add_runs(bound, part);
    drop_replaced_nodes(part, out);
    add_nodes(part);
    std::vector<Fact> differences = facts_against(part.known, part.now);
    std::move(differences.begin(), differences.end(), std::back_inserter(out));
    keep(std::move(part), names);
    keep(bound);
    return out;
}

/// A gang is not read again for each of its pods that is bound: that would be its size squared.
std::vector<ClusterSource::Bound> ClusterSource::take_bound(
    const std::set<std::string>& new_nodes) {
    std::vector<Bound> out;
    for (const auto& [pod, node] : objects_.take_bound()) {
        auto bound = is_all_ || new_nodes.contains(node) ? std::nullopt : bound_alone(pod, node);
        if (bound) {
            out.push_back(std::move(*bound));
        } else {
            parts_.touch({ObjectKind::pod, pod});
        }
    }
    return out;
}

std::optional<ClusterSource::Bound> ClusterSource::bound_alone(const ObjectName& pod,
                                                               const std::string& node) const {
    const std::string* workload = parts_.sole_workload({ObjectKind::pod, pod});
    const TaskPods* pods = workload != nullptr ? pods_of(*workload) : nullptr;
    const auto told = pods != nullptr ? told_.find(*workload) : told_.end();
    if (told == told_.end() || !has_node(node)) { return {}; }
    const auto found = std::find_if(pods->begin(), pods->end(),
                                    [&](const auto& one) { return one.second.name == pod; });
    if (found == pods->end() || !found->second.is_ours || !found->second.is_waiting()) {
        return {};
    }
    const std::vector<TaskStatus>& tasks = told->second.status.tasks;
    if (found->first >= tasks.size() || tasks[found->first].state != TaskState::waiting) {
        return {};
    }
    return Bound{*workload, found->first, node};
}

/// Runs are in the order of their workloads.
void ClusterSource::add_runs(const std::vector<Bound>& bound, Excerpt& part) const {
    if (bound.empty()) { return; }
    for (const Bound& one : bound) {
        part.now.runs.push_back({.workload = one.workload,
                                 .task = one.task,
                                 .node = one.node,
                                 .has_devices = false,
                                 .devices = {},
                                 .is_finished = false});
    }
    const auto origin_of = [&](const std::string& workload) {
        const auto read = part.origins.find(workload);
        return read != part.origins.end() ? read->second : told_.at(workload).origin;
    };
    std::sort(part.now.runs.begin(), part.now.runs.end(),
              [&](const Listing::Run& a, const Listing::Run& b) {
                  return std::pair(origin_of(a.workload), a.task) <
                         std::pair(origin_of(b.workload), b.task);
              });
}

void ClusterSource::keep(const std::vector<Bound>& bound) {
    std::set<std::string> workloads;
    for (const Bound& one : bound) {
        TaskPod& pod = pods_.at(one.workload).at(one.task);
        pod.node = one.node;
        pod.has_machine = true;
        TaskStatus& task = told_.at(one.workload).status.tasks[one.task];
        task.state = TaskState::placed;
        task.is_confirmed = true;
        task.node = one.node;
        workloads.insert(one.workload);
    }
    for (const std::string& name : workloads) { look_at_gang(name); }
}

ClusterSource::Excerpt ClusterSource::excerpt(ClusterParts::Change change,
                                              const std::vector<std::string>& nodes,
                                              bool has_frame) {
    Excerpt out;
    out.has_frame = has_frame;
    std::vector<std::pair<Origin, WorkloadStatus*>> known;
    for (const std::string& name : change.names) {
        if (const auto told = told_.find(name); told != told_.end()) {
            known.emplace_back(told->second.origin, &told->second.status);
        }
    }
    std::sort(known.begin(), known.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [origin, status] : known) {
        out.index.emplace(status->spec.name, out.known.workloads.size());
        out.known.workloads.push_back(std::move(*status));
    }
    for (ClusterParts::Workload& workload : change.workloads) {
        out.pods.emplace(workload.spec.name, std::move(workload.pods));
        out.origins.emplace(workload.spec.name, workload.origin);
        out.now.workloads.push_back(std::move(workload.spec));
    }
    const Listing& frame = parts_.frame().listing;
    if (!has_frame) {
        for (const std::string& name : nodes) {
            if (withheld_.contains(name)) { continue; }
            NodeSpec& before = *find_node(known_.nodes, name);
            out.known.nodes.push_back(std::move(before));
            before = *find_node(frame.nodes, name);
            out.now.nodes.push_back(before);
        }
        return out;
    }
    out.known.levels = known_.levels;
    out.known.nodes = std::move(known_.nodes);
    out.known.queues = known_.queues;
    out.now.levels = frame.levels;
    std::copy_if(frame.nodes.begin(), frame.nodes.end(), std::back_inserter(out.now.nodes),
                 [&](const NodeSpec& node) { return !withheld_.contains(node.name); });
    out.now.queues = frame.queues;
    return out;
}

/// Of a pod without one: a bind of it is not answered, or its watch lags, or is not heard at all.
bool ClusterSource::may_have_a_node(const std::string& uid) const {
    return (may_be_bound_ && may_be_bound_(uid)) || !objects_.hears_pods();
}

/// Binds may be under way to a node that went, or is another machine by now. When it is back, it is
/// not told of until it is known what became of them: others would get the same room.
void ClusterSource::fence_nodes(ClusterParts::FrameChange& frame) {
    const auto& machines = parts_.frame().machines;
    const auto is_open = [&](const ObjectName& name, const std::string& uid) {
        const auto pod = objects_.find({ObjectKind::pod, name});
        return pod && uid_of(*pod) == uid && text_at(*pod, "spec.nodeName").empty() &&
               may_have_a_node(uid);
    };
    std::vector<std::string> gone;
    for (const std::string& node : frame.nodes) {
        const auto before = machines_.find(node);
        const auto now = machines.find(node);
        if (before == machines_.end() || (now != machines.end() && now->second == before->second)) {
            continue;
        }
        gone.push_back(node);
    }
    const auto fence = [&](const TaskPod& pod) {
        if (!pod.is_ordered || !pod.is_waiting() || !is_open(pod.name, pod.uid)) { return; }
        for (const std::string& node : gone) { fences_[node].emplace_back(pod.name, pod.uid); }
    };
    if (!gone.empty()) {
        for (const auto& [workload, pods] : pods_) {
            for (const auto& [task, pod] : pods) { fence(pod); }
        }
    }
    for (auto at = fences_.begin(); at != fences_.end();) {
        auto& [node, pods] = *at;
        std::erase_if(pods, [&](const auto& pod) { return !is_open(pod.first, pod.second); });
        if (!pods.empty()) {
            if (machines.contains(node)) { withheld_.insert(node); }
            ++at;
            continue;
        }
        if (withheld_.erase(node) > 0) {
            frame.nodes.insert(node);
            frame.is_read = true;
        }
        at = fences_.erase(at);
    }
}

/// What was ordered may still come to something when the pods are no workload any more, or others,
/// since their group or owner was deleted. Until it is settled they stay what they were.
void ClusterSource::keep_ordered(ClusterParts::Change& change) {
    change.names.merge(std::exchange(kept_, {}));
    std::set<std::string_view> there;
    for (const ClusterParts::Workload& workload : change.workloads) {
        const auto told = told_.find(workload.spec.name);
        const bool is_same =
            told == told_.end() || !is_another(told->second.status.spec.uid, workload.spec.uid);
        if (is_same) { there.insert(workload.spec.name); }
    }
    std::vector<std::string> lost;
    std::copy_if(change.names.begin(), change.names.end(), std::back_inserter(lost),
                 [&](const std::string& name) {
                     return !there.contains(name) && told_.contains(name) && pods_.contains(name);
                 });
    if (lost.empty()) { return; }
    std::map<std::string_view, const TaskPod*> read;  // by uid
    for (const ClusterParts::Workload& workload : change.workloads) {
        for (const auto& [task, pod] : workload.pods) { read.emplace(pod.uid, &pod); }
    }
    std::vector<ClusterParts::Workload> kept;
    std::set<std::string> uids;
    for (const std::string& name : lost) {
        const auto told = told_.find(name);
        const auto pods = pods_.find(name);
        ClusterParts::Workload as_told{told->second.origin, told->second.status.spec, {}};
        bool is_under_way = false;
        for (const auto& [task, before] : pods->second) {
            const auto object = objects_.find({ObjectKind::pod, before.name});
            if (!object || uid_of(*object) != before.uid) { continue; }
            TaskPod& pod = as_told.pods[task];
            const auto now = read.find(before.uid);
            pod = now != read.end() ? *now->second : before;
            const std::string_view phase = text_at(*object, "status.phase");
            pod.node = text_at(*object, "spec.nodeName");
            pod.has_failed = phase == "Failed";
            pod.is_finished = pod.has_failed || phase == "Succeeded";
            is_under_way =
                is_under_way || (before.is_ordered && pod.is_waiting() && may_have_a_node(pod.uid));
        }
        if (!is_under_way) { continue; }
        for (const auto& [task, pod] : as_told.pods) { uids.insert(pod.uid); }
        kept_.insert(name);
        kept.push_back(std::move(as_told));
    }
    if (kept.empty()) { return; }
    std::erase_if(change.workloads, [&](const ClusterParts::Workload& workload) {
        if (kept_.contains(workload.spec.name)) { return true; }
        return !workload.pods.empty() &&
               std::all_of(workload.pods.begin(), workload.pods.end(),
                           [&](const auto& pod) { return uids.contains(pod.second.uid); });
    });
    std::move(kept.begin(), kept.end(), std::back_inserter(change.workloads));
    std::sort(change.workloads.begin(), change.workloads.end(),
              [](const auto& a, const auto& b) { return a.origin < b.origin; });
}

/// A gang is told when enough of its pods are there: room is not kept for pods that nobody made.
/// What runs, and what runs perhaps, is told at any size.
void ClusterSource::hold_back(Excerpt& part) {
    std::erase_if(part.now.workloads, [&](const WorkloadSpec& workload) {
        const TaskPods& pods = part.pods.at(workload.name);
        const bool runs = std::any_of(pods.begin(), pods.end(), [](const auto& pod) {
            return !pod.second.node.empty() && !pod.second.is_finished;
        });
        if (runs || is_whole(workload, pods)) { return false; }
        // What was ordered may still come to something.
        const auto last = pods_.find(workload.name);
        std::set<std::string_view> ordered;
        if (last != pods_.end()) {
            for (const auto& [task, pod] : last->second) {
                if (pod.is_ordered) { ordered.insert(pod.uid); }
            }
        }
        const bool is_ordered =
            (begun_.contains(workload.name) && !pods.empty()) ||
            std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
                return pod.second.is_waiting() && ordered.contains(pod.second.uid);
            });
        if (is_ordered && find_known(part.known, part.index, workload) != nullptr) { return false; }
        held_[workload.name] = missing_pods(workload, pods);
        return true;
    });
}

/// Another machine of the same name: the first one is gone, and all that ran there.
void ClusterSource::drop_replaced_nodes(Excerpt& part, std::vector<Fact>& out) const {
    const auto& machines = parts_.frame().machines;
    std::erase_if(part.known.nodes, [&](const NodeSpec& node) {
        const auto before = machines_.find(node.name);
        const auto now = machines.find(node.name);
        if (before == machines_.end() || now == machines.end() || before->second == now->second) {
            return false;
        }
        for (WorkloadStatus& workload : part.known.workloads) {
            for (TaskStatus& task : workload.tasks) {
                if (task.node == node.name && task.state != TaskState::finished) { task = {}; }
            }
        }
        out.emplace_back(NodeGone{node.name});
        return true;
    });
}

/// Numbers the pods, tells the runs that have ended, and lists those that there are.
void ClusterSource::settle_tasks(Excerpt& part, std::vector<Fact>& out) {
    for (const WorkloadSpec& workload : part.now.workloads) {
        TaskPods& pods = part.pods.at(workload.name);
        WorkloadStatus* known = find_known(part.known, part.index, workload);
        const WorkloadSpec told = known != nullptr ? known->spec : WorkloadSpec{};
        const auto last = pods_.find(workload.name);
        const TaskPods before = known != nullptr && last != pods_.end() ? last->second : TaskPods{};
        pods =
            settle(std::move(pods), workload, before, told,
                   carried_over(told, known != nullptr ? known->tasks : std::vector<TaskStatus>{},
                                workload));
        if (known != nullptr) {
            end_runs(*known, pods, out);
            known->tasks = carried_over(told, known->tasks, workload);
            // A job that is run again makes new pods for tasks that had finished; and where a pod
            // that has ended counts no more, one that runs may have no other number than its one.
            const bool is_again = std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
                return !pod.second.is_finished &&
                       known->tasks[pod.first].state == TaskState::finished;
            });
            if (is_again) {
                out.emplace_back(WorkloadGone{workload.name});
                known->spec = {};
                known->spec.name = workload.name;
                known->tasks.assign(known->tasks.size(), {});
            }
        }
        std::set<std::string_view> uids;
        for (const auto& [task, pod] : before) { uids.insert(pod.uid); }
        for (auto& [task, pod] : pods) {
            pod.has_machine = has_node(pod.node);
            if (known != nullptr && pod.is_waiting() && !uids.contains(pod.uid)) {
                ready_.emplace_back(workload.name, task);
                new_pods_.emplace_back(workload.name, pod);
            }
            if (!pod.is_finished && !pod.has_machine) { continue; }
            part.now.runs.push_back({.workload = workload.name,
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
    std::map<std::string, const TaskPod*> alive;
    for (const auto& [task, pod] : now) { alive.emplace(pod.uid, &pod); }
    for (const auto& [task, pod] : before->second) {
        const auto found = alive.find(pod.uid);
        if (found == alive.end() ? !pod.node.empty() && !pod.is_finished
                                 : found->second->has_failed && !pod.has_failed) {
            note_cause(known.spec.name,
                       fmt::format("{} {}", pod.name.second,
                                   found == alive.end() ? "is gone" : "has failed"));
        }
        if (task >= known.tasks.size() || known.tasks[task].state == TaskState::finished) {
            continue;
        }
        const bool had_run = pod.is_ordered || known.tasks[task].is_confirmed;
        if (!had_run || found != alive.end()) { continue; }
        const bool has_finished = has_failed(pod);
        out.emplace_back(TaskGone{known.spec.name, task, has_finished});
        known.tasks[task] = {};
        if (has_finished) { known.tasks[task].state = TaskState::finished; }
    }
}

/// No room is kept for another try: when there is one, a new pod says so.
bool ClusterSource::has_failed(const TaskPod& pod) const {
    const auto object = objects_.find({ObjectKind::pod, pod.name});
    return object && uid_of(*object) == pod.uid && text_at(*object, "status.phase") == "Failed";
}

/// Nodes that are as they were: of those only the names count, and only where a task was.
void ClusterSource::add_nodes(Excerpt& part) const {
    if (part.has_frame) { return; }
    std::set<std::string_view> names;
    for (const WorkloadStatus& workload : part.known.workloads) {
        for (const TaskStatus& task : workload.tasks) { names.insert(task.node); }
    }
    for (const NodeSpec& node : part.now.nodes) { names.erase(node.name); }
    for (const std::string_view name : names) {
        if (!has_node(std::string(name))) { continue; }
        NodeSpec node;
        node.name = name;
        part.known.nodes.push_back(node);
        part.now.nodes.push_back(std::move(node));
    }
}

void ClusterSource::keep(Excerpt part, const std::set<std::string>& names) {
    std::map<std::string, std::vector<const Listing::Run*>> runs;
    for (const Listing::Run& run : part.now.runs) { runs[run.workload].push_back(&run); }
    for (const std::string& name : names) { pods_.erase(name); }
    std::map<std::string, Told> told;
    for (WorkloadSpec& spec : part.now.workloads) {
        WorkloadStatus status;
        const WorkloadStatus* known = find_known(part.known, part.index, spec);
        const std::vector<Leaf> leaves = leaves_of(spec);
        status.tasks.resize(leaves.back().first + leaves.back().count);
        for (std::size_t i = 0; known != nullptr && i < status.tasks.size(); ++i) {
            if (i < known->tasks.size() && known->tasks[i].state == TaskState::finished) {
                status.tasks[i].state = TaskState::finished;
            }
        }
        for (const Listing::Run* run : runs[spec.name]) {
            TaskStatus& task = status.tasks[run->task];
            if (task.state == TaskState::finished) { continue; }
            task.state = run->is_finished ? TaskState::finished : TaskState::placed;
            task.is_confirmed = !run->is_finished;
            task.node = run->is_finished ? "" : run->node;
        }
        const std::string name = spec.name;
        status.spec = std::move(spec);
        told.emplace(name, Told{part.origins.at(name), std::move(status)});
    }
    for (const std::string& name : names) { told_.erase(name); }
    for (auto& [name, one] : told) { told_.emplace(name, std::move(one)); }
    for (auto& [name, pods] : part.pods) { pods_.emplace(name, std::move(pods)); }
    for (const std::string& name : names) { look_at_gang(name); }
    causes_.clear();
    if (!part.has_frame) { return; }
    known_.levels = std::move(part.now.levels);
    known_.nodes = std::move(part.now.nodes);
    keep_queues(part.now.queues);
    machines_ = parts_.frame().machines;
}

void ClusterSource::look_at_gang(const std::string& name) {
    const WorkloadSpec* workload = find_workload(name);
    const TaskPods* pods = pods_of(name);
    if (workload == nullptr || pods == nullptr) {
        windows_.drop(name);
        begun_.erase(name);
        return;
    }
    const auto cause = causes_.find(name);
    windows_.look(*workload, *pods, cause == causes_.end() ? std::string() : cause->second);
}

void ClusterSource::keep_queues(const std::vector<QueueSpec>& now) {
    const auto is_default = [](const QueueSpec& queue) { return queue.name == "default"; };
    if (std::none_of(now.begin(), now.end(), is_default)) {
        std::erase_if(known_.queues, [&](const QueueSpec& queue) { return !is_default(queue); });
    } else {
        known_.queues.clear();
    }
    known_.queues.insert(known_.queues.end(), now.begin(), now.end());
}

}  // namespace muster::kube
