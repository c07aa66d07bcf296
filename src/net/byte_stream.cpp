#include "net/byte_stream.h"

#include "net/event_loop_impl.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace muster::net {

namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
namespace ssl_error = boost::asio::ssl::error;
using asio::ip::tcp;
using TlsSocket = ssl::stream<tcp::socket>;
using Failure = boost::system::error_code;

constexpr std::size_t read_bytes_max = std::size_t{16} << 10;
constexpr std::chrono::seconds goodbye_max{2};

tl::unexpected<Error> unavailable(const Failure& error) {
    return fail(Code::unavailable, error.message());
}

bool is_end(const Failure& error) {
    // A peer that ends TLS without its goodbye has ended all the same: HTTP has lengths of its own.
    return error == asio::error::eof || error == ssl_error::stream_truncated;
}

std::string common_name(SSL* session) {
    X509* const certificate = SSL_get0_peer_certificate(session);
    if (certificate == nullptr || SSL_get_verify_result(session) != X509_V_OK) { return {}; }
    X509_NAME* const subject = X509_get_subject_name(certificate);
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0) { return {}; }
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) { return {}; }
    std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    return name.find('\0') == std::string::npos ? name : std::string();
}

tcp::socket& tcp_of(tcp::socket& socket) { return socket; }
tcp::socket& tcp_of(TlsSocket& socket) { return socket.next_layer(); }

// Holds what the system's reads and writes point to, so it outlives the stream until they are done.
template <class Socket>
struct Connection : std::enable_shared_from_this<Connection<Socket>> {
    Socket socket;
    std::shared_ptr<TlsContext> tls;
    tcp::resolver resolver;
    asio::steady_timer goodbye;
    std::string host;  // empty on the server's side
    std::uint16_t port = 0;
    std::string tls_name;
    bool is_cut = false;
    std::array<char, read_bytes_max> in{};
    std::string head;
    std::string body;
    ByteStream::Opened opened;
    ByteStream::Read read_done;
    ByteStream::Written written;

    template <class... Arguments>
    explicit Connection(asio::io_context& context, std::shared_ptr<TlsContext> made_with,
                        Arguments&&... arguments)
        : socket(std::forward<Arguments>(arguments)...),
          tls(std::move(made_with)),
          resolver(context),
          goodbye(context) {}

    void resolve() {
        Failure no_literal;
        const auto literal = asio::ip::make_address(host, no_literal);
        if (!no_literal) {  // the resolver would start a thread
            const tcp::endpoint only(literal, port);
            return connect(tcp::resolver::results_type::create(only, host, std::to_string(port)));
        }
        resolver.async_resolve(host, std::to_string(port), tcp::resolver::numeric_service,
                               [self = this->shared_from_this()](
                                   const Failure& error, const tcp::resolver::results_type& found) {
                                   if (self->is_cut) { return; }
                                   if (error) { return self->end_open(unavailable(error)); }
                                   self->connect(found);
                               });
    }

    void connect(const tcp::resolver::results_type& found) {
        asio::async_connect(
            tcp_of(socket), found,
            [self = this->shared_from_this()](const Failure& error, const tcp::endpoint&) {
                if (self->is_cut) { return; }
                if (error) { return self->end_open(unavailable(error)); }
                self->set_no_delay();
                self->shake_hands();
            });
    }

    void set_no_delay() {
        Failure ignored;
        tcp_of(socket).set_option(tcp::no_delay(true), ignored);
    }

    void shake_hands() {
        if constexpr (std::is_same_v<Socket, TlsSocket>) {
            if (!host.empty()) {
                Failure literal;
                asio::ip::make_address(tls_name, literal);
                if (literal) { SSL_set_tlsext_host_name(socket.native_handle(), tls_name.c_str()); }
                Failure ignored;
                socket.set_verify_callback(ssl::host_name_verification(tls_name), ignored);
            }
            socket.async_handshake(
                host.empty() ? ssl::stream_base::server : ssl::stream_base::client,
                [self = this->shared_from_this()](const Failure& error) {
                    if (self->is_cut) { return; }
                    if (error) { return self->end_open(unavailable(error)); }
                    self->end_open(common_name(self->socket.native_handle()));
                });
        } else {
            asio::post(socket.get_executor(), [self = this->shared_from_this()] {
                if (!self->is_cut) { self->end_open(std::string()); }
            });
        }
    }

    void end_open(Result<std::string> outcome) {
        const auto done = std::exchange(opened, nullptr);
        done(std::move(outcome));
    }

    void read() {
        socket.async_read_some(asio::buffer(in), [self = this->shared_from_this()](
                                                     const Failure& error, std::size_t size) {
            if (self->is_cut) { return; }
            const auto done = std::exchange(self->read_done, nullptr);
            if (error && !is_end(error)) { return done(unavailable(error)); }
            done(std::string_view(self->in.data(), error ? 0 : size));
        });
    }

    void write() {
        const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(body)};
        asio::async_write(socket, parts,
                          [self = this->shared_from_this()](const Failure& error, std::size_t) {
                              if (self->is_cut) { return; }
                              self->head.clear();
                              self->body = std::string();
                              const auto done = std::exchange(self->written, nullptr);
                              if (error) { return done(unavailable(error)); }
                              done({});
                          });
    }

    void fall_silent() {
        is_cut = true;
        // Moved out first: what they hold may own the stream that is going.
        const auto held =
            std::make_tuple(std::exchange(opened, nullptr), std::exchange(read_done, nullptr),
                            std::exchange(written, nullptr));
    }

    void cut() {
        fall_silent();
        resolver.cancel();
        goodbye.cancel();
        Failure ignored;
        tcp_of(socket).close(ignored);
    }

    void finish() {
        fall_silent();
        goodbye.expires_after(goodbye_max);
        goodbye.async_wait([self = this->shared_from_this()](const Failure& error) {
            if (!error) { self->cut(); }
        });
        if constexpr (std::is_same_v<Socket, TlsSocket>) {
            socket.async_shutdown(
                [self = this->shared_from_this()](const Failure&) { self->end_sending(); });
        } else {
            end_sending();
        }
    }

    void end_sending() {
        Failure error;
        tcp_of(socket).shutdown(tcp::socket::shutdown_send, error);
        if (error) { return cut(); }
        drain();
    }

    void drain() {
        tcp_of(socket).async_read_some(
            asio::buffer(in), [self = this->shared_from_this()](const Failure& error, std::size_t) {
                if (error) { return self->cut(); }
                self->drain();
            });
    }
};

template <class Socket>
class SocketStream final : public ByteStream {
public:
    explicit SocketStream(std::shared_ptr<Connection<Socket>> connection)
        : connection_(std::move(connection)) {}
    ~SocketStream() override {
        if (!is_finished_) { connection_->cut(); }
    }
    SocketStream(const SocketStream&) = delete;
    SocketStream& operator=(const SocketStream&) = delete;

    void open(Opened done) override {
        connection_->opened = std::move(done);
        if (connection_->host.empty()) { return connection_->shake_hands(); }
        connection_->resolve();
    }
    void read(Read done) override {
        connection_->read_done = std::move(done);
        connection_->read();
    }
    void write(std::string head, std::string body, Written done) override {
        connection_->head = std::move(head);
        connection_->body = std::move(body);
        connection_->written = std::move(done);
        connection_->write();
    }
    void finish() override {
        is_finished_ = true;
        connection_->finish();
    }

private:
    std::shared_ptr<Connection<Socket>> connection_;
    bool is_finished_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> make_client_stream(EventLoop& loop, Endpoint peer,
                                               std::shared_ptr<TlsContext> tls) {
    const auto finish = [&](auto connection) -> std::unique_ptr<ByteStream> {
        connection->tls_name = peer.tls_name.empty() ? peer.host : std::move(peer.tls_name);
        connection->host = std::move(peer.host);
        connection->port = peer.port;
        using Socket = decltype(connection->socket);
        return std::make_unique<SocketStream<Socket>>(std::move(connection));
    };
    asio::io_context& context = *loop.impl().context;
    if (tls == nullptr) {
        return finish(std::make_shared<Connection<tcp::socket>>(context, nullptr, context));
    }
    ssl::context& with = *tls;
    return finish(std::make_shared<Connection<TlsSocket>>(context, std::move(tls), context, with));
}

Result<std::unique_ptr<ByteStream>> make_server_stream(EventLoop& loop, int socket,
                                                       std::shared_ptr<TlsContext> tls) {
    asio::io_context& context = *loop.impl().context;
    tcp::socket accepted(context);
    Failure error;
    accepted.assign(tcp::v4(), socket, error);
    if (error) {
        ::close(socket);
        return unavailable(error);
    }
    if (tls == nullptr) {
        auto plain =
            std::make_shared<Connection<tcp::socket>>(context, nullptr, std::move(accepted));
        plain->set_no_delay();
        return std::make_unique<SocketStream<tcp::socket>>(std::move(plain));
    }
    ssl::context& with = *tls;
    auto secured =
        std::make_shared<Connection<TlsSocket>>(context, std::move(tls), std::move(accepted), with);
    secured->set_no_delay();
    return std::make_unique<SocketStream<TlsSocket>>(std::move(secured));
}

}  // namespace muster::net
