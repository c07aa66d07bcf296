// Draws HTTP/1.1 messages out of a connection's bytes, however these are cut. No sockets here.
#pragma once

#include "base/result.h"
#include "net/http.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace muster::net {

struct HttpLimits {
    std::size_t header_bytes_max = std::size_t{64} << 10;
    std::size_t body_bytes_max = std::size_t{3} << 20;
};

/// Of a server: one request after the other.
class RequestParser {
public:
    enum class Step { more, request, refused };

    explicit RequestParser(HttpLimits limits);
    ~RequestParser();
    RequestParser(const RequestParser&) = delete;
    RequestParser& operator=(const RequestParser&) = delete;

    void feed(std::string_view bytes);
    /// Goes on with what was fed. After `request`, take() it before the next step.
    Step step();
    HttpRequest take();

    /// Of the request that was taken last.
    [[nodiscard]] bool keeps_alive() const;
    [[nodiscard]] bool knows_chunks() const;  // HTTP/1.1
    /// With which to answer what was refused.
    [[nodiscard]] int refusal() const;
    /// Some of a request is there, not all.
    [[nodiscard]] bool has_begun() const;
    /// Once for a request whose client waits to be told before it sends the body.
    bool take_expectation();
    /// What was fed and is not used up.
    [[nodiscard]] std::size_t bytes_waiting() const;
    /// The same bytes, for whom the connection is HTTP no more.
    std::string take_rest();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Of a client: the answer to one request.
class ResponseParser {
public:
    enum class Step { more, done, failed };

    /// The answer to HEAD has no body, whatever its headers say.
    ResponseParser(HttpLimits limits, bool is_head);
    ~ResponseParser();
    ResponseParser(const ResponseParser&) = delete;
    ResponseParser& operator=(const ResponseParser&) = delete;

    /// The body of a 200 answer is not kept: take_piece() has it, and it may have any length.
    void follow();

    void feed(std::string_view bytes);
    /// No more bytes come: the end of an answer that names no length.
    void end();
    Step step();

    /// Any byte of an answer came.
    [[nodiscard]] bool has_begun() const;
    /// A 200 answer is followed, and its head is there.
    [[nodiscard]] bool is_piecewise() const;
    /// What came of its body since the last call.
    std::string take_piece();
    /// After `done`.
    HttpResponse take();
    [[nodiscard]] bool keeps_alive() const;
    /// After `failed`.
    [[nodiscard]] Error error() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
