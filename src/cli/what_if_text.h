// What is told of a what-if, for people and for programs.
#pragma once

#include "cli/table.h"
#include "sim/what_if.h"

#include <string>

namespace muster::cli {

std::string what_if_json(const sim::WhatIf& what);
std::string what_if_table(const sim::WhatIf& what, const Paint& paint);

}  // namespace muster::cli
