// Fragmentation gradient descent (FGD, ATC'23): place where the fragmented GPU grows least.
//
// The score of a node is floor(100 / (1 + exp(-(before - after) / 1000))) with its fragmented milli
// before and after. A share is tried on each GPU and keeps the first best; whole GPUs come from the
// wholly free ones.
#pragma once

#include "sim/fragment.h"
#include "sim/reference/cluster.h"

#include <vector>

namespace muster::sim {

class Fgd {
public:
    explicit Fgd(FragmentMeasure measure) : measure_(std::move(measure)) {}

    Scored operator()(const ReferenceNode& node, const Request& request);

private:
    struct Before {
        std::uint64_t version = UINT64_MAX;
        std::int64_t fragmented = 0;
    };
    std::int64_t before(const ReferenceNode& node);
    [[nodiscard]] std::int64_t score(std::int64_t before, std::int64_t after) const;

    FragmentMeasure measure_;
    std::vector<Before> before_;         // by rank
    std::vector<std::int32_t> scratch_;  // the GPUs of a node as they would be
};

}  // namespace muster::sim
