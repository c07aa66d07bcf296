#include "etcd/http_gateway.h"

#include "etcd/limits.h"
#include "net/event_loop.h"
#include "net/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace muster::etcd {

namespace {

constexpr int status_server_error = 500;
constexpr std::int64_t turn_ms = 1'000;

class HttpGateway final : public Gateway {
public:
    explicit HttpGateway(GatewayOptions options) : options_(std::move(options)) {
        if (options_.loop == nullptr) {
            own_ = std::make_unique<net::EventLoop>();
            options_.loop = own_.get();
        }
    }

    Result<GatewayAnswer> ask(std::string_view path, const std::string& body) override {
        if (clients_.empty()) { MUSTER_CHECK(connect()); }
        Error wrong;
        // A connection that broke says little of a lone endpoint: it is asked twice.
        const std::size_t tries = std::max<std::size_t>(clients_.size(), 2);
        for (std::size_t i = 0; i < tries; ++i) {
            auto answer = ask_one(*clients_[current_], path, body);
            // An endpoint that has no leader or waits in vain for one says so with 503 or 504.
            if (answer && answer->status < status_server_error) { return answer; }
            const bool is_last = i + 1 == tries || (clients_.size() == 1 && !is_broken(answer));
            if (answer && is_last) { return answer; }
            if (!answer) { wrong = std::move(answer).error(); }
            current_ = (current_ + 1) % clients_.size();
            if (is_last) { break; }
        }
        clients_.clear();
        return tl::unexpected(std::move(wrong));
    }

private:
    static bool is_broken(const Result<GatewayAnswer>& answer) {
        return !answer && answer.error().code == Code::unavailable;
    }

    Result<> connect() {
        const Address& address = options_.address;
        TlsTexts texts;
        if (address.is_tls && options_.read_tls) {
            MUSTER_TRY(read, options_.read_tls());
            texts = std::move(read);
        }
        const auto count = static_cast<std::int64_t>(address.endpoints.size());
        for (const Endpoint& one : address.endpoints) {
            clients_.push_back(std::make_unique<net::HttpClient>(
                *options_.loop, net::HttpClientOptions{.host = one.host,
                                                       .port = one.port,
                                                       .is_tls = address.is_tls,
                                                       .authority = texts.authority,
                                                       .certificate = texts.certificate,
                                                       .key = texts.key,
                                                       .connections_max = 1,
                                                       .timeout_ms = std::max<std::int64_t>(
                                                           1, options_.wait_ms / count),
                                                       .body_bytes_max = answer_bytes_max}));
        }
        current_ %= clients_.size();
        return {};
    }

    /// The client calls back once, by its own time-out at the latest.
    Result<GatewayAnswer> ask_one(net::HttpClient& client, std::string_view path,
                                  const std::string& body) {
        std::optional<Result<net::HttpResponse>> answer;
        client.request({.method = "POST",
                        .target = std::string(path),
                        .headers = {{"Content-Type", "application/json"},
                                    {"Accept", "application/json"},
                                    {"User-Agent", "muster"}},
                        .body = body},
                       [&](Result<net::HttpResponse> response) { answer = std::move(response); });
        while (!answer) { options_.loop->run_some(turn_ms); }
        if (!*answer) { return tl::unexpected(std::move(*answer).error()); }
        return GatewayAnswer{.status = (*answer)->status, .body = std::move((*answer)->body)};
    }

    GatewayOptions options_;
    std::unique_ptr<net::EventLoop> own_;
    std::vector<std::unique_ptr<net::HttpClient>> clients_;  // go before their loop
    std::size_t current_ = 0;
};

}  // namespace

std::unique_ptr<Gateway> connect_gateway(GatewayOptions options) {
    return std::make_unique<HttpGateway>(std::move(options));
}

}  // namespace muster::etcd
