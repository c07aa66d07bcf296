// The openb pods with their run times (sim/departures.h), placed by a reference policy.
#pragma once

#include "base/result.h"
#include "sim/departures.h"
#include "sim/reference/replay.h"

namespace muster::sim {

Result<DepartureResult> replay_departures(const OpenbStudy& study, const DepartureTrace& trace,
                                          const ReplayPolicy& policy, int seed);

}  // namespace muster::sim
