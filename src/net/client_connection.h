// A client's connection: one request and its answer at a time.
#pragma once

#include "base/result.h"
#include "net/byte_stream.h"
#include "net/http.h"
#include "net/http_parser.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace muster::net {

/// A request, ready to be sent; it may be sent twice.
struct HttpCall {
    std::string head;
    std::string body;
    bool is_head = false;
    HttpLimits limits;
    /// Has a 200 answer's body as it comes, also when only the head came; none: it is kept whole.
    std::function<void(std::string_view)> piece;
};

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
public:
    struct Outcome {
        Result<HttpResponse> answer;
        bool has_begun = false;    // any byte of the answer came
        bool is_reusable = false;  // for the next request
    };

    explicit ClientConnection(std::unique_ptr<ByteStream> stream);

    /// Connects first, when it has not yet. `done` is called from the loop, once.
    void ask(const HttpCall& call, std::function<void(Outcome)> done);
    /// Called when the server ends the connection between two requests.
    void on_lost(std::function<void()> lost);
    /// Ends at once; nothing is called any more.
    void cut();

private:
    void send();
    void read();
    void on_bytes(std::string_view bytes);
    void end(Result<HttpResponse> answer, bool is_reusable);

    std::unique_ptr<ByteStream> stream_;
    std::optional<ResponseParser> parser_;  // while a request is under way
    std::string head_;
    std::string body_;
    std::function<void(std::string_view)> piece_;
    std::function<void(Outcome)> done_;
    std::function<void()> lost_;
    bool is_open_ = false;
    bool is_writing_ = false;
    bool is_reading_ = false;
};

}  // namespace muster::net
