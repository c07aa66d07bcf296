// A block of the demo: a real fleet filled by the engine, or a made one without the traces.
#include "cli/demo.h"
#include "engine/engine.h"
#include "engine/world.h"
#include "sim/engine_replay.h"
#include "sim/openb_study.h"
#include "sim/reference/bestfit.h"
#include "sim/reference/fgd_expected.h"
#include "sim/reference/replay.h"
#include "sim/show.h"

#include <fmt/format.h>

#include <bit>
#include <tuple>

namespace muster::cli {

namespace {

constexpr int seed = 42;

std::string percent_of(std::int64_t ppm) {
    return fmt::format("{}.{:02}", ppm / 10'000, ppm % 10'000 / 100);
}

void replay_traces(Stage& stage) {
    const auto study = sim::load_openb_study(stage.data_folder(), "default");
    const auto expected = sim::load_fgd_allocation(stage.data_folder(), 100);
    if (!study || !expected) {
        return stage.check(false, study ? expected.error().message : study.error().message);
    }
    const auto ours = sim::replay_with_engine(*study, {.seed = seed});
    const auto best_fit = sim::replay(*study, {.score = sim::best_fit}, {.seed = seed});
    const auto fgd = expected->find(std::tuple("default", "06-FGD", seed));
    const std::int64_t our_ppm = ours ? ours->measure.allocated_ppm(100).value_or(0) : 0;
    const std::int64_t best_fit_ppm =
        best_fit ? best_fit->measure.allocated_ppm(100).value_or(0) : 0;
    if (our_ppm == 0 || best_fit_ppm == 0 || fgd == expected->end()) {
        return stage.check(false, "the replay comes to its end");
    }
    stage.say(fmt::format("Alibaba's openb trace: {} nodes, {} GPUs; {} pods arrive one by one.",
                          with_commas(static_cast<std::int64_t>(study->nodes.size())),
                          with_commas(study->gpu_milli_total() / 1000),
                          with_commas(ours->arrived)));
    Table table({{"policy"}, {"GPUs allocated when all are asked for", Align::right}});
    table.add({"best fit", percent_of(best_fit_ppm) + " %"});
    table.add({"FGD, as its authors published it", percent_of(fgd->second) + " %"});
    table.add({"muster", percent_of(our_ppm) + " %"});
    stage.table(table);
    stage.check(our_ppm > fgd->second,
                fmt::format("muster leaves {} % unallocated, FGD {} %",
                            percent_of(1'000'000 - our_ppm), percent_of(1'000'000 - fgd->second)));
    const std::int64_t microseconds =
        ours->cpu_ns / 1'000 / std::max<std::int64_t>(1, ours->arrived);
    stage.say(fmt::format("     {} µs of CPU per decision", microseconds));
}

/// Shares, whole GPUs and whole nodes in a fixed, mixed order, until nothing more fits.
void replay_made(Stage& stage) {
    constexpr std::size_t nodes = 64;
    constexpr std::uint32_t jobs = 2'000;
    stage.say("The traces are not here (MUSTER_DATA); a made fleet of 64 nodes × 8 GPUs instead.");
    Engine engine;
    bool is_good = true;
    for (std::size_t i = 0; i < nodes; ++i) {
        NodeSpec node;
        node.name = fmt::format("n{}", i);
        node.allocatable.milli_cpu = 128'000;
        node.gpus.resize(8);
        is_good = is_good && engine.apply(NodeSet{std::move(node)});
    }
    std::int64_t asked = 0;
    std::int64_t placed = 0;
    std::uint64_t random = seed;
    constexpr std::int64_t capacity = nodes * 8 * 1'000;
    for (std::uint32_t i = 0; i < jobs && asked < capacity; ++i) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        const auto dice = static_cast<std::int32_t>(random >> 60);
        WorkloadSpec workload;
        workload.name = fmt::format("job{}", i);
        GroupSpec& group = workload.groups.emplace_back();
        group.task.request.milli_cpu = 4'000;
        GpuNeed& gpu = group.task.gpu;
        gpu = dice < 7    ? GpuNeed{.kind = GpuKind::share, .count = 1, .milli = 100 + dice * 100}
              : dice < 15 ? GpuNeed{.kind = GpuKind::whole, .count = dice < 12 ? 1 : 2}
                          : GpuNeed{.kind = GpuKind::whole, .count = 8};
        const std::int64_t milli = gpu.kind == GpuKind::share ? gpu.milli : gpu.count * 1'000;
        asked += milli;
        is_good = is_good && engine.apply(WorkloadSet{std::move(workload)});
        for (const Placement& placement : engine.cycle().placements) {
            placed += placement.workload == fmt::format("job{}", i) ? milli : 0;
        }
    }
    stage.check(is_good && placed * 100 >= asked * 90,
                fmt::format("{} of {} GPUs asked for are placed", sim::write_thousandths(placed),
                            sim::write_thousandths(asked)));
}

}  // namespace

void show_replay(Stage& stage) {
    stage.title("A real fleet, filled");
    stage.data_folder().empty() ? replay_made(stage) : replay_traces(stage);
}

}  // namespace muster::cli
