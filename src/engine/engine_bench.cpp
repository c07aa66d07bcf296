// What one decision costs, at 1,000 to 1,000,000 GPUs (design §6). CPU time; `median_us` is per
// decision. bench/growth.py prints the growth and the budgets.
#include "engine/engine.h"

#include "base/assert.h"
#include "engine/fleet_bench.h"
#include "engine/place.h"
#include "engine/trial.h"
#include "model/limits.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>

namespace muster {
namespace {

constexpr std::int64_t fleet_sizes[] = {1'000, 10'000, 100'000, 1'000'000};
constexpr int batch = 64;  // pods per measurement, so that the clock's own cost does not count

std::string pod_name(int i) { return fmt::format("team/pod-{}", i); }

/// One fleet at a time: 30 % taken by single pods, so that whole spines stay free.
Engine& half_empty(std::int64_t gpus) {
    static std::unique_ptr<Engine> engine;
    static std::int64_t size = 0;
    if (size != gpus) {
        engine.reset();
        engine = make_fleet(gpus);
        fill_with_pods(*engine, gpus, 30);
        size = gpus;
    }
    return *engine;
}

/// Submitted pods of one GPU, decided by one cycle: the whole way, the plan's text included.
void pod_cycle(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = half_empty(gpus);
    Samples samples;
    for (auto _ : state) {
        for (int i = 0; i < batch; ++i) {
            apply_or_die(engine, WorkloadSet{job(pod_name(i), 1, 1)});
        }
        samples.start();
        const Plan plan = engine.cycle();
        state.SetIterationTime(samples.stop(batch));
        MUSTER_ASSERT(plan.placements.size() == batch);
        for (int i = 0; i < batch; ++i) { apply_or_die(engine, WorkloadGone{pod_name(i)}); }
    }
    samples.report(state);
}

/// The place alone: which node, which GPU, taken in a trial.
void pod_bare(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = half_empty(gpus);
    World& world = world_of(engine);
    std::vector<WorkloadId> ids;
    for (int i = 0; i < batch; ++i) {
        apply_or_die(engine, WorkloadSet{job(pod_name(i), 1, 1)});
        ids.push_back(world.find_workload(pod_name(i)));
    }
    world.refresh();
    Samples samples;
    for (auto _ : state) {
        Trial trial(world);
        samples.start();
        for (const WorkloadId id : ids) {
            const bool is_placed = place_workload(world, trial, id, Goal::start);
            MUSTER_ASSERT(is_placed);
        }
        state.SetIterationTime(samples.stop(batch));
    }
    for (int i = 0; i < batch; ++i) { apply_or_die(engine, WorkloadGone{pod_name(i)}); }
    samples.report(state);
}

/// Shares, whole GPUs and CPU-only pods of some 60 shapes, come and go: 90 % full, churned.
void mixed_cycle(benchmark::State& state, std::int64_t gpus) {
    auto engine = make_fleet(gpus);
    Dice dice(7);
    std::vector<std::string> running;
    int next = 0;
    const auto submit = [&] {
        std::string name = pod_name(next++);
        apply_or_die(*engine, WorkloadSet{mixed_pod(name, dice)});
        return name;
    };
    const auto keep = [&](const Plan& plan) {
        for (const Placement& placement : plan.placements) {
            running.push_back(placement.workload);
        }
    };
    while (engine->world().queues.at(QueueId(0)).usage.gpu_milli < gpus * 900) {
        for (int i = 0; i < batch; ++i) { submit(); }
        keep(engine->cycle());
    }
    Samples samples;
    for (auto _ : state) {
        for (int i = 0; i < batch; ++i) {
            std::string& one = running[dice.roll(static_cast<std::uint32_t>(running.size()))];
            apply_or_die(*engine, WorkloadGone{one});
            std::swap(one, running.back());
            running.pop_back();
        }
        keep(engine->cycle());
        std::vector<std::string> arrived;
        for (int i = 0; i < batch; ++i) { arrived.push_back(submit()); }
        samples.start();
        const Plan plan = engine->cycle();
        state.SetIterationTime(samples.stop(batch));
        keep(plan);
        for (const Refusal& refusal : plan.refusals) {
            apply_or_die(*engine, WorkloadGone{refusal.workload});
        }
    }
    state.counters["shapes"] = static_cast<double>(engine->world().shapes.size());
    samples.report(state);
}

/// 512 pods of 8 GPUs inside one spine; 64 pods where the fleet has no more.
int gang_tasks(std::int64_t gpus) { return gpus < 10'000 ? 64 : 512; }

void gang_cycle(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = half_empty(gpus);
    Samples samples;
    for (auto _ : state) {
        apply_or_die(engine, WorkloadSet{job("team/gang", gang_tasks(gpus), 8, "spine")});
        samples.start();
        const Plan plan = engine.cycle();
        state.SetIterationTime(samples.stop(1));
        MUSTER_ASSERT(plan.placements.size() == 1);
        apply_or_die(engine, WorkloadGone{"team/gang"});
    }
    samples.report(state);
}

void gang_bare(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = half_empty(gpus);
    World& world = world_of(engine);
    apply_or_die(engine, WorkloadSet{job("team/gang", gang_tasks(gpus), 8, "spine")});
    const WorkloadId id = world.find_workload("team/gang");
    world.refresh();
    Samples samples;
    for (auto _ : state) {
        Trial trial(world);
        samples.start();
        const bool is_placed = place_workload(world, trial, id, Goal::start);
        state.SetIterationTime(samples.stop(1));
        MUSTER_ASSERT(is_placed);
    }
    apply_or_die(engine, WorkloadGone{"team/gang"});
    samples.report(state);
}

/// A submitted workload that cannot run: the proof and the reason with its counts, by one cycle.
void refused(benchmark::State& state, std::int64_t gpus, const WorkloadSpec& spec) {
    Engine& engine = half_empty(gpus);
    Samples samples;
    for (auto _ : state) {
        apply_or_die(engine, WorkloadSet{spec});
        samples.start();
        const Plan plan = engine.cycle();
        state.SetIterationTime(samples.stop(1));
        MUSTER_ASSERT(plan.refusals.size() == 1);
        apply_or_die(engine, WorkloadGone{spec.name});
    }
    samples.report(state);
}

/// The first pod of a shape that nobody asked for before: its room is made.
void new_shape(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = half_empty(gpus);
    Samples samples;
    int turn = 0;
    for (auto _ : state) {
        WorkloadSpec spec = job("team/new", 1, 1);
        spec.groups[0].task.request.milli_cpu = 1'000 + turn++;
        apply_or_die(engine, WorkloadSet{spec});
        samples.start();
        engine.cycle();
        state.SetIterationTime(samples.stop(1));
        apply_or_die(engine, WorkloadGone{"team/new"});
    }
    samples.report(state);
}

/// A node goes and comes back, and one pod is decided after each.
void node_event(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = half_empty(gpus);
    const int last = static_cast<int>(gpus / gpus_per_node) - 1;  // holds nothing
    Samples samples;
    for (auto _ : state) {
        samples.start();
        apply_or_die(engine, NodeGone{fleet_node(last).name});
        engine.cycle();
        apply_or_die(engine, NodeSet{fleet_node(last)});
        engine.cycle();
        state.SetIterationTime(samples.stop(2));
    }
    samples.report(state);
}

template <class Run>
void add(const char* name, std::int64_t gpus, std::int64_t iterations, Run run) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}", name, gpus).c_str(), run)
        ->Iterations(iterations)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

[[maybe_unused]] const bool is_registered = [] {
    for (const std::int64_t gpus : fleet_sizes) {
        const auto with = [gpus](auto row) {
            return [=](benchmark::State& state) { row(state, gpus); };
        };
        // One more than the fleet holds, or as many as a group may have.
        const int many =
            static_cast<int>(std::min<std::int64_t>(gpus / 8 + 1, tasks_per_group_max));
        add("pod_cycle", gpus, 400, with(pod_cycle));
        add("pod_bare", gpus, 400, with(pod_bare));
        add("gang_cycle", gpus, 200, with(gang_cycle));
        add("gang_bare", gpus, 200, with(gang_bare));
        add("refused_no_domain", gpus, 200, [=](benchmark::State& state) {
            refused(state, gpus, job("team/wide", many / 2, 8, "rack"));
        });
        add("refused_no_room", gpus, 200, [=](benchmark::State& state) {
            refused(state, gpus, job("team/wide", many, 8, "spine"));
        });
        add("refused_nowhere", gpus, 200,
            [=](benchmark::State& state) { refused(state, gpus, job("team/big", 1, 16)); });
        add("new_shape", gpus, 50, with(new_shape));
        add("node_event", gpus, 10, with(node_event));
        add("mixed_cycle", gpus, 200, with(mixed_cycle));
    }
    return true;
}();

}  // namespace
}  // namespace muster
