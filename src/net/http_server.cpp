#include "net/http_server.h"

#include "net/byte_stream.h"
#include "net/http_connection.h"
#include "net/listener.h"
#include "net/tls.h"

#include <optional>
#include <unordered_map>
#include <utility>

namespace muster::net {

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
    EventLoop& loop;
    std::shared_ptr<const HttpService> service;
    std::shared_ptr<TlsContext> tls;
    std::optional<Listener> listener;
    std::uint16_t port = 0;
    std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections;

    explicit Impl(EventLoop& its_loop) : loop(its_loop) {}

    void take(int socket) {
        auto stream = make_server_stream(loop, socket, tls);
        if (!stream) { return; }
        auto connection = std::make_shared<HttpConnection>(
            loop, service, std::move(*stream), [weak = weak_from_this()](HttpConnection* gone) {
                if (const auto self = weak.lock()) { self->connections.erase(gone); }
            });
        connections.emplace(connection.get(), connection);
        connection->start();
    }

    void close() {
        listener.reset();
        const auto open = std::exchange(connections, {});
        for (const auto& [key, connection] : open) { connection->cut(); }
    }
};

Result<HttpServer> HttpServer::listen(EventLoop& loop, HttpServerOptions options, Handler handler) {
    auto impl = std::make_shared<Impl>(loop);
    impl->service = std::make_shared<const HttpService>(
        HttpService{.limits = {.header_bytes_max = options.header_bytes_max,
                               .body_bytes_max = options.body_bytes_max},
                    .idle_ms = options.idle_ms,
                    .header_ms = options.header_ms,
                    .handler = std::move(handler),
                    .refusal = std::move(options.refusal)});
    if (options.tls != nullptr) {
        MUSTER_TRY(tls, make_server_tls(*options.tls));
        impl->tls = tls;
    }
    // The listener belongs to the server and calls nothing once it is gone.
    MUSTER_TRY(listener, Listener::open(
                             loop, options.address, options.port,
                             [server = impl.get()](int socket) { server->take(socket); },
                             std::move(options.trouble)));
    impl->port = listener.port();
    impl->listener.emplace(std::move(listener));
    return HttpServer(std::move(impl));
}

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
}
HttpServer::~HttpServer() {
    if (impl_ != nullptr) { impl_->close(); }
}

std::uint16_t HttpServer::port() const { return impl_->port; }
void HttpServer::close() { impl_->close(); }

}  // namespace muster::net
