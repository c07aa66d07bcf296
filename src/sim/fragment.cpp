#include "sim/fragment.h"

#include <algorithm>
#include <map>
#include <utility>

namespace muster::sim {

FragmentMeasure::FragmentMeasure(std::span<const MixClass> mix, std::size_t models)
    : by_model_(models + 1) {
    for (const MixClass& job : mix) { weight_ += job.weight; }
    for (std::size_t model = 0; model <= models; ++model) {
        std::map<std::pair<std::int32_t, std::int32_t>, std::map<std::int64_t, std::int64_t>>
            groups;
        for (const MixClass& job : mix) {
            const bool is_allowed =
                job.models == any_model || (model < models && (job.models >> model & 1) != 0);
            if (job.gpu_count == 0 || !is_allowed) { continue; }
            groups[{job.gpu_milli, job.gpu_count}][job.milli_cpu] += job.weight;
        }
        for (const auto& [key, by_cpu] : groups) {
            Group group{.gpu_milli = key.first, .gpu_count = key.second, .steps = {}};
            std::int64_t sum = 0;
            for (const auto& [milli_cpu, weight] : by_cpu) {
                sum += weight;
                group.steps.push_back({.milli_cpu = milli_cpu, .weight = sum});
            }
            by_model_[model].push_back(std::move(group));
        }
    }
}

std::int64_t FragmentMeasure::fragmented(const NodeOpen& node) const {
    std::int64_t free_milli = 0;
    for (const std::int32_t free : node.gpu_free_milli) { free_milli += free; }
    std::int64_t usable = 0;  // × weight
    for (const Group& group : by_model_[std::min<std::size_t>(node.model, by_model_.size() - 1)]) {
        std::int64_t large = 0;
        std::int32_t count = 0;
        for (const std::int32_t free : node.gpu_free_milli) {
            const bool is_large = free >= group.gpu_milli;
            large += is_large ? free : 0;
            count += is_large ? 1 : 0;
        }
        if (count < group.gpu_count) { continue; }
        std::int64_t weight = 0;
        for (const CpuStep& step : group.steps) {
            if (step.milli_cpu > node.milli_cpu) { break; }
            weight = step.weight;
        }
        usable += weight * large;
    }
    return free_milli * weight_ - usable;
}

}  // namespace muster::sim
