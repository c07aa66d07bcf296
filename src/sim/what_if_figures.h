// A what-if as rows of text, for table and page alike.
#pragma once

#include "sim/what_if.h"

#include <array>
#include <string>
#include <vector>

namespace muster::sim {

struct Figure {
    std::string name;
    std::array<std::string, 3> values;  // in the log, its policy again, the other one
    std::string difference;             // between the last two
};

std::vector<Figure> figures_of(const WhatIf& what);
/// Mean waits, by queue; of the queues with the most jobs.
std::vector<Figure> queue_figures_of(const WhatIf& what);

}  // namespace muster::sim
