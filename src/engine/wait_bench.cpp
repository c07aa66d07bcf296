// A full fleet with 10,000 workloads waiting: what one event costs until its plan is there, what
// `why` and a what-if cost, and how much memory running pods take.
#include "base/assert.h"
#include "engine/engine.h"
#include "engine/fleet_bench.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <fstream>

namespace muster {
namespace {

constexpr std::int64_t fleet_sizes[] = {1'000, 10'000, 100'000, 1'000'000};
constexpr int waiting_count = 10'000;
constexpr int small_count = nodes_per_rack * gpus_per_node;

/// A rack of single-GPU pods, and a gang over all the rest of each spine.
WorkloadSpec small_pod(int i) { return job(fmt::format("small/{}", i), 1, 1); }
WorkloadSpec spine_gang(std::int64_t gpus, int spine) {
    const auto nodes = static_cast<int>(gpus / gpus_per_node);
    const int here = std::min(nodes_per_spine, nodes - spine * nodes_per_spine);
    const int tasks = spine == 0 ? here - nodes_per_rack : here;
    WorkloadSpec spec = job(fmt::format("spine/{}", spine), tasks, 8, "spine");
    spec.priority = 1;
    return spec;
}

/// 1 to 256 tasks of 1 to 8 GPUs, half of them in one domain of a level: 12 shapes, 432 kinds.
WorkloadSpec waiting_job(int i) {
    static constexpr std::string_view levels[] = {"", "rack", "leaf", "spine"};
    Dice dice(static_cast<std::uint64_t>(i));
    const int tasks = 1 << dice.roll(9);
    const int size = 1 << dice.roll(4);
    WorkloadSpec spec =
        job(fmt::format("waiting/{}", i), tasks, size, std::string(levels[dice.roll(4)]));
    const std::int64_t cpus = 8 + 2 * std::int64_t{dice.roll(3)};
    spec.groups[0].task.request.milli_cpu = 1'000 * cpus * size;
    spec.submitted = i;
    return spec;
}

Engine& full(std::int64_t gpus) {
    static std::unique_ptr<Engine> engine;
    static std::int64_t size = 0;
    if (size == gpus) { return *engine; }
    size = gpus;
    engine.reset();
    engine = make_fleet(gpus);
    for (int i = 0; i < small_count; ++i) { apply_or_die(*engine, WorkloadSet{small_pod(i)}); }
    engine->cycle();
    const auto nodes = static_cast<int>(gpus / gpus_per_node);
    for (int spine = 0; spine * nodes_per_spine < nodes; ++spine) {
        apply_or_die(*engine, WorkloadSet{spine_gang(gpus, spine)});
    }
    engine->cycle();
    for (int i = 0; i < waiting_count; ++i) { apply_or_die(*engine, WorkloadSet{waiting_job(i)}); }
    const Plan plan = engine->cycle();
    MUSTER_ASSERT(plan.placements.empty());
    MUSTER_ASSERT(plan.refusals.size() == waiting_count);
    return *engine;
}

/// What started goes, the place is taken as before, and those that started wait again.
void restore(Engine& engine, const Plan& plan, const WorkloadSpec& holder) {
    std::vector<WorkloadSpec> started;
    for (const Placement& placement : plan.placements) {
        const std::string_view name = placement.workload;
        int number = 0;
        for (const char digit : name.substr(name.find('/') + 1)) {
            number = number * 10 + digit - '0';
        }
        started.push_back(waiting_job(number));
        apply_or_die(engine, WorkloadGone{placement.workload});
    }
    WorkloadSpec first = holder;
    first.priority = 1;
    apply_or_die(engine, WorkloadSet{first});
    engine.cycle();
    for (const WorkloadSpec& spec : started) { apply_or_die(engine, WorkloadSet{spec}); }
    const Plan again = engine.cycle();
    MUSTER_ASSERT(again.placements.empty());
}

/// `holder` ends; the fact and the cycle after it.
void one_event(benchmark::State& state, std::int64_t gpus, const WorkloadSpec& holder) {
    Engine& engine = full(gpus);
    Samples samples;
    std::size_t placed = 0;
    std::size_t refused = 0;
    for (auto _ : state) {
        samples.start();
        apply_or_die(engine, WorkloadGone{holder.name});
        const Plan plan = engine.cycle();
        state.SetIterationTime(samples.stop(1));
        placed = plan.placements.size();
        refused = plan.refusals.size();
        restore(engine, plan, holder);
    }
    state.counters["placements"] = static_cast<double>(placed);
    state.counters["refusals"] = static_cast<double>(refused);
    samples.report(state);
}

/// One GPU breaks and is well again: nobody who waits can use it alone.
void gpu_health(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = full(gpus);
    const std::string node = fleet_node(static_cast<int>(gpus / gpus_per_node) - 1).name;
    Samples samples;
    for (auto _ : state) {
        samples.start();
        for (const bool is_healthy : {false, true}) {
            apply_or_die(engine, GpuHealth{node, 3, is_healthy});
            engine.cycle();
        }
        state.SetIterationTime(samples.stop(2));
    }
    samples.report(state);
}

void why(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = full(gpus);
    Samples samples;
    int turn = 0;
    for (auto _ : state) {
        const std::string name = waiting_job(turn++ % waiting_count).name;
        samples.start();
        const auto reason = engine.why(name);
        state.SetIterationTime(samples.stop(1));
        MUSTER_ASSERT(reason.has_value());
    }
    samples.report(state);
}

void what_if(benchmark::State& state, std::int64_t gpus, const WorkloadSpec& spec) {
    Engine& engine = full(gpus);
    Samples samples;
    for (auto _ : state) {
        samples.start();
        const auto answer = engine.what_if(spec);
        state.SetIterationTime(samples.stop(1));
        MUSTER_ASSERT(answer.has_value());
    }
    samples.report(state);
}

/// All that placements change, into a copy that is there already, as for the second what-if.
void copy_space(benchmark::State& state, std::int64_t gpus) {
    Engine& engine = full(gpus);
    Space copy = engine.world().space;
    Samples samples;
    for (auto _ : state) {
        samples.start();
        copy = engine.world().space;
        benchmark::DoNotOptimize(copy.nodes.data());
        state.SetIterationTime(samples.stop(1));
    }
    samples.report(state);
}

std::int64_t resident_bytes() {
    std::int64_t size = 0;
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> size >> pages;
    return pages * 4096;
}

/// Twelve pods on every node, each with a name and eight labels, as a cluster's pods have them.
WorkloadSpec labelled_pod(int i) {
    WorkloadSpec spec = job(fmt::format("team-{}/training-run-worker-{:07}", i % 40, i), 1, 1);
    TaskSpec& task = spec.groups[0].task;
    task.name_space = fmt::format("team-{}", i % 40);
    task.request = {.milli_cpu = 4'000, .memory = std::int64_t{16} << 30, .extended = {}};
    task.gpu.kind = GpuKind::share;
    task.gpu.milli = 500;
    task.labels = {{"app.kubernetes.io/name", fmt::format("training-run-{}", i / 16)},
                   {"app.kubernetes.io/instance", spec.name},
                   {"app.kubernetes.io/part-of", "research"},
                   {"batch.kubernetes.io/job-name", fmt::format("training-run-{}", i / 16)},
                   {"batch.kubernetes.io/job-completion-index", fmt::format("{}", i % 16)},
                   {"team", task.name_space},
                   {"controller-uid", fmt::format("0b5a{:08x}-41f2-9d3c-{:012x}", i / 16, i / 16)},
                   {"priority-class", "batch"}};
    return spec;
}

void memory(benchmark::State& state, std::int64_t gpus) {
    const auto pods = static_cast<int>(gpus / gpus_per_node * 12);
    for (auto _ : state) {
        malloc_trim(0);
        const std::int64_t before = resident_bytes();
        const std::size_t used_before = mallinfo2().uordblks + mallinfo2().hblkhd;
        auto engine = make_fleet(gpus);
        const std::int64_t empty = resident_bytes();
        for (int i = 0; i < pods; ++i) {
            apply_or_die(*engine, WorkloadSet{labelled_pod(i)});
            if (i % 1'000 == 999) { engine->cycle(); }
        }
        engine->cycle();
        malloc_trim(0);
        constexpr double mib = 1 << 20;
        state.counters["pods"] = pods;
        state.counters["rss_mib"] = static_cast<double>(resident_bytes() - before) / mib;
        state.counters["rss_nodes_mib"] = static_cast<double>(empty - before) / mib;
        const std::size_t used = mallinfo2().uordblks + mallinfo2().hblkhd;
        state.counters["heap_mib"] = static_cast<double>(used - used_before) / mib;
        state.SetIterationTime(1e-6);
        MUSTER_ASSERT(engine->world().ready.empty());
    }
}

template <class Run>
void add(const char* name, std::int64_t gpus, std::int64_t iterations, Run run) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}", name, gpus).c_str(), run)
        ->Iterations(iterations)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

[[maybe_unused]] const bool is_registered = [] {
    add("memory", 100'000, 1, [](benchmark::State& state) { memory(state, 100'000); });
    for (const std::int64_t gpus : fleet_sizes) {
        const auto with = [gpus](auto row) {
            return [=](benchmark::State& state) { row(state, gpus); };
        };
        add("waiting_task_ends", gpus, 40,
            [=](benchmark::State& state) { one_event(state, gpus, small_pod(17)); });
        add("waiting_gpu_health", gpus, 40, with(gpu_health));
        add("waiting_spine_ends", gpus, 5,
            [=](benchmark::State& state) { one_event(state, gpus, spine_gang(gpus, 0)); });
        add("why", gpus, 400, with(why));
        add("what_if_pod", gpus, 100,
            [=](benchmark::State& state) { what_if(state, gpus, job("team/what", 1, 1)); });
        add("what_if_gang", gpus, 100, [=](benchmark::State& state) {
            what_if(state, gpus, job("team/what", 512, 8, "spine"));
        });
        add("copy_space", gpus, 100, with(copy_space));
    }
    return true;
}();

}  // namespace
}  // namespace muster
