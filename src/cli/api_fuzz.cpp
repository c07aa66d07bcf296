// Any bytes as a request of the API: the first line is the target behind /api/v1, the rest the
// body. No crash, a status that is one, a body that is JSON. What would be worked out in a process
// of its own is asked of a replica that stands by.
#include "cli/api.h"

#include "base/assert.h"
#include "net/event_loop.h"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

muster::Engine engine_with_a_node() {
    muster::Engine engine;
    muster::NodeSpec node;
    node.name = "a";
    node.gpus.resize(2);
    MUSTER_ASSERT(engine.apply(muster::NodeSet{node}).has_value());
    return engine;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static muster::net::EventLoop loop;
    static const muster::Engine engine = engine_with_a_node();
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    muster::net::HttpRequest request{.method = "GET", .target = "/api/v1" + std::string(line)};
    if (line.size() < bytes.size()) {
        request.method = "POST";
        request.body = bytes.substr(line.size() + 1);
    }
    const bool is_trial = line.find('w') != std::string_view::npos || request.method == "POST" ||
                          line.find('%') != std::string_view::npos;
    muster::cli::Api api(loop, [&] {
        muster::cli::ApiState state;
        if (is_trial) {
            state.holder = "other";
        } else {
            state.engine = &engine;
        }
        return state;
    });
    MUSTER_ASSERT(muster::cli::Api::is_path("/api/v1"));
    if (!muster::cli::Api::is_path(request.target)) { return 0; }

    const muster::net::HttpResponse response = api.handle(request);

    MUSTER_ASSERT(response.later == nullptr);
    MUSTER_ASSERT(response.status >= 200 && response.status < 600);
    boost::system::error_code error;
    boost::json::parse(response.body, error);
    MUSTER_ASSERT(!error);
    return 0;
}
