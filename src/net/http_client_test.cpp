#include "net/http_client.h"

#include "net/wire_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace muster::net {
namespace {

using testing::HasSubstr;

// A server that answers each connection, one after the other, with given bytes and hangs up.
class ScriptedServer {
public:
    explicit ScriptedServer(std::vector<std::string> answers)
        : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
        EXPECT_EQ(listen(socket_, 8), 0);
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, script = std::move(answers)] {
            for (const std::string& answer : script) { serve(answer); }
        });
    }
    ~ScriptedServer() {
        shutdown(socket_, SHUT_RDWR);  // ends an accept that nobody came for
        thread_.join();
        close(socket_);
    }
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    void serve(const std::string& answer) const {
        const int client = accept(socket_, nullptr, nullptr);
        if (client < 0) { return; }
        std::string request(65536, '\0');
        if (recv(client, request.data(), request.size(), 0) > 0) {
            send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
        }
        shutdown(client, SHUT_WR);
        while (recv(client, request.data(), request.size(), 0) > 0) {}
        close(client);
    }

    int socket_ = -1;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

struct Local {
    EventLoop loop;
    std::vector<HttpRequest> requests;
    std::shared_ptr<Feed> feed = std::make_shared<Feed>();
    Result<HttpServer> server = HttpServer::listen(loop, {}, [this](HttpRequest request) {
        requests.push_back(request);
        if (request.target == "/stream") { return answer_with(feed); }
        HttpResponse response = answer_text(request.body);
        response.status = request.target == "/missing" ? 404 : 200;
        return response;
    });
    HttpClient client{loop, {.port = server->port()}};
};

TEST(HttpClient, SendsWhatIsAskedAndHasTheAnswer) {
    Local local;
    HttpRequest request{.method = "PATCH",
                        .target = "/a?b=c",
                        .headers = {{"X-One", "1"}},
                        .body = std::string(100'000, 'x'),
                        .client_name = {}};

    const auto answer = ask(local.loop, local.client, request);

    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, request.body);
    ASSERT_EQ(local.requests.size(), 1U);
    EXPECT_EQ(local.requests[0].method, "PATCH");
    EXPECT_EQ(local.requests[0].target, "/a?b=c");
    EXPECT_EQ(local.requests[0].header("x-one"), "1");
    EXPECT_EQ(local.requests[0].header("HOST"),
              "127.0.0.1:" + std::to_string(local.server->port()));
}

TEST(HttpClient, LetsNoMoreThanItsConnectionsRunAtATime) {
    Local local;
    HttpClient narrow(local.loop, {.port = local.server->port(), .connections_max = 2});
    std::vector<std::string> answers;

    for (int i = 0; i < 50; ++i) {
        HttpRequest request = get("/");
        request.body = std::to_string(i);
        narrow.request(request, [&](Result<HttpResponse> answer) {
            answers.push_back(answer ? answer->body : answer.error().message);
            if (answers.size() == 50) { local.loop.stop(); }
        });
    }
    EXPECT_TRUE(answers.empty()) << "called inside of the call";
    local.loop.run_for(20'000);

    ASSERT_EQ(answers.size(), 50U);
    EXPECT_EQ(answers.back().size(), 2U);
}

TEST(HttpClient, FollowsAStreamPieceByPiece) {
    Local local;
    std::string pieces;
    std::optional<Result<HttpResponse>> done;
    const auto stream = local.client.stream(
        get("/stream"),
        [&](std::string_view piece) {
            pieces += piece;
            if (pieces == "one") { local.feed->push("two"); }
            if (pieces == "onetwo") { local.feed->end(); }
        },
        [&](Result<HttpResponse> answer) {
            done = std::move(answer);
            local.loop.stop();
        });

    local.feed->push("one");
    local.loop.run_for(20'000);

    EXPECT_EQ(pieces, "onetwo");
    ASSERT_TRUE(done && *done);
    EXPECT_EQ((*done)->status, 200);
    EXPECT_EQ((*done)->body, "");
}

TEST(HttpClient, GivesAStreamThatIsQuietAllTheTime) {
    Local local;
    HttpClient hasty(local.loop, {.port = local.server->port(), .timeout_ms = 20});
    bool is_done = false;
    std::string pieces;
    const auto stream = hasty.stream(
        get("/stream"),
        [&](std::string_view piece) {
            pieces += piece;
            if (!piece.empty()) { local.loop.stop(); }
        },
        [&](const Result<HttpResponse>&) { is_done = true; });

    local.loop.after(100, [&] { local.feed->push("late"); });
    local.loop.run_for(20'000);

    EXPECT_EQ(pieces, "late");
    EXPECT_FALSE(is_done);
}

TEST(HttpClient, EndsAStreamThatIsQuietForTooLong) {
    Local local;
    HttpClient client(local.loop, {.port = local.server->port(), .silence_ms = 20});
    std::string pieces;
    std::optional<Result<HttpResponse>> done;

    const auto stream = client.stream(
        get("/stream"), [&](std::string_view piece) { pieces += piece; },
        [&](Result<HttpResponse> answer) {
            done = std::move(answer);
            local.loop.stop();
        });
    local.feed->push("one");
    local.loop.run_for(20'000);

    ASSERT_TRUE(done && *done);
    EXPECT_EQ((*done)->status, 200);
    EXPECT_EQ(pieces, "one");
}

TEST(HttpClient, HasTheBodyOfAStreamThatIsRefused) {
    Local local;
    HttpRequest request = get("/missing");
    request.body = "why";
    std::string pieces;
    std::optional<Result<HttpResponse>> done;

    const auto stream = local.client.stream(
        request, [&](std::string_view piece) { pieces += piece; },
        [&](Result<HttpResponse> answer) {
            done = std::move(answer);
            local.loop.stop();
        });
    local.loop.run_for(20'000);

    ASSERT_TRUE(done && *done);
    EXPECT_EQ((*done)->status, 404);
    EXPECT_EQ((*done)->body, "why");
    EXPECT_EQ(pieces, "");
}

TEST(HttpClient, EndsAStreamFromWithinAPiece) {
    Local local;
    int calls = 0;
    bool is_gone = false;
    local.feed->on_gone = [&] {
        is_gone = true;
        local.loop.stop();
    };
    std::unique_ptr<HttpClient::Stream> stream;
    stream = local.client.stream(
        get("/stream"),
        [&](std::string_view) {
            ++calls;
            stream.reset();
        },
        [&](const Result<HttpResponse>&) { ++calls; });

    local.feed->push("one");
    local.loop.run_for(20'000);

    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(is_gone) << "the server still has it";
    local.feed->on_gone = nullptr;
}

TEST(HttpClient, CallsNothingOnceItIsGone) {
    Local local;
    int calls = 0;
    std::unique_ptr<HttpClient::Stream> stream;
    {
        HttpClient gone(local.loop, {.port = local.server->port(), .connections_max = 1});
        for (int i = 0; i < 3; ++i) {
            gone.request(get("/"), [&](const Result<HttpResponse>&) { ++calls; });
        }
        gone.request(get("no\r\npath"), [&](const Result<HttpResponse>&) { ++calls; });
        stream = gone.stream(
            get("/stream"), [&](std::string_view) { ++calls; },
            [&](const Result<HttpResponse>&) { ++calls; });
    }

    EXPECT_TRUE(ask(local.loop, local.client, get("/")));
    EXPECT_EQ(calls, 0);
}

TEST(HttpClient, MayBeDestroyedByItsOwnCallback) {
    Local local;
    auto client =
        std::make_unique<HttpClient>(local.loop, HttpClientOptions{.port = local.server->port()});

    client->request(get("/"), [&](const Result<HttpResponse>&) {
        client.reset();
        local.loop.stop();
    });
    local.loop.run_for(20'000);

    EXPECT_EQ(client, nullptr);
}

TEST(HttpClient, AsksAnewWhenAKeptConnectionHasDied) {
    EventLoop loop;
    const std::string kept = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
    ScriptedServer server({kept + "a", kept + "b"});
    HttpClient client(loop, {.port = server.port()});

    const auto first = ask(loop, client, get("/"));
    const auto second = ask(loop, client, get("/"));

    ASSERT_TRUE(first);
    EXPECT_EQ(first->body, "a");
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(second->body, "b");
}

struct BrokenCase {
    std::string name;
    std::string answer;
    Code code;
};
void PrintTo(const BrokenCase& broken, std::ostream* out) { *out << broken.name; }

class HttpClientFails : public testing::TestWithParam<BrokenCase> {};

TEST_P(HttpClientFails, WithTheCodeOfWhatIsWrong) {
    EventLoop loop;
    ScriptedServer server({GetParam().answer});
    HttpClient client(loop, {.port = server.port(), .body_bytes_max = 10});

    const auto answer = ask(loop, client, get("/"));

    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, GetParam().code) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr("127.0.0.1:"));
}

INSTANTIATE_TEST_SUITE_P(
    Answers, HttpClientFails,
    testing::Values(
        BrokenCase{"Nothing", "", Code::unavailable},
        BrokenCase{"CutHead", "HTTP/1.1 200 OK\r\nConte", Code::unavailable},
        BrokenCase{"CutBody", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Code::unavailable},
        BrokenCase{"CutChunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                   Code::unavailable},
        BrokenCase{"NoHttp", "SSH-2.0\r\n\r\n", Code::corrupt},
        BrokenCase{"LongLength", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", Code::limit},
        BrokenCase{"LongChunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01",
                   Code::limit},
        BrokenCase{"LongToTheEnd", "HTTP/1.0 200 OK\r\n\r\n01234567890", Code::limit},
        BrokenCase{"LongHead", "HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), Code::limit}),
    [](const auto& each) { return each.param.name; });

TEST(HttpClient, ReadsAnAnswerOfNoLengthToItsEnd) {
    EventLoop loop;
    ScriptedServer server({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\nall"});
    HttpClient client(loop, {.port = server.port()});

    const auto answer = ask(loop, client, get("/"));

    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "all");
}

TEST(HttpClient, FailsWhenNobodyListensOrNobodyAnswers) {
    EventLoop loop;
    std::uint16_t port = 0;
    {
        ScriptedServer gone({});
        port = gone.port();
    }
    HttpClient nobody(loop, {.port = port});
    Local silent;
    HttpClient hasty(silent.loop, {.port = silent.server->port(), .timeout_ms = 20});

    const auto refused = ask(loop, nobody, get("/"));
    const auto late = ask(silent.loop, hasty, get("/stream"));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::timeout);
}

TEST(HttpClient, AsksNothingThatIsNoRequest) {
    Local local;
    HttpRequest split = get("/");
    split.headers = {{"A", "b\r\nC: d"}};

    for (const HttpRequest& request : {get("/ HTTP/1.1\r\nEvil: 1\r\n"), get(""), split}) {
        const auto answer = ask(local.loop, local.client, request);
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, Code::invalid);
    }
    EXPECT_TRUE(local.requests.empty());
}

}  // namespace
}  // namespace muster::net
