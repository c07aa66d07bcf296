// One cycle: apply what the facts changed, then decide every workload that was woken, in order:
// admit → gang → place → commit, or a reason. Preemption, reclaim, backfill and repair will stand
// between gang and place; today a gang that a fact broke is completed in its cycle or released.
#pragma once

#include "engine/explain.h"
#include "engine/trial.h"
#include "model/plan.h"

#include <string_view>
#include <variant>

namespace muster {

Plan run_cycle(World& world);

/// What a cycle would answer now for a workload and what it is linked to; undone before it returns.
std::variant<Placement, Reason> answer_for(World& world, WorkloadId id);

}  // namespace muster
