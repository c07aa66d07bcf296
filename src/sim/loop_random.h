// The whole loop under an adversary, from a seed: a cluster that runs pods, up to two would-be
// leaders on one ledger, messages that are lost, late, doubled and out of order, nodes that fail,
// other people's binds, clocks that jump, and processes that stop anywhere in a turn. Every law is
// checked on the way, and now and then all is quiet: then cluster, ledger and engine must agree.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

struct LoopRandomOptions {
    std::uint64_t seed = 1;
    std::int64_t steps = 1'000;
};

struct LoopRandomOutcome {
    std::uint64_t seed = 0;
    std::int64_t steps = 0;   // that were run
    std::int64_t cycles = 0;  // on record
    std::int64_t leaders = 0;
    std::int64_t crashes = 0;
    std::int64_t fenced = 0;  // leaders that were told that another one leads
    std::int64_t binds = 0;   // that took effect
    std::int64_t evictions = 0;
    std::int64_t quiets = 0;          // after which all agreed
    std::vector<std::string> broken;  // empty = all is well
};

Result<LoopRandomOutcome> run_loop_random(const LoopRandomOptions& options);

}  // namespace muster
