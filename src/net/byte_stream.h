// A connection over TCP or TLS. One read and one write may be under way at a time. Callbacks come
// from the loop, never inside of the call that they belong to, and never once the stream is gone:
// its destructor cuts the connection off.
#pragma once

#include "base/result.h"
#include "net/event_loop.h"
#include "net/tls.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace muster::net {

class ByteStream {
public:
    using Opened = std::function<void(Result<std::string>)>;
    using Read = std::function<void(Result<std::string_view>)>;
    using Written = std::function<void(Result<>)>;

    virtual ~ByteStream() = default;

    /// Connects and shakes hands, whatever is needed; has the common name of the peer's certificate
    /// when there is one that was verified.
    virtual void open(Opened done) = 0;
    /// What came, valid within the callback; empty at the end.
    virtual void read(Read done) = 0;
    /// All of `head`, then all of `body`.
    virtual void write(std::string head, std::string body, Written done) = 0;
    /// Says goodbye after what was written; what the peer still sends is read and dropped for a
    /// moment, for otherwise the system throws away what is on the way to it. No callback comes
    /// after this.
    virtual void finish() = 0;
};

struct Endpoint {
    std::string host;
    std::uint16_t port = 0;
    std::string tls_name;  // that its certificate is for; empty: the host
};

/// Not connected yet: open() does it. `tls` may be none.
std::unique_ptr<ByteStream> make_client_stream(EventLoop& loop, Endpoint peer,
                                               std::shared_ptr<TlsContext> tls);
/// Of a socket that was accepted.
Result<std::unique_ptr<ByteStream>> make_server_stream(EventLoop& loop, int socket,
                                                       std::shared_ptr<TlsContext> tls);

}  // namespace muster::net
