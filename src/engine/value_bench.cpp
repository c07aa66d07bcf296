#include "engine/value.h"

#include "engine/mix.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace muster {
namespace {

std::vector<MixClass> mix_of(int classes) {
    std::vector<MixClass> mix;
    for (int i = 0; i < classes; ++i) {
        const bool is_block = i % 10 == 0;
        mix.push_back({.milli_cpu = 1000 + i * 7919 % 120'000,
                       .gpu_milli = is_block ? 1000 : 10 * (1 + i % 100),
                       .gpu_count = is_block ? 8 : 1,
                       .weight = 1 + i * 31 % 100});
    }
    return mix;
}

/// One candidate: the sums of a node change for one GPU, and the node is valued.
void score(benchmark::State& state, Churn churn) {
    const std::vector<std::int64_t> capacity(8, 1'000'000);
    const ValueModel model(mix_of(static_cast<int>(state.range(0))), capacity, churn);
    std::vector<NodeSum> nodes;
    for (int i = 0; i < 1024; ++i) {
        const std::vector<std::int32_t> free = {1000, 1000, i * 37 % 1001, i * 91 % 1001, 600};
        nodes.push_back(model.sum({.milli_cpu = i * 7919 % 96'000,
                                   .gpu_free_milli = free,
                                   .model = static_cast<std::uint32_t>(i % 8)}));
    }
    std::size_t at = 0;
    for (auto step : state) {
        static_cast<void>(step);
        NodeSum after = nodes[at++ % nodes.size()];
        after.worth += model.remainder(130) - model.remainder(600);
        after.free_milli -= 470;
        after.milli_cpu -= 6000;
        benchmark::DoNotOptimize(model.value(after) -
                                 model.rank_cost({.rank = at, .nodes = SIZE_MAX}));
    }
}
BENCHMARK_CAPTURE(score, still, Churn{})->Arg(91)->Arg(1000);
BENCHMARK_CAPTURE(score, churn, Churn{.percent = 100})->Arg(91)->Arg(1000);

void build(benchmark::State& state) {
    const std::vector<MixClass> mix = mix_of(static_cast<int>(state.range(0)));
    const std::vector<std::int64_t> capacity(8, 1'000'000);
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(ValueModel(mix, capacity));
    }
}
BENCHMARK(build)->Arg(91)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster
