#include "sim/fragment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace muster::sim {
namespace {

/// The definition of the header, word by word.
std::int64_t by_hand(std::span<const MixClass> mix, const NodeOpen& node) {
    std::int64_t sum = 0;
    for (const MixClass& job : mix) {
        std::int64_t all = 0;
        std::int64_t below = 0;
        std::int32_t count = 0;
        for (const std::int32_t free : node.gpu_free_milli) {
            all += free;
            if (free < job.gpu_milli) { below += free; }
            if (free >= job.gpu_milli) { ++count; }
        }
        const bool cannot = job.gpu_count == 0 ||
                            (job.models != any_model && (job.models >> node.model & 1) == 0) ||
                            count < job.gpu_count || node.milli_cpu < job.milli_cpu;
        sum += job.weight * (cannot ? all : below);
    }
    return sum;
}

RC_GTEST_PROP(FragmentMeasure, IsTheDefinition, ()) {
    std::vector<MixClass> mix;
    const auto count = *rc::gen::inRange(1, 30);
    for (int i = 0; i < count; ++i) {
        const auto gpus = *rc::gen::inRange(0, 4);
        mix.push_back(
            {.milli_cpu = *rc::gen::inRange<std::int64_t>(0, 10),
             .gpu_milli = gpus == 0 ? 0 : *rc::gen::inRange(1, 1001),
             .gpu_count = gpus,
             .models = *rc::gen::elementOf(std::vector<std::uint64_t>{any_model, 0b01, 0b10}),
             .weight = *rc::gen::inRange<std::int64_t>(1, 100)});
    }
    const auto free = *rc::gen::container<std::vector<std::int32_t>>(
        *rc::gen::inRange<std::size_t>(0, 9), rc::gen::inRange(0, 1001));
    const NodeOpen node{.milli_cpu = *rc::gen::inRange<std::int64_t>(0, 12),
                        .gpu_free_milli = free,
                        .model = *rc::gen::inRange<std::uint32_t>(0, 2)};

    RC_ASSERT(FragmentMeasure(mix, 2).fragmented(node) == by_hand(mix, node));
}

}  // namespace
}  // namespace muster::sim
