// Queue admission and the gang check: all that can be said before a place is looked for. A cap's
// sum is only ever a proof of "no"; the proof of "yes" is a placement.
#pragma once

#include "engine/explain.h"

#include <optional>

namespace muster {

/// What nothing that is released could change: no such queue, more than a cap even when all is
/// empty, a level nobody knows, a linked gang that is not here, a task larger than any node.
std::optional<Refused> refuse_for_good(World& world, WorkloadId id);

/// The order of a strict queue is kept, and the caps leave room for the minimum now.
std::optional<Refused> admit(const World& world, WorkloadId id);

}  // namespace muster
