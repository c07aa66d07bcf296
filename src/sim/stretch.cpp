#include "sim/stretch.h"

namespace muster::sim {

namespace {

Reach reach_of_nodes(std::int32_t first, std::int32_t last, const Stretch& stretch) {
    if (first == last) { return Reach::nvlink; }
    const std::int32_t leaf = stretch.nodes_per_leaf;
    return leaf == 0 || first / leaf == last / leaf ? Reach::leaf : Reach::spine;
}

}  // namespace

std::int64_t stretched_run_s(const Job& job, const Machine& machine, std::span<const JobPart> parts,
                             const Stretch& stretch) {
    const std::int32_t sensitivity =
        job.sensitivity_percent >= 0 ? job.sensitivity_percent : stretch.sensitivity_percent;
    if (sensitivity == 0 || job.size < 2 || parts.empty()) { return job.run_s; }
    std::int32_t first = parts.front().node;
    std::int32_t last = first;
    for (const JobPart& part : parts) {
        first = std::min(first, part.node);
        last = std::max(last, part.node);
    }
    const auto nodes_needed =
        static_cast<std::int32_t>((job.size + machine.per_node - 1) / machine.per_node);
    const Reach best = reach_of_nodes(0, nodes_needed - 1, stretch);
    const Reach actual = reach_of_nodes(first, last, stretch);
    return (job.run_s * expected_slowdown_percent(*stretch.product, best, actual, sensitivity) +
            50) /
           100;
}

}  // namespace muster::sim
