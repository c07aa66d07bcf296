#include "kube/link.h"

#include "net/event_loop.h"

namespace muster::kube {

Link connect(const ServerAddress& address) {
    auto loop = std::make_shared<net::EventLoop>();
    auto transport = connect_http(*loop, address);
    return {.pump = [loop](std::int64_t wait) { loop->run_some(wait); },
            .transport = std::move(transport)};
}

}  // namespace muster::kube
