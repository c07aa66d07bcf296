#include "kube/http_transport.h"

#include "base/text.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace muster::kube {

namespace {

/// Pieces of a body in, whole lines out.
class LineCutter {
public:
    explicit LineCutter(std::function<void(std::string_view)> line) : line_(std::move(line)) {}

    void add(std::string_view piece) {
        if (piece.empty()) { line_({}); }
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
          client_(std::make_unique<net::HttpClient>(loop, address_.http)) {}

    void call(Call call, Done done) override {
        auto request = request_of(std::move(call));
        if (!request) { return fail_later(std::move(done), std::move(request).error()); }
        client_->request(std::move(*request), answer_to(std::move(done)));
    }

    std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                   Done done) override {
        auto cutter = std::make_shared<LineCutter>(std::move(line));
        auto request = request_of(std::move(call));
        if (!request) {
            auto held = std::make_unique<Held>(nullptr);
            fail_later(
                [done = std::move(done),
                 alive = std::weak_ptr(held->alive)](Result<Answer> answer) {
                    if (!alive.expired()) { done(std::move(answer)); }
                },
                std::move(request).error());
            return held;
        }
        return std::make_unique<Held>(client_->stream(
            std::move(*request),
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
        std::shared_ptr<int> alive = std::make_shared<int>(0);
    };

    /// Nothing is called inside of the call that it belongs to, or when this is gone.
    void fail_later(Done done, Error error) {
        loop_.post(
            [done = std::move(done), cause = std::move(error), alive = std::weak_ptr(alive_)] {
                if (!alive.expired()) { done(tl::unexpected(cause)); }
            });
    }

    net::HttpClient::Done answer_to(Done done) {
        return [done = std::move(done),
                credentials = address_.credentials](Result<net::HttpResponse> response) {
            if (!response) { return done(tl::unexpected(std::move(response.error()))); }
            if (response->status == 401 && credentials != nullptr) { credentials->note_refused(); }
            done(Answer{.status = response->status,
                        .body = std::move(response->body),
                        .retry_after_ms = retry_after_of(*response)});
        };
    }

    /// Whole seconds; a date is not sent by API servers.
    static std::int64_t retry_after_of(const net::HttpResponse& response) {
        for (const net::HttpHeader& header : response.headers) {
            if (!is_name(header.name, "retry-after")) { continue; }
            const auto seconds = parse_int("Retry-After", header.value, 0, retry_after_max_s);
            return seconds ? *seconds * 1'000 : 0;
        }
        return 0;
    }
    static bool is_name(std::string_view name, std::string_view lower) {
        return std::equal(name.begin(), name.end(), lower.begin(), lower.end(),
                          [](char a, char b) { return (a | 0x20) == b; });
    }

    /// A client with another certificate takes over; what the old ones are asked goes on.
    Result<Secret> sign() {
        if (address_.credentials == nullptr) {
            Secret out;
            if (!address_.token.empty()) { out.authorization = "Bearer " + address_.token; }
            return out;
        }
        MUSTER_TRY(secret, address_.credentials->now());
        if (secret.certificate != address_.http.certificate || secret.key != address_.http.key) {
            address_.http.certificate = secret.certificate;
            address_.http.key = secret.key;
            retired_.push_back(
                std::exchange(client_, std::make_unique<net::HttpClient>(loop_, address_.http)));
            loop_.after(retired_ms, [this, alive = std::weak_ptr(alive_)] {
                if (!alive.expired()) { retired_.pop_front(); }
            });
        }
        return std::move(secret);
    }

    Result<net::HttpRequest> request_of(Call call) {
        MUSTER_TRY(secret, sign());
        net::HttpRequest request{
            .method = std::move(call.method),
            .target = address_.path + call.target,
            .headers = {{"Accept", "application/json"}, {"User-Agent", address_.user_agent}},
            .body = std::move(call.body),
            .client_name = {}};
        if (!request.body.empty()) {
            request.headers.push_back({"Content-Type", std::move(call.content_type)});
        }
        if (!secret.authorization.empty()) {
            request.headers.push_back({"Authorization", std::move(secret.authorization)});
        }
        for (auto& [name, value] : secret.act_as) {
            request.headers.push_back({std::move(name), std::move(value)});
        }
        return request;
    }

    /// Longer than a watch lasts.
    static constexpr std::int64_t retired_ms = 900'000;
    static constexpr std::int64_t retry_after_max_s = 300;

    net::EventLoop& loop_;
    ServerAddress address_;
    std::unique_ptr<net::HttpClient> client_;
    std::deque<std::unique_ptr<net::HttpClient>> retired_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace

std::unique_ptr<Transport> connect_http(net::EventLoop& loop, ServerAddress address) {
    return std::make_unique<HttpTransport>(loop, std::move(address));
}

}  // namespace muster::kube
