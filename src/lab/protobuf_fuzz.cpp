// Any bytes as a body in protobuf: no crash, no long work; what is read is JSON that can be written
// and read again. Not compared: Boost reads some numbers a hair off.
#include "base/assert.h"
#include "lab/schemas.h"
#include "lab/values.h"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto object = muster::lab::read_protobuf(bytes, muster::lab::built_in_wire_table());
    if (!object) {
        MUSTER_ASSERT(!object.error().message.empty());
        return 0;
    }
    boost::system::error_code wrong;
    const boost::json::value again = boost::json::parse(boost::json::serialize(*object), wrong);
    MUSTER_ASSERT(!wrong && again.is_object());
    MUSTER_ASSERT(muster::lab::is_within(again, muster::lab::body_levels_max));
    return 0;
}
