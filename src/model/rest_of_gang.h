// A way to say in a TaskGone that nothing more comes of a gang.
#pragma once

#include <cstdint>

namespace muster {

/// In the place of a task: what a running gang lacks will not come, be it tasks that are placed and
/// were never seen there or others in the stead of some that have ended. It stops as a whole.
inline constexpr std::uint32_t rest_of_gang = UINT32_MAX;

}  // namespace muster
