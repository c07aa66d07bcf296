#include "sim/reference/fgd.h"

#include <algorithm>
#include <cmath>

namespace muster::sim {

std::int64_t Fgd::before(const ReferenceNode& node) {
    if (before_.size() <= node.rank) { before_.resize(node.rank + 1); }
    Before& known = before_[node.rank];
    if (known.version != node.version) {
        known = {.version = node.version, .fragmented = measure_.fragmented(node.open())};
    }
    return known.fragmented;
}

std::int64_t Fgd::score(std::int64_t before, std::int64_t after) const {
    const double gain =
        static_cast<double>(before - after) / static_cast<double>(measure_.weight());
    return static_cast<std::int64_t>(std::floor(100.0 / (1.0 + std::exp(-gain / 1000.0))));
}

Scored Fgd::operator()(const ReferenceNode& node, const Request& request) {
    const std::int64_t now = before(node);
    scratch_ = node.gpu_free_milli;
    const NodeOpen after{.milli_cpu = node.milli_cpu - request.milli_cpu,
                         .gpu_free_milli = scratch_,
                         .model = node.model};
    if (request.gpu_count != 1 || request.gpu_milli >= gpu_milli_whole) {
        std::int32_t left = request.gpu_count;
        for (std::int32_t& free : scratch_) {
            if (left == 0 || free < request.gpu_milli) { continue; }
            free -= request.gpu_milli;
            --left;
        }
        return {.score = score(now, measure_.fragmented(after)), .gpu = 0};
    }

    Scored best{.score = -1};
    for (std::size_t i = 0; i < scratch_.size(); ++i) {
        const std::int32_t free = scratch_[i];
        const auto twin = std::find(scratch_.begin(), scratch_.end(), free);
        if (free < request.gpu_milli || twin - scratch_.begin() != static_cast<std::ptrdiff_t>(i)) {
            continue;
        }
        scratch_[i] = free - request.gpu_milli;
        const std::int64_t here = score(now, measure_.fragmented(after));
        scratch_[i] = free;
        if (here > best.score) { best = {.score = here, .gpu = i}; }
    }
    return best;
}

}  // namespace muster::sim
