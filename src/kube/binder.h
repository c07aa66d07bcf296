// Carries orders out on a Kubernetes cluster: binds and evicts pods, many at a time. An order is
// for the pod, by its uid, and the node that the last observation spoke of. What fails is counted,
// and the loop gives the order again.
#pragma once

#include "control/seams.h"
#include "kube/client.h"
#include "kube/cluster_source.h"
#include "kube/evictions.h"
#include "kube/order_calls.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace muster::kube {

class Binder final : public Actuator {
public:
    using Counts = OrderCounts;

    /// Both outlive it. `now` is since the epoch.
    Binder(ClusterSource& source, Transport& transport, std::function<std::int64_t()> now);
    ~Binder() override;

    Result<> carry_out(std::span<const TaskOrder> orders) override;

    [[nodiscard]] const Counts& counts() const { return calls_->counts; }
    /// Nothing that was asked is unanswered.
    [[nodiscard]] bool is_idle() const { return calls_->is_idle(); }
    void set_when_idle(std::function<void()> work) { calls_->when_idle = std::move(work); }
    std::vector<OrderNews> take_news() { return std::exchange(calls_->news, {}); }
    /// A busy server put their binds off until now.
    std::vector<TaskRefName> take_again() { return std::exchange(calls_->again, {}); }

private:
    void start(std::span<const TaskOrder> orders);
    void bind(const TaskRefName& task, const TaskPod& pod, const std::string& node);
    void evict(const std::string& workload, std::vector<std::uint32_t> tasks);
    bool has_settled(const TaskPod& pod);

    ClusterSource& source_;
    std::shared_ptr<OrderCalls> calls_;
    std::shared_ptr<Evictions> evictions_;
    /// Pods without a node that nobody would make again, by uid, and whether a bind that may have
    /// been on its way when they were to leave would have been heard of.
    std::shared_ptr<std::map<std::string, bool>> settled_;
};

}  // namespace muster::kube
