// Queue admission and the gang check: all that can be said before a place is looked for. A cap's
// sum is only ever a proof of "no"; the proof of "yes" is a placement.
#pragma once

#include "engine/explain.h"

#include <optional>

namespace muster {

/// The queue is there, the caps leave room for the minimum, and the order of a strict queue is
/// kept.
std::optional<Refused> admit(World& world, WorkloadId id);

/// The levels exist and the linked gangs are here.
std::optional<Refused> check_gang(const World& world, WorkloadId id);

}  // namespace muster
