// Tests only: scripted seams, and small facts.
#pragma once

#include "control/seams.h"
#include "ledger/store_memory.h"
#include "ledger/store_wrapper.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace muster {

/// Hears what it was told to hear, notes what it was asked.
class FakeSeams final : public Source, public Actuator, public Clock, public Leader {
public:
    Result<> begin(const Snapshot& known) override {
        begun_with = known;
        return {};
    }
    Result<std::vector<Fact>> observe(std::int64_t /*patience_ms*/) override {
        if (script.empty()) { return std::vector<Fact>{}; }
        auto next = std::move(script.front());
        script.pop_front();
        return next;
    }
    Result<> carry_out(std::span<const TaskOrder> some) override {
        orders.insert(orders.end(), some.begin(), some.end());
        if (fails_to_act) { return fail(Code::unavailable, "the cluster is away"); }
        return {};
    }
    std::int64_t now() override { return time; }
    bool is_leader() override { return leads; }

    /// One observation.
    void hear(std::vector<Fact> facts) { script.emplace_back(std::move(facts)); }
    std::vector<TaskOrder> take_orders() { return std::exchange(orders, {}); }

    std::deque<Result<std::vector<Fact>>> script;
    std::vector<TaskOrder> orders;
    Snapshot begun_with;
    std::int64_t time = 1'000;
    bool leads = true;
    bool fails_to_act = false;
};

/// A memory store that can be full, or write and lose the answer.
class FailingStore final : public StoreWrapper {
public:
    explicit FailingStore(MemoryLog& log) : StoreWrapper(open_memory_store(log)) {}

    Result<> append(const Entry& entry, std::uint64_t expected_epoch) override {
        if (is_full && (!fails_only || entry.header.kind == *fails_only)) {
            return fail(Code::unavailable, "the disk is full");
        }
        auto done = StoreWrapper::append(entry, expected_epoch);
        if (done && loses_answers) { return fail(Code::unavailable, "no answer"); }
        return done;
    }

    bool is_full = false;
    std::optional<RecordKind> fails_only;
    bool loses_answers = false;
};

inline Fact node_fact(std::string name, std::size_t gpus) {
    NodeSpec node;
    node.name = std::move(name);
    node.allocatable = {.milli_cpu = 64'000, .memory = std::int64_t{1} << 38, .extended = {}};
    node.gpus.resize(gpus);
    for (GpuSpec& gpu : node.gpus) {
        gpu = {.model = "NVIDIA-H100-80GB-HBM3", .memory_mib = 81'559};
    }
    return NodeSet{std::move(node)};
}

inline WorkloadSpec gang(std::string name, std::int32_t tasks, std::int32_t gpus) {
    WorkloadSpec spec;
    spec.name = std::move(name);
    GroupSpec group{.name = "g", .minimum = tasks, .count = tasks, .task = {}, .topology = {}};
    group.task.request.milli_cpu = 1'000;
    group.task.gpu = {.kind = GpuKind::whole, .count = gpus};
    spec.groups.push_back(std::move(group));
    return spec;
}

inline Fact confirm(const TaskOrder& order) {
    return TaskBound{order.workload, order.task, order.node, true, order.devices};
}

}  // namespace muster
