// What would start a job now: the engine is asked again with one thing about it changed.
#pragma once

#include "engine/engine.h"
#include "model/plan.h"
#include "model/workload.h"

#include <string>
#include <vector>

namespace muster::cli {

struct Change {
    std::string kind;  // "fewer_tasks", "looser_level", "other_model", …
    std::string text;  // "8 tasks instead of 10"

    bool operator==(const Change&) const = default;
};

/// Every single change that was tried and would do, smallest of its kind. The engine holds the same
/// facts afterwards, but the job has yet to be looked at again.
std::vector<Change> changes_that_start(Engine& engine, const WorkloadSpec& workload,
                                       const Reason& reason);

}  // namespace muster::cli
