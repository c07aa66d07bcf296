// A Transport to an API server over HTTP/1.1.
#pragma once

#include "kube/client.h"
#include "net/event_loop.h"

#include <cstdint>
#include <memory>
#include <string>

namespace muster::kube {

/// Where it is and who asks; PEM texts.
struct ServerAddress {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    bool is_tls = false;
    std::string authority;
    std::string certificate;
    std::string key;
    std::string token;  // never logged
    std::string user_agent = "muster";
};

/// The loop outlives it.
std::unique_ptr<Transport> connect_http(net::EventLoop& loop, ServerAddress address);

}  // namespace muster::kube
