// A what-if as one page: both policies beside each other, HTML with everything inside.
#pragma once

#include "sim/what_if.h"

#include <string>

namespace muster::sim {

std::string what_if_report(const WhatIf& what);

}  // namespace muster::sim
