// What distance costs a placed gang: the rung of the bandwidth ladder that its farthest pair stands
// on, against the best rung that it could have had.
#pragma once

#include "engine/world.h"
#include "model/gpu_catalog.h"
#include "model/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::cli {

struct Slowdown {
    std::string product;
    Reach reach = Reach::nvlink;  // of the farthest pair
    std::int64_t gbs = 0;         // all-reduce, per GPU
    std::int64_t best_gbs = 0;    // all of it on NVLink of one node
    std::int64_t percent = 100;   // run time against that
    bool is_known_product = false;

    bool operator==(const Slowdown&) const = default;
};

/// None for fewer than two whole GPUs: nobody to talk to.
std::optional<Slowdown> slowdown_of(const Placement& placement, const World& world,
                                    std::int32_t sensitivity_percent);

/// "one leaf switch"
std::string_view words_of(Reach reach);

}  // namespace muster::cli
