#include "net/websocket.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/http_text.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace muster::net {

namespace {

// RFC 6455, 7.4.1.
constexpr std::uint16_t normal = 1000;
constexpr std::uint16_t protocol_error = 1002;
constexpr std::uint16_t no_code = 1005;
constexpr std::uint16_t too_big = 1009;

constexpr std::size_t control_bytes_max = 125;
constexpr std::size_t keys_size = 24;  // 16 bytes in base64

bool has_token(std::string_view list, std::string_view token) {
    const auto all = split(list, ',');
    return std::ranges::any_of(
        all, [&](std::string_view one) { return is_same_name(trim(one), token); });
}

/// Proves that the server has read the request as WebSocket's.
std::string accept_key(std::string_view key) {
    const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    const int done =
        EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
    MUSTER_ASSERT(done == 1);
    std::array<unsigned char, 4 * (EVP_MAX_MD_SIZE / 3 + 1) + 1> out{};
    const int written = EVP_EncodeBlock(out.data(), digest.data(), static_cast<int>(size));
    return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(written)};
}

/// Codes that a peer may send; others are reserved.
bool is_sendable(std::uint16_t code) {
    if (code >= 3000 && code <= 4999) { return true; }
    return code >= 1000 && code <= 1014 && code != 1004 && code != no_code && code != 1006;
}

class WebSocketUpgrade final : public HttpUpgrade {
public:
    explicit WebSocketUpgrade(std::unique_ptr<WebSocketTalk> talk) : talk_(std::move(talk)) {}

    Words begin() override { return in_frames(talk_->begin()); }

    Words hear(std::string_view bytes) override {
        using Step = WebSocketReader::Step;
        Words words;
        if (bytes.empty()) { return in_frames(talk_->go_on()); }
        reader_.feed(bytes);
        while (!words.is_last) {
            const Step step = reader_.step();
            if (step == Step::more) { break; }
            if (step == Step::message) {
                Words more = in_frames(talk_->hear(reader_.take()));
                words.bytes += more.bytes;
                words.is_last = more.is_last;
                if (more.again_ms > 0) { words.again_ms = more.again_ms; }
            } else if (step == Step::ping) {
                words.bytes += websocket_frame(WebSocketOpcode::pong, reader_.take());
            } else {
                words.bytes += websocket_close(reader_.close_code());
                words.is_last = true;
            }
        }
        return words;
    }

private:
    static Words in_frames(const WebSocketTalk::Said& said) {
        Words words{.bytes = {}, .is_last = said.is_last, .again_ms = said.again_ms};
        for (const std::string& message : said.messages) {
            words.bytes += websocket_frame(WebSocketOpcode::binary, message);
        }
        if (said.is_last) { words.bytes += websocket_close(normal); }
        return words;
    }

    std::unique_ptr<WebSocketTalk> talk_;
    WebSocketReader reader_;
};

}  // namespace

bool asks_websocket(const HttpRequest& request) {
    return has_token(request.header("Connection"), "upgrade") &&
           has_token(request.header("Upgrade"), "websocket");
}

std::string_view agreed_protocol(const HttpRequest& request,
                                 std::span<const std::string_view> known) {
    for (const HttpHeader& header : request.headers) {
        if (!is_same_name(header.name, "Sec-WebSocket-Protocol")) { continue; }
        for (const std::string_view one : split(header.value, ',')) {
            const auto found = std::ranges::find(known, trim(one));
            if (found != known.end()) { return *found; }
        }
    }
    return {};
}

Result<HttpResponse> accept_websocket(const HttpRequest& request, std::string_view protocol,
                                      std::unique_ptr<WebSocketTalk> talk) {
    const std::string_view key = request.header("Sec-WebSocket-Key");
    if (request.method != "GET" || !asks_websocket(request)) {
        return fail(Code::invalid, "expected a GET that asks for an upgrade to WebSocket");
    }
    if (request.header("Sec-WebSocket-Version") != "13") {
        return fail(Code::invalid, "Sec-WebSocket-Version: expected 13");
    }
    if (key.size() != keys_size) {
        return fail(Code::invalid, "Sec-WebSocket-Key: expected 16 bytes in base64");
    }
    HttpResponse response;
    response.status = 101;
    response.headers = {{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", accept_key(key)}};
    if (!protocol.empty()) {
        response.headers.push_back({"Sec-WebSocket-Protocol", std::string(protocol)});
    }
    response.upgrade = std::make_unique<WebSocketUpgrade>(std::move(talk));
    return response;
}

std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload) {
    std::string out;
    const std::uint64_t size = payload.size();
    out += static_cast<char>(0x80U | static_cast<unsigned>(opcode));  // the last part of it
    const auto write = [&](int bytes) {
        for (int i = bytes - 1; i >= 0; --i) { out += static_cast<char>(size >> (8 * i) & 0xffU); }
    };
    if (size < 126) {
        out += static_cast<char>(size);
    } else if (size < 65'536) {
        out += static_cast<char>(126);
        write(2);
    } else {
        out += static_cast<char>(127);
        write(8);
    }
    out += payload;
    return out;
}

std::string websocket_close(std::uint16_t code) {
    if (code == no_code) { return websocket_frame(WebSocketOpcode::close, {}); }
    const std::array<char, 2> text{static_cast<char>(code >> 8U), static_cast<char>(code & 0xffU)};
    return websocket_frame(WebSocketOpcode::close, {text.data(), text.size()});
}

WebSocketReader::WebSocketReader(std::size_t message_bytes_max)
    : message_bytes_max_(message_bytes_max) {}

void WebSocketReader::feed(std::string_view bytes) {
    if (is_over_) { return; }
    waiting_.erase(0, std::exchange(used_, 0));
    waiting_ += bytes;
}

WebSocketReader::Step WebSocketReader::fail_with(std::uint16_t code) {
    close_code_ = code;
    is_over_ = true;
    waiting_.clear();
    used_ = 0;
    return Step::broken;
}

WebSocketReader::Step WebSocketReader::step() {
    while (!is_over_) {
        const std::string_view rest = std::string_view(waiting_).substr(used_);
        const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(rest[i]); };
        if (rest.size() < 2) { return Step::more; }
        const std::uint8_t first = byte(0);
        const bool is_control = (first & 0x08U) != 0;
        const bool is_whole = (first & 0x80U) != 0;
        // No extension was agreed on, and what a client sends is masked.
        if ((first & 0x70U) != 0 || (byte(1) & 0x80U) == 0) { return fail_with(protocol_error); }
        std::uint64_t size = byte(1) & 0x7fU;
        if (is_control && (!is_whole || size > control_bytes_max)) {
            return fail_with(protocol_error);
        }
        std::size_t at = 2;
        const std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (more > 0) {
            if (rest.size() < at + more) { return Step::more; }
            size = 0;
            for (; at < 2 + more; ++at) { size = size << 8U | byte(at); }
        }
        if (size > message_bytes_max_ - std::min(message_bytes_max_, message_.size())) {
            return fail_with(too_big);
        }
        constexpr std::size_t mask_size = 4;
        if (rest.size() - at < mask_size + size) { return Step::more; }
        std::string payload(rest.substr(at + mask_size, static_cast<std::size_t>(size)));
        for (std::size_t i = 0; i < payload.size(); ++i) {
            payload[i] =
                static_cast<char>(static_cast<std::uint8_t>(payload[i]) ^ byte(at + i % mask_size));
        }
        used_ += at + mask_size + payload.size();
        const Step found = take_frame(first, std::move(payload));
        if (found != Step::more) { return found; }
    }
    return close_code_ == normal ? Step::closed : Step::broken;
}

/// `more` when it is a part of a message, or nothing that anybody waits for.
WebSocketReader::Step WebSocketReader::take_frame(std::uint8_t first, std::string payload) {
    const bool is_whole = (first & 0x80U) != 0;
    switch (static_cast<WebSocketOpcode>(first & 0x0fU)) {
        case WebSocketOpcode::text:
        case WebSocketOpcode::binary:
            if (is_within_message_) { return fail_with(protocol_error); }
            is_within_message_ = true;
            break;
        case WebSocketOpcode::continuation:
            if (!is_within_message_) { return fail_with(protocol_error); }
            break;
        case WebSocketOpcode::ping: found_ = std::move(payload); return Step::ping;
        case WebSocketOpcode::pong: return Step::more;
        case WebSocketOpcode::close: {
            if (payload.size() == 1) { return fail_with(protocol_error); }
            if (payload.size() >= 2) {
                const auto code =
                    static_cast<std::uint16_t>(static_cast<std::uint8_t>(payload[0]) << 8U |
                                               static_cast<std::uint8_t>(payload[1]));
                if (!is_sendable(code)) { return fail_with(protocol_error); }
            }
            is_over_ = true;
            return Step::closed;
        }
        default: return fail_with(protocol_error);  // no such opcode
    }
    message_ += payload;
    if (!is_whole) { return Step::more; }
    is_within_message_ = false;
    found_ = std::exchange(message_, {});
    return Step::message;
}

}  // namespace muster::net
