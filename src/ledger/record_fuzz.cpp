// Any bytes: no crash; what decodes is what encodes, to the very same bytes, and is valid JSON.
#include "ledger/record.h"

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto record = muster::decode_record(bytes);
    if (!record) {
        MUSTER_ASSERT(record.error().message.starts_with("byte "));
        return 0;
    }
    const std::string again =
        std::visit([](const auto& one) { return muster::encode_record(one); }, *record);
    MUSTER_ASSERT(again == bytes);
    MUSTER_ASSERT(muster::record_json(*record).starts_with('{'));
    return 0;
}
