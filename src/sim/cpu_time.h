// CPU time of this process, to tell what a run cost.
#pragma once

#include <cstdint>

namespace muster::sim {

std::int64_t cpu_nanoseconds();

}  // namespace muster::sim
