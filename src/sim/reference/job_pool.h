// The pool of the published protocols: nodes alike; a job that fits on one node takes the node with
// the least free that fits (the lowest index of those); a larger one takes wholly free nodes, and
// its rest comes from the node with the most free beside them.
#pragma once

#include "sim/job_run.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::sim {

class JobPool {
public:
    explicit JobPool(const Machine& machine);

    [[nodiscard]] std::int64_t free() const { return free_; }
    [[nodiscard]] bool fits(std::int64_t size) const {
        if (size <= per_node_) {
            return size <= std::max(largest_part_, whole_nodes_ > 0 ? per_node_ : 0);
        }
        const std::int64_t whole = size / per_node_;
        return whole < whole_nodes_ || (whole == whole_nodes_ && size % per_node_ <= largest_part_);
    }
    /// Only what fits. The parts are added to `parts`.
    void take(std::int64_t size, std::vector<JobPart>& parts);
    void give(std::span<const JobPart> parts);

private:
    [[nodiscard]] std::size_t roomiest() const;
    [[nodiscard]] std::size_t tightest(std::int64_t size) const;
    void take_from(std::size_t node, std::int64_t count, std::vector<JobPart>& parts);
    void find_largest_part();

    std::int64_t per_node_;
    std::vector<std::int64_t> free_of_;
    std::int64_t free_ = 0;
    std::int64_t whole_nodes_ = 0;   // wholly free
    std::int64_t largest_part_ = 0;  // the most that is free on one of the others
};

}  // namespace muster::sim
