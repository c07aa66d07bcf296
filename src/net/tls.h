// What a TLS connection is made with: certificates and whom to trust.
#pragma once

#include "base/result.h"
#include "net/http_client.h"
#include "net/http_server.h"

#include <memory>

namespace boost::asio::ssl {
class context;
}

namespace muster::net {

using TlsContext = boost::asio::ssl::context;

Result<std::shared_ptr<TlsContext>> make_server_tls(const ServerTls& options);
Result<std::shared_ptr<TlsContext>> make_client_tls(const HttpClientOptions& options);

}  // namespace muster::net
