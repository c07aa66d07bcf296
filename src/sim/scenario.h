// Runs scenario text against an engine of its own and tells every place where what came is not
// what was expected, or where a cycle broke a law of the design.
#pragma once

#include "base/result.h"
#include "codec/scenario.h"
#include "model/plan.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::sim {

struct Mismatch {
    std::size_t line = 0;
    std::string text;  // several lines; the first says what was expected

    bool operator==(const Mismatch&) const = default;
};

struct ScenarioRun {
    std::vector<Mismatch> mismatches;
    std::vector<Plan> plans;
    std::size_t expectations = 0;
    std::string updated;  // the text with its `|` blocks as they came
};

/// An error only when the text can't be read.
Result<ScenarioRun> run_scenario(std::string_view file, std::string_view text);

/// `file:12: expect train runs` and so on, then the line counts.
std::string describe(std::string_view file, const ScenarioRun& run);

}  // namespace muster::sim
