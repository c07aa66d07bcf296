// What a trace asks for, as the placement studies see it.
#pragma once

#include "engine/value.h"

#include <compare>
#include <cstdint>

namespace muster::sim {

struct Request {
    std::int64_t milli_cpu = 0;
    std::int64_t memory_mib = 0;
    std::int32_t gpu_count = 0;
    std::int32_t gpu_milli = 0;  // of each GPU; below 1,000 only when gpu_count is 1
    std::uint64_t models = any_model;

    auto operator<=>(const Request&) const = default;

    [[nodiscard]] std::int64_t gpu_demand() const {
        return static_cast<std::int64_t>(gpu_count) * gpu_milli;
    }
    [[nodiscard]] MixClass mix_class() const {
        return {.milli_cpu = milli_cpu,
                .gpu_milli = gpu_milli,
                .gpu_count = gpu_count,
                .models = models,
                .weight = 1};
    }
};

}  // namespace muster::sim
