// An HTTP/1.1 client with a pool of connections that are kept alive to one server. Callbacks run in
// the loop's thread, each exactly once, never inside of the call that they belong to.
#pragma once

#include "base/result.h"
#include "net/event_loop.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace muster::net {

struct HttpClientOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    bool is_tls = false;
    std::string authority;             // PEM; whose server certificates are taken
    bool is_verified = true;           // false: any certificate of the server is taken
    std::string tls_name;              // that the server's certificate is for; empty: the host
    std::string certificate;           // PEM, of the client; may be empty
    std::string key;                   // PEM
    std::size_t connections_max = 32;  // requests beyond wait their turn; streams are not counted
    std::int64_t timeout_ms = 60'000;  // of a request, not of a stream
    /// A stream that says nothing for so long has ended: nobody tells of a way that was lost. 0:
    /// it may be quiet for ever.
    std::int64_t silence_ms = 0;
    std::size_t body_bytes_max = std::size_t{1} << 30;
};

class HttpClient {
public:
    using Done = std::function<void(Result<HttpResponse>)>;

    HttpClient(EventLoop& loop, HttpClientOptions options);
    ~HttpClient();  // nothing is called any more
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;

    /// `unavailable` when the server can't be reached or hangs up, `timeout`, `limit`.
    void request(HttpRequest request, Done done);

    /// Hands on the pieces of a 200 answer as they come, the first one empty when its head is
    /// there; the destructor of what is returned ends it and then nothing is called. `done` comes
    /// at the end of the answer: it has the head, and the body of any other status. Only until the
    /// head is there does `timeout_ms` run.
    class Stream {
    public:
        virtual ~Stream() = default;
    };
    [[nodiscard]] std::unique_ptr<Stream> stream(HttpRequest request,
                                                 std::function<void(std::string_view)> piece,
                                                 Done done);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net
