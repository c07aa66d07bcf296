// Any bytes of a client: no crash, the limit holds, and how they are cut changes nothing. The first
// byte says how they are cut.
#include "net/websocket.h"

#include "base/assert.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t message_bytes_max = 300;

std::string read_all(std::string_view bytes, std::size_t cut) {
    using Step = muster::net::WebSocketReader::Step;
    muster::net::WebSocketReader reader(message_bytes_max);
    std::string out;
    while (!bytes.empty()) {
        reader.feed(bytes.substr(0, cut));
        bytes.remove_prefix(std::min(cut, bytes.size()));
        for (Step step = reader.step(); step != Step::more; step = reader.step()) {
            if (step == Step::closed || step == Step::broken) {
                return out + (step == Step::closed ? "closed " : "broken ") +
                       std::to_string(reader.close_code());
            }
            const std::string found = reader.take();
            MUSTER_ASSERT(found.size() <= message_bytes_max);
            out += (step == Step::ping ? "ping " : "message ") + found + '\n';
        }
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) { return 0; }
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    MUSTER_ASSERT(read_all(bytes, 1 + data[0] % 16) == read_all(bytes, size));
    return 0;
}
