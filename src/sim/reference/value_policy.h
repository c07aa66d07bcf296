// The engine's placement value driven by the reference replay: every node scored, no index. It is
// what the engine's own run is measured against, and what shows that the value beats its peers.
#pragma once

#include "engine/mix.h"
#include "engine/value.h"
#include "sim/reference/replay.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace muster::sim {

struct OpenbStudy;

/// The whole list as the mix, known beforehand.
[[nodiscard]] std::vector<MixClass> declared_mix(const OpenbStudy& study);

/// Places by the declared mix (P1).
[[nodiscard]] ReplayPolicy declared_value_policy(const OpenbStudy& study, Churn churn = {});
/// Places by the mix and the churn seen so far (P2).
[[nodiscard]] ReplayPolicy learned_value_policy(const OpenbStudy& study);

}  // namespace muster::sim
