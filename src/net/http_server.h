// An HTTP/1.1 server: keep-alive, chunked answers that follow what happens, TLS with client
// certificates that are asked for but not demanded. One handler answers all; it runs in the loop's
// thread and does not block.
#pragma once

#include "base/result.h"
#include "net/event_loop.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::net {

/// PEM texts.
struct ServerTls {
    std::string certificate;
    std::string key;
    std::string client_authority;  // whose client certificates are taken; may be empty
};

struct HttpServerOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0 = any that is free
    std::unique_ptr<ServerTls> tls;
    std::size_t body_bytes_max = std::size_t{3} << 20;  // more is answered with 413
    std::size_t header_bytes_max = std::size_t{64} << 10;
    std::int64_t idle_ms = 300'000;   // between requests
    std::int64_t header_ms = 30'000;  // from the first byte of a request to its last
    /// Answers what is no request or breaks a limit, with that status; without it, in plain text.
    std::function<HttpResponse(int status)> refusal;
    /// Is told when connections must wait, for files have run out; once until one is taken again.
    std::function<void(const std::string&)> trouble;
};

class HttpServer {
public:
    using Handler = std::function<HttpResponse(HttpRequest)>;

    /// Listens; answers once the loop runs.
    static Result<HttpServer> listen(EventLoop& loop, HttpServerOptions options, Handler handler);
    ~HttpServer();
    HttpServer(HttpServer&&) noexcept;
    HttpServer& operator=(HttpServer&&) noexcept;

    [[nodiscard]] std::uint16_t port() const;
    /// Takes no more and cuts off who is connected.
    void close();

private:
    struct Impl;
    explicit HttpServer(std::shared_ptr<Impl> impl);
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net
