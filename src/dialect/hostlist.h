// Slurm's way to write many names: "n[001-018,020],gpu[1-2]x[0-3]". Pure.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::dialect {

inline constexpr std::size_t hostlist_names_max = 200'000;

/// The names in the order in which they are written, repeats included; more than `names_max` are
/// refused. A number keeps the width of its lower bound.
Result<std::vector<std::string>> expand_hostlist(std::string_view text,
                                                 std::size_t names_max = hostlist_names_max);

}  // namespace muster::dialect
