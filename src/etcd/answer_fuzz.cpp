// Any bytes as an answer of etcd or as one of its values: no crash; what reads comes back the same.
#include "base/assert.h"
#include "etcd/address.h"
#include "etcd/key_value.h"
#include "etcd/layout.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace muster::etcd;
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const int status : {200, 429, 503}) {
        const GatewayAnswer answer{.status = status, .body = text};
        const auto range = read_range(answer);
        MUSTER_ASSERT(range.has_value() || !range.error().message.empty());
        const auto transaction = read_transaction(answer);
        if (transaction) { MUSTER_ASSERT(transaction->guard.size() <= 1); }
    }
    for (const bool with_payload : {false, true}) {
        const auto stored = decode_stored(1, text, with_payload);
        if (stored) { MUSTER_ASSERT(encode_stored(*stored, with_payload) == text); }
    }
    if (const auto end = decode_end(text)) {
        MUSTER_ASSERT(encode_end(*decode_end(encode_end(*end))) == encode_end(*end));
    }
    if (const auto address = read_address(text)) {
        MUSTER_ASSERT(*read_address(text_of(*address)) == *address);
    }
    return 0;
}
