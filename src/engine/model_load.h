// How loaded each GPU model is by the work that names models, when that work spreads itself as
// evenly as it may.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster {

struct ModelDemand {
    std::uint64_t models = 0;  // bit i: model i will do
    std::int64_t milli = 0;    // GPU asked for
};

inline constexpr std::int64_t load_one = std::int64_t{1} << 16;

/// Demand over capacity of each model × load_one. Demand that no model with capacity serves is left
/// out.
[[nodiscard]] std::vector<std::int64_t> model_loads(std::span<const ModelDemand> demands,
                                                    std::span<const std::int64_t> capacity_milli);

}  // namespace muster
