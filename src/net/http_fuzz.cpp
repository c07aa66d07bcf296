// Any bytes: no crash, the limits hold, and how the bytes are cut changes nothing. The first byte
// says how they are cut.
#include "base/assert.h"
#include "net/http_parser.h"
#include "net/http_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr muster::net::HttpLimits limits{.header_bytes_max = 256, .body_bytes_max = 64};

std::string text_of(const std::vector<muster::net::HttpHeader>& headers) {
    std::string text;
    for (const auto& header : headers) { text += header.name + '=' + header.value + '\n'; }
    MUSTER_ASSERT(text.size() <= 2 * limits.header_bytes_max);
    return text;
}

// All that is asked for. Only when the rest is refused depends on how it is cut: what is wrong in a
// header may be told at once, or when all of it is there.
std::string requests(std::string_view bytes, std::size_t cut) {
    using Step = muster::net::RequestParser::Step;
    muster::net::RequestParser parser(limits);
    std::string found;
    while (!bytes.empty()) {
        parser.feed(bytes.substr(0, cut));
        bytes.remove_prefix(std::min(cut, bytes.size()));
        Step step = parser.step();
        while (step == Step::request) {
            const muster::net::HttpRequest request = parser.take();
            MUSTER_ASSERT(!request.method.empty());
            MUSTER_ASSERT(request.body.size() <= limits.body_bytes_max);
            found += request.method + ' ' + request.target + '\n' + text_of(request.headers) +
                     request.body + (parser.keeps_alive() ? '+' : '-');
            step = parser.step();
        }
        if (step == Step::refused) {
            MUSTER_ASSERT(parser.refusal() >= 400);
            return found;
        }
    }
    return found;
}

std::string answer(std::string_view bytes, std::size_t cut, bool is_followed) {
    using Step = muster::net::ResponseParser::Step;
    muster::net::ResponseParser parser(limits, false);
    if (is_followed) { parser.follow(); }
    std::string pieces;
    Step step = Step::more;
    while (step == Step::more && !bytes.empty()) {
        parser.feed(bytes.substr(0, cut));
        bytes.remove_prefix(std::min(cut, bytes.size()));
        step = parser.step();
        if (parser.is_piecewise()) { pieces += parser.take_piece(); }
    }
    if (step == Step::more) {
        parser.end();
        step = parser.step();
        MUSTER_ASSERT(step != Step::more);
    }
    if (step == Step::failed) { return "failed"; }
    const muster::net::HttpResponse response = parser.take();
    MUSTER_ASSERT(response.body.size() <= limits.body_bytes_max);
    return text_of(response.headers) + pieces + response.body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) { return 0; }
    const std::size_t cut = 1 + data[0] % 16;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    const std::string asked = requests(bytes, cut);
    const std::string answered = answer(bytes, cut, false);
    const std::string followed = answer(bytes, cut, true);
    // Where exactly a header is too long does depend on the cuts.
    if (size > limits.header_bytes_max) { return 0; }
    MUSTER_ASSERT(requests(bytes, size) == asked);
    MUSTER_ASSERT(answer(bytes, size, false) == answered);
    MUSTER_ASSERT(answer(bytes, size, true) == followed);
    return 0;
}
