#include "engine/fleet_bench.h"

#include "base/assert.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <utility>

namespace muster {

NodeSpec fleet_node(int index) {
    NodeSpec node;
    node.name = fmt::format("gpu-node-{:06}", index);
    node.labels = {
        {"topology.example.com/spine", fmt::format("spine-{:03}", index / nodes_per_spine)},
        {"topology.example.com/leaf", fmt::format("leaf-{:04}", index / nodes_per_leaf)},
        {"topology.example.com/rack", fmt::format("rack-{:05}", index / nodes_per_rack)},
        {"topology.kubernetes.io/zone", "eu-central-1a"},
        {"kubernetes.io/hostname", node.name},
        {"kubernetes.io/arch", "amd64"},
        {"node.kubernetes.io/instance-type", "p5.48xlarge"},
        {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
    };
    node.allocatable = {
        .milli_cpu = 192'000, .memory = std::int64_t{2'000} << 30, .extended = {{"rdma/hca", 8}}};
    for (int i = 0; i < gpus_per_node; ++i) {
        GpuSpec gpu;
        gpu.model = "NVIDIA-H100-80GB-HBM3";
        gpu.memory_mib = 81'559;
        gpu.numa = i < gpus_per_node / 2 ? 0 : 1;
        node.gpus.push_back(std::move(gpu));
    }
    return node;
}

std::unique_ptr<Engine> make_fleet(std::int64_t gpus) {
    auto engine = std::make_unique<Engine>();
    apply_or_die(*engine, TopologySet{{{"spine", "topology.example.com/spine"},
                                       {"leaf", "topology.example.com/leaf"},
                                       {"rack", "topology.example.com/rack"}}});
    for (int i = 0; i < gpus / gpus_per_node; ++i) {
        apply_or_die(*engine, NodeSet{fleet_node(i)});
    }
    engine->cycle();
    return engine;
}

WorkloadSpec job(std::string name, int tasks, int gpus, const std::string& level) {
    WorkloadSpec spec;
    spec.name = std::move(name);
    GroupSpec group;
    group.name = "worker";
    group.count = tasks;
    group.minimum = tasks;
    group.task.request.milli_cpu = std::int64_t{12'000} * gpus;
    group.task.request.memory = (std::int64_t{64} << 30) * gpus;
    group.task.gpu.kind = GpuKind::whole;
    group.task.gpu.count = gpus;
    group.topology.required = level;
    spec.groups.push_back(std::move(group));
    return spec;
}

WorkloadSpec mixed_pod(std::string name, Dice& dice) {
    WorkloadSpec spec = job(std::move(name), 1, 1);
    TaskSpec& task = spec.groups[0].task;
    task.request.milli_cpu = 2'000 << dice.roll(4);
    task.request.memory = std::int64_t{8} << (30 + dice.roll(2));
    const std::uint32_t kind = dice.roll(10);
    if (kind < 2) {
        task.gpu = GpuNeed{};
    } else if (kind < 8) {
        constexpr int sizes[] = {100, 250, 400, 500, 700};
        task.gpu.kind = GpuKind::share;
        task.gpu.milli = sizes[dice.roll(5)];
    } else {
        task.gpu.count = 1 << dice.roll(3);
    }
    return spec;
}

void apply_or_die(Engine& engine, const Fact& fact) {
    const auto applied = engine.apply(fact);
    MUSTER_ASSERT(applied.has_value());
}

void fill_with_pods(Engine& engine, std::int64_t gpus, int percent) {
    Dice dice(1);
    std::int64_t taken = 0;
    for (int i = 0; taken * 100 < gpus * percent; ++i) {
        const int size = 1 << dice.roll(4);
        apply_or_die(engine, WorkloadSet{job(fmt::format("fill/{}", i), 1, size)});
        taken += size;
    }
    engine.cycle();
}

World& world_of(Engine& engine) { return const_cast<World&>(engine.world()); }

std::int64_t cpu_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

double Samples::stop(std::int64_t operations) {
    const auto spent = static_cast<double>(cpu_nanoseconds() - started_);
    microseconds_.push_back(spent / 1e3 / static_cast<double>(operations));
    return spent / 1e9;
}

void Samples::report(benchmark::State& state) {
    MUSTER_ASSERT(!microseconds_.empty());
    const double sum = std::accumulate(microseconds_.begin(), microseconds_.end(), 0.0);
    const auto middle =
        microseconds_.begin() + static_cast<std::ptrdiff_t>(microseconds_.size() / 2);
    std::nth_element(microseconds_.begin(), middle, microseconds_.end());
    state.counters["median_us"] = *middle;
    state.counters["mean_us"] = sum / static_cast<double>(microseconds_.size());
}

}  // namespace muster
