#include "lab/run_plan.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const muster::lab::RunPlan plan = muster::lab::plan_of_script(text);
    MUSTER_ASSERT(!plan.milliseconds || *plan.milliseconds >= 0);
    MUSTER_ASSERT(plan.exit_code >= 0);
    MUSTER_ASSERT(plan.exit_code <= 255);
    return 0;
}
