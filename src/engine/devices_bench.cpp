#include "engine/devices.h"

#include <benchmark/benchmark.h>

namespace muster {
namespace {

/// `gpus` GPUs in two zones, all joined alike (an HGX board), or in NVLink pairs when `is_bridged`.
NodeSpec make_node(std::size_t gpus, bool is_bridged) {
    NodeSpec node{.gpus = std::vector<GpuSpec>(gpus)};
    node.links.paths.assign(gpus * gpus, is_bridged ? Link::sys : Link::nvlink);
    node.links.nvlinks.assign(gpus * gpus, is_bridged ? 0 : 18);
    for (std::size_t i = 0; i < gpus; ++i) {
        node.gpus[i].numa = i < gpus / 2 ? 0 : 1;
        if (is_bridged) {
            node.links.paths[i * gpus + (i ^ 1)] = Link::nvlink;
            node.links.nvlinks[i * gpus + (i ^ 1)] = 12;
        }
    }
    return node;
}

void run(benchmark::State& state, std::size_t gpus, bool is_bridged, bool is_table) {
    DeviceTable table;
    const std::uint32_t id = table.intern(make_node(gpus, is_bridged));
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - gpus);
    const auto count = static_cast<int>(state.range(0));
    std::uint64_t turn = 0;
    for (auto _ : state) {
        const std::uint64_t free_mask = all & ~(turn++ & 0x7);
        benchmark::DoNotOptimize(is_table ? table.choose_whole(id, free_mask, count, false)
                                          : choose_whole(table.at(id), free_mask, count, false));
    }
}

BENCHMARK_CAPTURE(run, uniform_8, 8, false, false)->Arg(1)->Arg(2)->Arg(4)->Arg(8);
BENCHMARK_CAPTURE(run, bridged_8, 8, true, false)->Arg(1)->Arg(2)->Arg(4);
BENCHMARK_CAPTURE(run, bridged_8_remembered, 8, true, true)->Arg(1)->Arg(2)->Arg(4);
BENCHMARK_CAPTURE(run, bridged_16, 16, true, false)->Arg(2)->Arg(8);
BENCHMARK_CAPTURE(run, bridged_64, 64, true, false)->Arg(2)->Arg(8)->Arg(32);

}  // namespace
}  // namespace muster
