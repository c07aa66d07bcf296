// What stands between one scheduler process and the cluster, as a real adapter does: it listens,
// knows which pod and which machine the facts it handed on were about, and gives orders to those.
// At every step of a turn the process may be stopped for a while, or for good.
#pragma once

#include "control/seams.h"
#include "sim/loop_cluster.h"

#include <functional>
#include <string>
#include <vector>

namespace muster::sim {

/// Where in a turn a process stands.
enum class Point : std::uint8_t { observe, heard, append, appended, dropped, act, asked, acted };

class LoopAdapter final : public Source, public Actuator, public Clock, public Leader {
public:
    /// False: the process ends there, and nothing that it does from then on has an effect.
    using At = std::function<bool(Point)>;
    using Check = std::function<void(const TaskOrder&)>;

    LoopAdapter(LoopCluster& cluster, std::size_t id, At at, Check check)
        : cluster_(cluster),
          id_(id),
          at_(std::move(at)),
          check_(std::move(check)) {}
    LoopAdapter(const LoopAdapter&) = delete;
    LoopAdapter& operator=(const LoopAdapter&) = delete;
    ~LoopAdapter() override { cluster_.detach(id_); }

    Result<> begin(const Snapshot& known) override;
    Result<std::vector<Fact>> observe(std::int64_t patience_ms) override;
    Result<> carry_out(std::span<const TaskOrder> orders) override;
    std::int64_t now() override { return cluster_.now; }
    bool is_leader() override { return may_lead; }

    bool may_lead = true;
    bool is_prompt = false;  // hands on all that there is

    [[nodiscard]] bool has_unheard() const { return !first_.empty() || !queue_is_empty(); }

private:
    [[nodiscard]] bool queue_is_empty() const { return cluster_.heard(id_).empty(); }
    void hand_on(const Heard& heard, std::vector<Fact>& out);

    LoopCluster& cluster_;
    std::size_t id_;
    At at_;
    Check check_;
    std::vector<Fact> first_;
    Numbers known_;
};

}  // namespace muster::sim
