// The gateway over HTTP: several endpoints, of which the one that answered last is asked first.
#pragma once

#include "etcd/address.h"
#include "etcd/gateway.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::net {
class EventLoop;
}

namespace muster::etcd {

/// PEM texts.
struct TlsTexts {
    std::string authority;    // whose server certificates are taken
    std::string certificate;  // of this client; may be empty
    std::string key;
};

struct GatewayOptions {
    Address address;
    /// Asked at the start and again after a failure, for certificates are renewed; none: plain.
    std::function<Result<TlsTexts>()> read_tls;
    std::int64_t wait_ms = 5'000;    // of one question, over all endpoints
    net::EventLoop* loop = nullptr;  // none: its own, which turns only while something is asked
};

std::unique_ptr<Gateway> connect_gateway(GatewayOptions options);

}  // namespace muster::etcd
