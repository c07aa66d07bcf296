// The FGD study's run for a reference policy: the pods of a list arrive one by one, never leave and
// are tried once.
#pragma once

#include "base/result.h"
#include "sim/fragment.h"
#include "sim/placement_measure.h"
#include "sim/reference/cluster.h"

#include <cstdint>
#include <functional>

namespace muster::sim {

struct OpenbStudy;

struct ReplayPolicy {
    Scorer score;
    /// Told each request before it is placed; true when earlier scores no longer hold.
    std::function<bool(const Request&)> learn = {};
    /// Told when a pod has left.
    std::function<void()> leave = {};
};

struct ReplayOptions {
    int seed = 42;
    bool measure_fragments = false;
};

struct ReplayResult {
    PlacementMeasure measure;
    std::int64_t arrived = 0;
    std::int64_t placed = 0;
    double cpu_seconds = 0;  // of this process, measures included
};

Result<ReplayResult> replay(const OpenbStudy& study, const ReplayPolicy& policy,
                            ReplayOptions options);

}  // namespace muster::sim
