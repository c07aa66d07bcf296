// The engine's side of the loop: facts in, one cycle out, ready to be recorded. Knows which orders
// are open: a task that is placed and not confirmed is to be bound, one that leaves to be evicted.
// One thread owns a Decider.
#pragma once

#include "engine/engine.h"
#include "engine/workload_state.h"
#include "ledger/record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/// Names an order together with its plan's cycle.
using TaskName = std::pair<std::string, std::uint32_t>;

/// What one cycle came to. Nothing of it may be acted on before `cycle` is recorded.
struct Decision {
    Cycle cycle;                       // without `ordered`, which the I/O side adds
    std::vector<TaskOrder> opened;     // orders that the plan makes, or that facts changed
    std::vector<TaskName> closed;      // orders that facts or the plan ended
    std::optional<Snapshot> snapshot;  // to be recorded behind the cycle, when one was asked for
};

class Decider {
public:
    explicit Decider(Engine engine, Policy policy);

    /// Applies the facts, those that make no sense as conflicts, and decides.
    Decision decide(std::vector<Fact> facts, bool with_snapshot = false);

    /// From here on, as who begins with it at this state.
    void change_policy(Policy policy);

    /// Orders that are open by what the engine knows: after a restart all of them are given again.
    [[nodiscard]] std::vector<TaskOrder> open_orders() const;
    [[nodiscard]] const Engine& engine() const { return engine_; }
    [[nodiscard]] Engine& engine() { return engine_; }

private:
    /// What was ordered of a task, and where; no node when nothing was.
    struct Open {
        OrderKind kind = OrderKind::bind;
        NodeId node;
        Devices devices;

        bool operator==(const Open&) const = default;
    };

    struct OpenTasks {
        std::vector<Open> tasks;  // by task, while any is open
        std::uint32_t count = 0;  // that are open
    };

    void keep_open_orders();
    void keep(TaskRef ref, Open open);
    void hear(const Fact& fact, std::uint32_t index, Decision& decision);
    void touch(const Fact& fact, Decision& decision);
    void touch_node(std::string_view name);
    [[nodiscard]] TaskRef ref_of(std::string_view workload, std::uint32_t task) const;
    /// Null of a lease: nobody is told to bind it.
    [[nodiscard]] const Task* find_task(TaskRef ref) const;
    [[nodiscard]] Open open_now(TaskRef ref) const;
    [[nodiscard]] bool is_open(TaskRef ref) const;
    void change_orders(Decision& decision);
    void take_snapshot(Decision& decision);
    void go_on_from(const Snapshot& snapshot);

    Engine engine_;
    Policy policy_;
    std::vector<OpenTasks> open_;       // by WorkloadId
    std::vector<TaskRef> touched_;      // whose orders this cycle may have changed
    std::vector<std::string> updated_;  // workloads that facts of this cycle described again
};

}  // namespace muster
