// A Transport to an API server over HTTP/1.1.
#pragma once

#include "kube/client.h"
#include "kube/credentials.h"
#include "net/event_loop.h"
#include "net/http_client.h"

#include <memory>
#include <string>

namespace muster::kube {

struct ServerAddress {
    net::HttpClientOptions http;
    std::string path;                          // in front of all others: "/prefix"
    std::string token;                         // never logged
    std::shared_ptr<Credentials> credentials;  // in place of the token and http's certificate
    std::string user_agent = "muster";
};

/// The loop outlives it.
std::unique_ptr<Transport> connect_http(net::EventLoop& loop, ServerAddress address);

}  // namespace muster::kube
