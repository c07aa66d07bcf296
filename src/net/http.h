// HTTP/1.1 messages as values; who serves and who asks have them in common.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::net {

struct HttpHeader {
    std::string name;
    std::string value;
};

struct HttpRequest {
    std::string method;  // "GET"
    std::string target;  // path and query, as sent
    std::vector<HttpHeader> headers;
    std::string body;
    std::string client_name;  // the common name of a client certificate that was verified

    /// Case-insensitive; empty when there is none.
    [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// A long answer, drawn piece by piece and sent chunked. Lives until its end or the client's.
class HttpBody {
public:
    virtual ~HttpBody() = default;
    /// All that is there now; empty when nothing is; none at the end.
    virtual std::optional<std::string> next() = 0;
    /// Calls `wake` (any number of times, from the loop's thread) when next() has more.
    virtual void on_more(std::function<void()> wake) = 0;
};

/// What is spoken on a connection of a server once it is HTTP no more. Lives until the last words
/// or the client's end.
class HttpUpgrade {
public:
    struct Words {
        std::string bytes;
        bool is_last = false;  // hang up once they are sent
        /// More than 0: hear() is called with nothing after so long, whatever comes before.
        std::int64_t again_ms = 0;
    };

    virtual ~HttpUpgrade() = default;
    /// Right behind the head of the answer.
    virtual Words begin() = 0;
    /// The answer to what came.
    virtual Words hear(std::string_view bytes) = 0;
};

struct HttpResponse;

/// An answer that is still being made. Lives until it is given, or the client's end.
class HttpLater {
public:
    virtual ~HttpLater() = default;
    /// Calls `give` once, from the loop's thread; it holds nothing alive.
    virtual void on_answer(std::function<void(HttpResponse)> give) = 0;
};

struct HttpResponse {
    int status = 200;
    std::vector<HttpHeader> headers;
    std::string body;
    std::unique_ptr<HttpBody> stream;      // in place of the body
    std::unique_ptr<HttpUpgrade> upgrade;  // with the status 101
    std::unique_ptr<HttpLater> later;      // in place of all of it
};

}  // namespace muster::net
