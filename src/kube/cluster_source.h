// A Kubernetes cluster as a Source: what its objects say, told as the difference to what was told
// before. Looked at again is only what a change can make another: see cluster_parts.h.
#pragma once

#include "control/seams.h"
#include "kube/cluster_parts.h"
#include "kube/gang_windows.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::kube {

class ClusterSource final : public Source {
public:
    /// The objects outlive it.
    ClusterSource(ClusterObjects& objects, dialect::ClusterOptions options,
                  GangWindows::Options windows = {})
        : objects_(objects),
          parts_(objects, std::move(options)),
          windows_(std::move(windows)) {}

    Result<> begin(const Snapshot& known) override;
    Result<std::vector<Fact>> observe(std::int64_t patience_ms) override;
    std::vector<TaskRefName> take_ready() override;
    void note_ready(const std::vector<TaskRefName>& tasks) {
        ready_.insert(ready_.end(), tasks.begin(), tasks.end());
    }

    /// The next observation looks at all of it, as the first one does.
    void look_again();

    /// As the last observation spoke of it; null when it spoke of none.
    [[nodiscard]] const TaskPods* pods_of(const std::string& workload) const;
    [[nodiscard]] bool has_node(const std::string& name) const {
        return parts_.frame().machines.contains(name) && !withheld_.contains(name);
    }
    [[nodiscard]] const WorkloadSpec* find_workload(const std::string& name) const;
    /// What jobs that are read later refer to.
    [[nodiscard]] const dialect::KubernetesContext& context() const {
        return parts_.frame().context;
    }
    /// What is to be written before the pod may be bound there.
    [[nodiscard]] dialect::VolumeSteps volumes_before(const ObjectName& pod,
                                                      const std::string& node) const;
    /// Orders that are not carried out until the volumes of all of them are there; then they are
    /// ready. By task the node that each is to be bound to.
    void wait_for_volumes(const std::string& workload, std::map<std::uint32_t, std::string> nodes) {
        for_volumes_[workload] = std::move(nodes);
    }
    /// An order for the task's pod goes out: if the pod vanishes now, the task's run has ended.
    void note_ordered(const std::string& workload, std::uint32_t task);

    /// Nothing was ever made of the task that is to go: the next observation says that it is gone.
    void note_missing(const std::string& workload, std::uint32_t task);

    /// The workload was told to leave: its pods were asked to go.
    void note_leaving(const std::string& workload) { windows_.note_leaving(workload); }
    /// It is to run: if it was being stopped, what runs of it waits for the rest from here on.
    void note_starting(const std::string& workload) {
        if (windows_.note_starting(workload)) { look_at_gang(workload); }
    }
    /// Whether something that was asked of the pod of that uid is not answered yet.
    void set_is_under_way(std::function<bool(const std::string&)> is_under_way) {
        is_under_way_ = std::move(is_under_way);
    }
    /// Whether the pod of that uid may have a node of which the watch has not told.
    void set_may_be_bound(std::function<bool(const std::string&)> may_be_bound) {
        may_be_bound_ = std::move(may_be_bound);
    }
    /// Pods that were made anew for tasks that wait: their reasons are told already, but not by
    /// these.
    using NewPods = std::vector<std::pair<std::string, TaskPod>>;  // by workload
    NewPods take_new_pods() { return std::exchange(new_pods_, {}); }
    /// Gangs of which only a part runs.
    [[nodiscard]] const GangWindows& windows() const { return windows_; }
    std::vector<GangNews> take_news() { return windows_.take_news(); }
    /// Something was refused for good that it needs.
    void note_refused(const std::string& workload, std::string text) {
        windows_.note_cause(workload, std::move(text));
    }
    /// Workloads with pods on one of the nodes.
    [[nodiscard]] std::set<std::string> workloads_on(const std::set<std::string>& nodes) const;
    [[nodiscard]] const ClusterObjects& objects() const { return objects_; }

    /// What can't be read or kept now.
    [[nodiscard]] const std::vector<Problem>& malformed() const { return parts_.malformed(); }
    [[nodiscard]] const std::vector<Problem>& refused() const { return parts_.refused(); }
    /// Workloads that wait for pods that are not there yet, and for which.
    [[nodiscard]] const std::map<std::string, std::string>& held_back() const { return held_; }

private:
    struct Told {
        Origin origin;
        WorkloadStatus status;  // of a task only what the cluster said
    };
    /// What is compared: the workloads that may be others, and of the rest what these speak of.
    struct Excerpt {
        Snapshot known;
        Listing now;
        std::map<std::string, std::size_t> index;  // in known.workloads
        std::map<std::string, TaskPods> pods;      // of now.workloads and of those held back
        std::map<std::string, Origin> origins;
        bool has_frame = false;
    };

    /// A pod of ours that got its node, which makes nothing else another thing.
    struct Bound {
        std::string workload;
        std::uint32_t task = 0;
        std::string node;
    };

    [[nodiscard]] std::optional<Bound> bound_alone(const ObjectName& pod,
                                                   const std::string& node) const;
    std::vector<Bound> take_bound(const std::set<std::string>& new_nodes);
    void add_runs(const std::vector<Bound>& bound, Excerpt& part) const;
    void keep(const std::vector<Bound>& bound);
    [[nodiscard]] bool lacks_volume(const std::string& workload, std::uint32_t task,
                                    const std::string& node) const;
    std::vector<Fact> tell();
    std::vector<Fact> tell_overdue();
    void note_cause(const std::string& workload, std::string cause);
    Excerpt excerpt(ClusterParts::Change change, const std::vector<std::string>& nodes,
                    bool has_frame);
    [[nodiscard]] bool may_have_a_node(const std::string& uid) const;
    void fence_nodes(ClusterParts::FrameChange& frame);
    void keep_ordered(ClusterParts::Change& change);
    void hold_back(Excerpt& part);
    void drop_replaced_nodes(Excerpt& part, std::vector<Fact>& out) const;
    void settle_tasks(Excerpt& part, std::vector<Fact>& out);
    void end_runs(WorkloadStatus& known, const TaskPods& now, std::vector<Fact>& out);
    [[nodiscard]] bool has_failed(const TaskPod& pod) const;
    void add_nodes(Excerpt& part) const;
    void keep(Excerpt part, const std::set<std::string>& names);
    void look_at_gang(const std::string& name);
    void keep_queues(const std::vector<QueueSpec>& now);

    ClusterObjects& objects_;
    ClusterParts parts_;
    Snapshot known_;  // as it was told, without workloads
    std::unordered_map<std::string, Told> told_;
    std::unordered_map<std::string, TaskPods> pods_;
    std::map<std::string, std::string> machines_;  // as they were told
    /// Pods, with their uids, that may be bound to a node which went, by its name.
    std::map<std::string, std::vector<std::pair<ObjectName, std::string>>> fences_;
    std::set<std::string> withheld_;           // nodes that are back, behind a fence: not told yet
    std::map<std::string, std::string> held_;  // what is lacking, by workload
    std::vector<TaskGone> missing_;
    std::vector<TaskRefName> ready_;
    NewPods new_pods_;
    std::map<std::string, std::map<std::uint32_t, std::string>> for_volumes_;
    std::set<std::string> begun_;  // they held something when this began
    std::set<std::string> kept_;   // no workloads any more but for the binds that are under way
    std::map<std::string, std::string> causes_;  // of what this observation tells, by workload
    GangWindows windows_;
    std::function<bool(const std::string&)> is_under_way_;
    std::function<bool(const std::string&)> may_be_bound_;
    bool is_all_ = true;  // to be looked at
};

}  // namespace muster::kube
