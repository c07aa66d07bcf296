#include "sim/cpu_time.h"

#include <ctime>

namespace muster::sim {

std::int64_t cpu_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace muster::sim
