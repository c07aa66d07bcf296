// WebSocket (RFC 6455) of a server, spoken on a connection of HttpServer after its upgrade:
// messages out of frames, frames out of messages. No sockets here, and no extensions.
#pragma once

#include "base/result.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::net {

inline constexpr std::size_t websocket_message_bytes_max = std::size_t{1} << 20;

/// Who answers the messages of a client; lives as long as the connection speaks.
class WebSocketTalk {
public:
    struct Said {
        std::vector<std::string> messages;  // binary
        bool is_last = false;               // and goodbye
        std::int64_t again_ms = 0;          // more than 0: go_on() is called after so long
    };

    virtual ~WebSocketTalk() = default;
    /// Before the client has said anything.
    virtual Said begin() = 0;
    virtual Said hear(std::string_view message) = 0;
    virtual Said go_on() = 0;
};

/// Whether the client wants to go on with WebSocket.
bool asks_websocket(const HttpRequest& request);
/// The first of the client's subprotocols that is among `known`; empty when none is.
std::string_view agreed_protocol(const HttpRequest& request,
                                 std::span<const std::string_view> known);
/// The answer that ends HTTP on the connection; an error when the request is no proper one.
Result<HttpResponse> accept_websocket(const HttpRequest& request, std::string_view protocol,
                                      std::unique_ptr<WebSocketTalk> talk);

enum class WebSocketOpcode : std::uint8_t {
    continuation = 0,
    text = 1,
    binary = 2,
    close = 8,
    ping = 9,
    pong = 10,
};

/// A whole message or control frame of a server: not masked.
std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload);
std::string websocket_close(std::uint16_t code);

/// Draws messages out of a client's bytes, however these are cut.
class WebSocketReader {
public:
    enum class Step { more, message, ping, closed, broken };

    explicit WebSocketReader(std::size_t message_bytes_max = websocket_message_bytes_max);

    void feed(std::string_view bytes);
    /// Goes on with what was fed; there is nothing behind `closed` and `broken`.
    Step step();
    /// Of the message or the ping that was found last.
    std::string take() { return std::move(found_); }
    /// With which to close, after `closed` and `broken`.
    [[nodiscard]] std::uint16_t close_code() const { return close_code_; }

private:
    Step fail_with(std::uint16_t code);
    Step take_frame(std::uint8_t first, std::string payload);

    std::size_t message_bytes_max_;
    std::string waiting_;
    std::size_t used_ = 0;
    std::string message_;  // the parts that came
    std::string found_;
    bool is_within_message_ = false;
    bool is_over_ = false;
    std::uint16_t close_code_ = 1000;
};

}  // namespace muster::net
