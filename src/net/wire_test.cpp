#include "net/wire_test.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <future>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace muster::net {

namespace {

constexpr int wait_seconds_max = 20;

class FeedBody final : public HttpBody {
public:
    explicit FeedBody(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
    ~FeedBody() override {
        feed_->wake = nullptr;
        if (feed_->on_gone) { feed_->on_gone(); }
    }
    FeedBody(const FeedBody&) = delete;
    FeedBody& operator=(const FeedBody&) = delete;

    std::optional<std::string> next() override {
        if (feed_->pieces.empty()) {
            return feed_->has_ended ? std::nullopt : std::optional<std::string>("");
        }
        std::string all;
        for (const std::string& piece : feed_->pieces) { all += piece; }
        feed_->pieces.clear();
        return all;
    }
    void on_more(std::function<void()> wake) override { feed_->wake = std::move(wake); }

private:
    std::shared_ptr<Feed> feed_;
};

}  // namespace

ServedThread::ServedThread(HttpServer::Handler handler, HttpServerOptions options) {
    auto server = HttpServer::listen(loop_, std::move(options), std::move(handler));
    if (!server) {
        ADD_FAILURE() << server.error().message;
        return;
    }
    port_ = server->port();
    server_.emplace(std::move(*server));
    thread_ = std::thread([this] { loop_.run(); });
}

ServedThread::~ServedThread() {
    loop_.stop();
    if (thread_.joinable()) { thread_.join(); }
}

void ServedThread::run(std::function<void()> work) {
    std::promise<void> done;
    loop_.post([&] {
        work();
        done.set_value();
    });
    done.get_future().wait();
}

RawClient::RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{.tv_sec = wait_seconds_max, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

RawClient::~RawClient() { close(); }

bool RawClient::send(std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent <= 0) { return false; }
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::string RawClient::read_to(std::string_view mark) {
    std::array<char, 65536> bytes{};
    std::size_t searched = 0;
    while (true) {
        if (const auto at = ahead_.find(mark, searched); !mark.empty() && at != std::string::npos) {
            std::string found = ahead_.substr(0, at + mark.size());
            ahead_.erase(0, found.size());
            return found;
        }
        searched = ahead_.size() - std::min(ahead_.size(), mark.size());
        const ssize_t size = recv(socket_, bytes.data(), bytes.size(), 0);
        if (size <= 0) { return std::exchange(ahead_, {}) + (size < 0 ? "<no end>" : ""); }
        ahead_.append(bytes.data(), static_cast<std::size_t>(size));
    }
}

std::string RawClient::read_to_end() { return read_to(""); }
void RawClient::end_sending() { shutdown(socket_, SHUT_WR); }
void RawClient::close() {
    if (socket_ >= 0) { ::close(std::exchange(socket_, -1)); }
}

HttpResponse answer_with(std::shared_ptr<Feed> feed) {
    HttpResponse response;
    response.stream = std::make_unique<FeedBody>(std::move(feed));
    return response;
}

HttpResponse answer_text(std::string text) {
    HttpResponse response;
    response.body = std::move(text);
    return response;
}

HttpRequest get(std::string target) {
    HttpRequest request;
    request.method = "GET";
    request.target = std::move(target);
    return request;
}

Result<HttpResponse> ask(EventLoop& loop, HttpClient& client, HttpRequest request) {
    Result<HttpResponse> answer = fail(Code::timeout, "nothing was called");
    client.request(std::move(request), [&](Result<HttpResponse> found) {
        answer = std::move(found);
        loop.stop();
    });
    loop.run_for(std::int64_t{1000} * wait_seconds_max);
    return answer;
}

}  // namespace muster::net
