// The openb placement study run by the engine itself: its facts, its cycle, its plan. Nothing is
// decided here.
#pragma once

#include "base/result.h"
#include "sim/placement_measure.h"
#include "sim/recorder.h"

#include <cstdint>

namespace muster::sim {

struct OpenbStudy;

struct EngineReplayOptions {
    int seed = 42;
    bool is_mix_declared = true;  // else learned from the arrivals
    bool measure_fragments = false;
    RecordTo record = {};
};

struct EngineReplayResult {
    PlacementMeasure measure;
    std::int64_t arrived = 0;
    std::int64_t placed = 0;
    std::int64_t cpu_ns = 0;  // of this process, from the first arrival to the last decision
};

Result<EngineReplayResult> replay_with_engine(const OpenbStudy& study, EngineReplayOptions options);

struct DepartureTrace;
struct DepartureResult;

/// The same with pods that leave (departures.h); `seed` picks the node ranks, 0 to 9.
Result<DepartureResult> replay_departures_with_engine(const OpenbStudy& study,
                                                      const DepartureTrace& trace,
                                                      EngineReplayOptions options);

}  // namespace muster::sim
