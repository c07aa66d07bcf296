#include "kube/http_transport.h"

#include <utility>

namespace muster::kube {

namespace {

/// Pieces of a body in, whole lines out.
class LineCutter {
public:
    explicit LineCutter(std::function<void(std::string_view)> line) : line_(std::move(line)) {}

    void add(std::string_view piece) {
        for (std::size_t end = piece.find('\n'); end != std::string_view::npos;
             end = piece.find('\n')) {
            if (rest_.empty()) {
                line_(piece.substr(0, end));
            } else {
                rest_.append(piece.substr(0, end));
                line_(std::exchange(rest_, {}));
            }
            piece.remove_prefix(end + 1);
        }
        rest_.append(piece);
    }

private:
    std::function<void(std::string_view)> line_;
    std::string rest_;
};

class HttpTransport final : public Transport {
public:
    HttpTransport(net::EventLoop& loop, ServerAddress address)
        : loop_(loop),
          address_(std::move(address)),
          client_(loop, address_.http) {}

    void call(Call call, Done done) override {
        client_.request(request_of(std::move(call)), answer_to(std::move(done)));
    }

    std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                   Done done) override {
        auto cutter = std::make_shared<LineCutter>(std::move(line));
        return std::make_unique<Held>(client_.stream(
            request_of(std::move(call)),
            [cutter = std::move(cutter)](std::string_view piece) { cutter->add(piece); },
            answer_to(std::move(done))));
    }

    void after(std::int64_t milliseconds, std::function<void()> work) override {
        loop_.after(milliseconds, std::move(work));
    }

private:
    struct Held final : Stream {
        explicit Held(std::unique_ptr<net::HttpClient::Stream> inner) : stream(std::move(inner)) {}
        std::unique_ptr<net::HttpClient::Stream> stream;
    };

    static net::HttpClient::Done answer_to(Done done) {
        return [done = std::move(done)](Result<net::HttpResponse> response) {
            if (!response) { return done(tl::unexpected(std::move(response.error()))); }
            done(Answer{.status = response->status, .body = std::move(response->body)});
        };
    }

    net::HttpRequest request_of(Call call) const {
        net::HttpRequest request{
            .method = std::move(call.method),
            .target = std::move(call.target),
            .headers = {{"Accept", "application/json"}, {"User-Agent", address_.user_agent}},
            .body = std::move(call.body),
            .client_name = {}};
        if (!request.body.empty()) {
            request.headers.push_back({"Content-Type", std::move(call.content_type)});
        }
        if (!address_.token.empty()) {
            request.headers.push_back({"Authorization", "Bearer " + address_.token});
        }
        return request;
    }

    net::EventLoop& loop_;
    ServerAddress address_;
    net::HttpClient client_;
};

}  // namespace

std::unique_ptr<Transport> connect_http(net::EventLoop& loop, ServerAddress address) {
    return std::make_unique<HttpTransport>(loop, std::move(address));
}

}  // namespace muster::kube
