// A Kubernetes cluster as a Source: what its objects say, told as the difference to what was told
// before. Each change is read together with all the rest, see cluster_reading.h.
#pragma once

#include "control/seams.h"
#include "kube/cluster_reading.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace muster::kube {

class ClusterSource final : public Source {
public:
    /// The objects outlive it.
    ClusterSource(ClusterObjects& objects, dialect::ClusterOptions options)
        : objects_(objects),
          options_(std::move(options)) {}

    Result<> begin(const Snapshot& known) override;
    Result<std::vector<Fact>> observe(std::int64_t patience_ms) override;

    /// As the last observation spoke of it; null when it spoke of none.
    [[nodiscard]] const TaskPods* pods_of(const std::string& workload) const;
    [[nodiscard]] bool has_node(const std::string& name) const { return machines_.contains(name); }
    [[nodiscard]] const WorkloadSpec* find_workload(const std::string& name) const;
    /// An order for the task's pod goes out: if the pod vanishes now, the task's run has ended.
    void note_ordered(const std::string& workload, std::uint32_t task);

    /// Nothing was ever made of the task that is to go: the next observation says that it is gone.
    void note_missing(const std::string& workload, std::uint32_t task);

    /// What can't be read or kept now.
    [[nodiscard]] const std::vector<Problem>& malformed() const { return malformed_; }
    [[nodiscard]] const std::vector<Problem>& refused() const { return refused_; }

private:
    std::vector<Fact> tell();
    void hold_back(ClusterState& state) const;
    void drop_replaced_nodes(const ClusterState& state, std::vector<Fact>& out);
    void settle_tasks(ClusterState& state, std::vector<Fact>& out);
    void end_runs(WorkloadStatus& known, const TaskPods& now, std::vector<Fact>& out);
    [[nodiscard]] bool has_failed(const TaskPod& pod) const;
    void keep(const ClusterState& state);
    WorkloadStatus* find_known(const std::string& name, const std::string& uid);

    ClusterObjects& objects_;
    dialect::ClusterOptions options_;
    Snapshot known_;  // as it was told; of a task only what the cluster said
    std::map<std::string, std::size_t> known_index_;
    std::map<std::string, TaskPods> pods_;
    std::map<std::string, std::string> machines_;
    std::vector<TaskGone> missing_;
    std::vector<Problem> malformed_;
    std::vector<Problem> refused_;
};

}  // namespace muster::kube
