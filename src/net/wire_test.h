// For the tests of the folder: a server in a thread of its own, and a client of plain blocking
// calls that sends what no proper client would.
#pragma once

#include "net/http_client.h"
#include "net/http_server.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace muster::net {

class ServedThread {
public:
    explicit ServedThread(HttpServer::Handler handler, HttpServerOptions options = {});
    ~ServedThread();
    ServedThread(const ServedThread&) = delete;
    ServedThread& operator=(const ServedThread&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    /// In the server's thread; returns when it is done.
    void run(std::function<void()> work);
    EventLoop& loop() { return loop_; }

private:
    EventLoop loop_;
    std::optional<HttpServer> server_;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

class RawClient {
public:
    explicit RawClient(std::uint16_t port);
    ~RawClient();
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    /// False when the server took no more.
    bool send(std::string_view text);
    /// All up to and with `mark`; what there was when the server ends first, or nothing comes for
    /// long.
    std::string read_to(std::string_view mark);
    std::string read_to_end();
    void end_sending();
    void close();

private:
    int socket_ = -1;
    std::string ahead_;
};

/// A streamed answer that a test feeds; all in the loop's thread.
struct Feed {
    std::deque<std::string> pieces;
    bool has_ended = false;
    std::function<void()> wake;
    std::function<void()> on_gone;

    void push(std::string piece) {
        pieces.push_back(std::move(piece));
        if (wake) { wake(); }
    }
    void end() {
        has_ended = true;
        if (wake) { wake(); }
    }
};

HttpResponse answer_with(std::shared_ptr<Feed> feed);
HttpResponse answer_text(std::string text);
HttpRequest get(std::string target);

/// Runs the loop until the answer is there.
Result<HttpResponse> ask(EventLoop& loop, HttpClient& client, HttpRequest request);

}  // namespace muster::net
