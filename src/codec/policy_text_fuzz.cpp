// Any bytes: no crash; what was read is what is written, and its bytes are canonical.
#include "codec/policy_text.h"

#include "base/assert.h"
#include "codec/binary.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto policy = muster::read_policy({"fuzz", {reinterpret_cast<const char*>(data), size}});
    if (!policy) {
        MUSTER_ASSERT(policy.error().message.starts_with("fuzz"));
        return 0;
    }
    const auto again = muster::read_policy({"again", muster::write_policy(*policy)});
    MUSTER_ASSERT(again.has_value());
    MUSTER_ASSERT(*again == *policy);
    MUSTER_ASSERT(muster::encode(*again) == muster::encode(*policy));
    return 0;
}
