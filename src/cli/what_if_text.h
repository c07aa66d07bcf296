// What is told of a what-if, for people and for programs.
#pragma once

#include "cli/table.h"
#include "sim/what_if_figures.h"

#include <string>
#include <vector>

namespace muster::cli {

/// The log, its policy again and the other one side by side.
Table figure_table(const sim::WhatIf& what, std::string first, std::vector<sim::Figure> figures);
std::string what_if_json(const sim::WhatIf& what);
std::string what_if_table(const sim::WhatIf& what, const Paint& paint);

}  // namespace muster::cli
