#include "sim/reference/job_pool.h"

#include "base/assert.h"

#include <algorithm>

namespace muster::sim {

JobPool::JobPool(const Machine& machine)
    : per_node_(machine.per_node),
      free_of_(static_cast<std::size_t>(machine.nodes), machine.per_node),
      free_(machine.capacity()),
      whole_nodes_(machine.nodes) {}

void JobPool::take(std::int64_t size, std::vector<JobPart>& parts) {
    MUSTER_ASSERT(fits(size));
    std::int64_t whole = size > per_node_ ? size / per_node_ : 0;
    const std::int64_t rest = size - whole * per_node_;
    for (std::size_t node = 0; whole > 0; ++node) {
        if (free_of_[node] != per_node_) { continue; }
        take_from(node, per_node_, parts);
        --whole;
    }
    if (rest > 0) { take_from(size > per_node_ ? roomiest() : tightest(rest), rest, parts); }
    find_largest_part();
}

std::size_t JobPool::roomiest() const {
    return static_cast<std::size_t>(std::ranges::max_element(free_of_) - free_of_.begin());
}

std::size_t JobPool::tightest(std::int64_t size) const {
    std::size_t best = free_of_.size();
    for (std::size_t node = 0; node < free_of_.size(); ++node) {
        const bool is_better = best == free_of_.size() || free_of_[node] < free_of_[best];
        if (free_of_[node] >= size && is_better) { best = node; }
    }
    return best;
}

void JobPool::take_from(std::size_t node, std::int64_t count, std::vector<JobPart>& parts) {
    std::int64_t& free = free_of_[node];
    whole_nodes_ -= free == per_node_ ? 1 : 0;
    free -= count;
    free_ -= count;
    MUSTER_ASSERT(free >= 0);
    parts.push_back({.node = static_cast<std::int32_t>(node), .count = count});
}

void JobPool::give(std::span<const JobPart> parts) {
    for (const JobPart& part : parts) {
        std::int64_t& free = free_of_[static_cast<std::size_t>(part.node)];
        free += part.count;
        free_ += part.count;
        MUSTER_ASSERT(free <= per_node_);
        whole_nodes_ += free == per_node_ ? 1 : 0;
    }
    find_largest_part();
}

void JobPool::find_largest_part() {
    largest_part_ = 0;
    for (const std::int64_t free : free_of_) {
        if (free < per_node_) { largest_part_ = std::max(largest_part_, free); }
    }
}

}  // namespace muster::sim
