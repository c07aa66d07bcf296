#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace muster {

void assert_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
    std::abort();
}

}  // namespace muster
