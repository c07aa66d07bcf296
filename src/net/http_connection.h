// One connection of a server, from the handshake to the goodbye: a request, its answer, the next.
#pragma once

#include "net/byte_stream.h"
#include "net/http_parser.h"
#include "net/http_server.h"
#include "net/http_text.h"
#include "net/timer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::net {

/// What the connections of a server have in common.
struct HttpService {
    HttpLimits limits;
    std::int64_t idle_ms = 0;
    std::int64_t header_ms = 0;
    HttpServer::Handler handler;
    std::function<HttpResponse(int status)> refusal;  // may be none
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
public:
    /// `gone` is called once, from the loop, when the connection has ended by itself.
    HttpConnection(EventLoop& loop, std::shared_ptr<const HttpService> service,
                   std::unique_ptr<ByteStream> stream, std::function<void(HttpConnection*)> gone);

    void start();
    /// Ends at once; nothing is called any more.
    void cut();

private:
    void read();
    void on_bytes(std::string_view bytes);
    void on_peer_end();
    void go_on();
    void refuse(int status);
    void answer(HttpRequest request);
    void wait_for_answer(std::unique_ptr<HttpLater> later, bool is_head);
    void send(HttpResponse response, bool is_head);
    void write(std::string head, std::string body);
    void on_written();
    void draw();
    void watch_body();
    void begin_upgrade(std::string head, std::unique_ptr<HttpUpgrade> upgrade);
    void take_words(std::unique_ptr<HttpUpgrade> upgrade, const HttpUpgrade::Words& words);
    void converse();
    void wait_for_request();
    void say_goodbye();
    void leave();

    EventLoop& loop_;
    std::shared_ptr<const HttpService> service_;
    std::unique_ptr<ByteStream> stream_;  // none once the connection has ended
    std::function<void(HttpConnection*)> gone_;
    RequestParser parser_;
    Timer timer_;
    Timer again_;  // of an upgrade
    std::string client_name_;
    std::unique_ptr<HttpLater> later_;      // while the answer is being made
    std::unique_ptr<HttpBody> body_;        // while a streamed answer is under way
    std::unique_ptr<HttpUpgrade> upgrade_;  // from its begin to the end of the connection
    Framing framing_;
    bool is_answering_ = false;  // from the request's end to the answer's
    bool is_writing_ = false;
    bool is_reading_ = false;
    bool is_timing_request_ = false;
    bool is_woken_ = false;        // a draw is on its way
    bool has_peer_ended_ = false;  // sends no more
    bool has_last_words_ = false;  // of an upgrade, as is the next
    bool is_due_ = false;          // what it wanted to be called again for
};

}  // namespace muster::net
