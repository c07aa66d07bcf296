#include "sim/reference/bestfit.h"

#include <cmath>
#include <numeric>

namespace muster::sim {

Scored best_fit(const ReferenceNode& node, const Request& request) {
    const std::int64_t gpu =
        std::accumulate(node.gpu_free_milli.begin(), node.gpu_free_milli.end(), std::int64_t{0}) -
        request.gpu_demand();
    const auto cpu = static_cast<double>(node.milli_cpu - request.milli_cpu);
    const double left = 0.5 * cpu / 128000.0 + 0.5 * static_cast<double>(gpu) / 8000.0;
    return {.score = static_cast<std::int64_t>(std::floor(100.0 * (1.0 - left))),
            .gpu = node.tightest_gpu(request)};
}

}  // namespace muster::sim
