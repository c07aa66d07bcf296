#include "lab/request_path.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view target(reinterpret_cast<const char*>(data), size);
    const auto path = muster::lab::parse_target(target);
    if (!path) { return 0; }
    for (const std::string& part : path->parts) { MUSTER_ASSERT(!part.empty()); }
    static_cast<void>(muster::lab::resource_path(path->parts));
    return 0;
}
