// Fragmented GPU as FGD (ATC'23) measures it: the free GPU that a pod drawn from the job mix could
// not use. Of a node with free milli r_i in its GPUs, R their sum, class m cannot use
//
//   R                           when m needs no GPU, its models exclude the node, fewer than
//                               count_m GPUs have r_i >= milli_m, or the free CPU is below cpu_m;
//   the sum of r_i < milli_m    otherwise.
//
// The measure is the mean over the classes by their frequency; here it is kept as an exact integer,
// times the sum of the weights.
#pragma once

#include "engine/value.h"

#include <cstdint>
#include <span>
#include <vector>

namespace muster::sim {

class FragmentMeasure {
public:
    FragmentMeasure(std::span<const MixClass> mix, std::size_t models);

    /// Milli-GPU × weight().
    [[nodiscard]] std::int64_t fragmented(const NodeOpen& node) const;
    [[nodiscard]] std::int64_t weight() const { return weight_; }

private:
    struct CpuStep {
        std::int64_t milli_cpu = 0;
        std::int64_t weight = 0;  // of the classes that need this CPU or less
    };
    /// The classes that ask a model for the same GPUs, in ascending order of CPU.
    struct Group {
        std::int32_t gpu_milli = 0;
        std::int32_t gpu_count = 0;
        std::vector<CpuStep> steps;
    };

    std::int64_t weight_ = 0;
    std::vector<std::vector<Group>> by_model_;  // the last one: models without a number
};

}  // namespace muster::sim
