#include "net/listener.h"

#include "net/event_loop_impl.h"
#include "net/timer.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/core.h>

#include <cerrno>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace muster::net {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// A turn of the loop takes no more than this, so that a storm of clients starves nobody.
constexpr int accepts_max = 256;
// When files or memory have run out; a connection that ends frees some.
constexpr std::int64_t pause_ms = 50;

// A stream costs a file; the usual soft limit of 1024 is there for programs that use select().
void raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) { return; }
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct Listener::Impl : std::enable_shared_from_this<Listener::Impl> {
    tcp::acceptor acceptor;
    Timer pause;
    std::function<void(int)> accepted;
    std::function<void(const std::string&)> trouble;
    std::uint16_t port = 0;
    bool is_closed = false;
    bool is_told = false;

    Impl(EventLoop& loop, std::function<void(int)> taker,
         std::function<void(const std::string&)> told)
        : acceptor(*loop.impl().context),
          pause(loop),
          accepted(std::move(taker)),
          trouble(std::move(told)) {}

    boost::system::error_code open(const tcp::endpoint& endpoint) {
        boost::system::error_code error;
        acceptor.open(endpoint.protocol(), error);
        if (!error) { acceptor.set_option(tcp::acceptor::reuse_address(true), error); }
        if (!error) { acceptor.bind(endpoint, error); }
        if (!error) { acceptor.listen(tcp::acceptor::max_listen_connections, error); }
        if (!error) { acceptor.non_blocking(true, error); }
        if (!error) { port = acceptor.local_endpoint(error).port(); }
        return error;
    }

    void wait() {
        acceptor.async_wait(tcp::acceptor::wait_read,
                            [self = shared_from_this()](const boost::system::error_code& error) {
                                if (!error && !self->is_closed) { self->take(); }
                            });
    }

    void take() {
        for (int taken = 0; taken < accepts_max && !is_closed; ++taken) {
            const int socket =
                accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (socket >= 0) {
                is_told = false;
                accepted(socket);
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                break;
            } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                if (trouble && !std::exchange(is_told, true)) {
                    trouble(fmt::format("connections wait: {}",
                                        std::error_code(errno, std::system_category()).message()));
                }
                return pause.start(pause_ms, [this] { wait(); });
            }
        }
        if (!is_closed) { wait(); }
    }

    void close() {
        is_closed = true;
        pause.stop();
        boost::system::error_code ignored;
        acceptor.close(ignored);
    }
};

Result<Listener> Listener::open(EventLoop& loop, const std::string& address, std::uint16_t port,
                                std::function<void(int)> accepted,
                                std::function<void(const std::string&)> trouble) {
    boost::system::error_code error;
    const auto parsed = asio::ip::make_address(address, error);
    if (error) { return fail(Code::invalid, fmt::format("'{}' is no IP address", address)); }
    raise_file_limit();
    auto impl = std::make_shared<Impl>(loop, std::move(accepted), std::move(trouble));
    error = impl->open(tcp::endpoint(parsed, port));
    if (error) {
        return fail(Code::unavailable,
                    fmt::format("listen on {} port {}: {}", address, port, error.message()));
    }
    impl->wait();
    return Listener(std::move(impl));
}

Listener::Listener(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
}
Listener::~Listener() {
    if (impl_ != nullptr) { impl_->close(); }
}

std::uint16_t Listener::port() const { return impl_->port; }

}  // namespace muster::net
