// MUSTER_ASSERT: a broken invariant is our fault and ends the process, in every build.
#pragma once

namespace muster {

[[noreturn]] void assert_failed(const char* condition, const char* file, int line);

}  // namespace muster

#define MUSTER_ASSERT(condition)                                                                   \
    (__builtin_expect(static_cast<bool>(condition), 1)                                             \
         ? static_cast<void>(0)                                                                    \
         : ::muster::assert_failed(#condition, __FILE__, __LINE__))
