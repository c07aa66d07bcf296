// Any bytes are a plan or an error; a plan that was read is written and read back as the same.
#include "codec/plan_text.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto plan = muster::read_plan({reinterpret_cast<const char*>(data), size});
    if (plan) {
        const auto again = muster::read_plan(muster::write_plan(*plan));
        MUSTER_ASSERT(again.has_value());
        MUSTER_ASSERT(*again == *plan);
    }
    return 0;
}
