#include "net/http_server.h"

#include "net/wire_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <ostream>
#include <string>
#include <vector>

namespace muster::net {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

HttpResponse echo(HttpRequest request) {
    return answer_text(request.method + ' ' + request.target + '[' + request.body + ']');
}

TEST(HttpServer, AnswersOneRequestAfterTheOtherOnAConnection) {
    ServedThread served(echo);
    RawClient client(served.port());

    client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read_to("]"), "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nGET /a[]");
    client.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.read_to("]"), EndsWith("GET /b[]"));
}

TEST(HttpServer, AnswersInOrderWhatIsSentAhead) {
    ServedThread served(echo);
    RawClient client(served.port());

    client.send(
        "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
        "GET /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        "GET /d HTTP/1.1\r\nHost: x\r\n\r\n");

    EXPECT_THAT(client.read_to("]"), EndsWith("GET /a[]"));
    EXPECT_THAT(client.read_to("]"), EndsWith("POST /b[hi]"));
    EXPECT_THAT(client.read_to("]"), EndsWith("Connection: close\r\n\r\nGET /c[]"));
    EXPECT_THAT(client.read_to_end(), IsEmpty());
}

TEST(HttpServer, AnswersWhoHasClosedHisOwnSide) {
    ServedThread served(echo);
    RawClient client(served.port());

    client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    client.end_sending();

    EXPECT_THAT(client.read_to_end(), EndsWith("GET /b[]"));
}

TEST(HttpServer, ReadsChunkedBodies) {
    ServedThread served(echo);
    RawClient client(served.port());

    client.send(
        "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrail: er\r\n\r\n");

    EXPECT_THAT(client.read_to("]"), EndsWith("PUT /a[abcde]"));
}

TEST(HttpServer, SaysGoOnToWhoWaitsForIt) {
    ServedThread served(echo);
    RawClient client(served.port());

    client.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hi");

    EXPECT_THAT(client.read_to("]"), EndsWith("PUT /a[hi]"));
}

TEST(HttpServer, SendsNoBodyForHead) {
    const auto feed = std::make_shared<Feed>();
    ServedThread served([&](const HttpRequest& request) {
        return request.target == "/stream" ? answer_with(feed) : answer_text("12345");
    });
    RawClient client(served.port());

    client.send(
        "HEAD /text HTTP/1.1\r\nHost: x\r\n\r\n"
        "HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n"
        "GET /text HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

    EXPECT_EQ(client.read_to_end(),
              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n12345");
}

TEST(HttpServer, WritesNoHeaderThatBreaksOutOfItsLine) {
    ServedThread served([](const HttpRequest&) {
        HttpResponse response = answer_text("x");
        response.headers = {{"Good", "1"}, {"Bad", "1\r\nEvil: 1"}, {"Content-Length", "9"}};
        return response;
    });
    RawClient client(served.port());

    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");

    EXPECT_EQ(client.read_to("\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nGood: 1\r\nContent-Length: 1\r\n\r\n");
}

struct RefusedCase {
    std::string name;
    std::string request;
    std::string status;
};
void PrintTo(const RefusedCase& refused, std::ostream* out) { *out << refused.name; }

class HttpServerRefuses : public testing::TestWithParam<RefusedCase> {};

TEST_P(HttpServerRefuses, WithItsStatusAndHangsUp) {
    ServedThread served(echo, {.body_bytes_max = 1000, .header_bytes_max = 2000});
    RawClient client(served.port());

    client.send(GetParam().request);
    const std::string answer = client.read_to_end();

    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + GetParam().status));
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
}

const std::string post = "POST / HTTP/1.1\r\nHost: x\r\n";

INSTANTIATE_TEST_SUITE_P(
    Requests, HttpServerRefuses,
    testing::Values(
        RefusedCase{"NoHttp", "hello\r\n\r\n", "400"},
        RefusedCase{"Tls", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), "400"},
        RefusedCase{"NoHost", "GET / HTTP/1.1\r\n\r\n", "400"},
        RefusedCase{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
        RefusedCase{"SpaceInName", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400"},
        RefusedCase{"BadLength", post + "Content-Length: -1\r\n\r\n", "400"},
        RefusedCase{"TwoLengths", post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"},
        RefusedCase{"LengthAndChunks",
                    post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
        RefusedCase{"BadChunk", post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "400"},
        RefusedCase{"OtherCoding", post + "Transfer-Encoding: gzip\r\n\r\n", "501"},
        RefusedCase{"OtherExpectation", post + "Expect: tea\r\n\r\n", "417"},
        RefusedCase{"LongBody", post + "Content-Length: 1001\r\n\r\n" + std::string(1001, 'b'),
                    "413"},
        RefusedCase{"BodyOfNoEnd",
                    post + "Content-Length: 99999999999\r\n\r\n" + std::string(300'000, 'b'),
                    "413"},
        RefusedCase{"LongChunks",
                    post + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'b'),
                    "413"},
        RefusedCase{"LongHeader",
                    "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(3000, 'x') + "\r\n\r\n",
                    "431"},
        RefusedCase{"LongTarget", "GET /" + std::string(3000, 'x') + " HTTP/1.1\r\n\r\n", "431"},
        RefusedCase{"HeaderOfNoEnd", "GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x'), "431"},
        RefusedCase{"ChunkExtensionOfNoEnd",
                    post + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(100'000, 'x'),
                    "431"}),
    [](const auto& each) { return each.param.name; });

TEST(HttpServer, RefusesWhoIsTooLongAtARequest) {
    ServedThread served(echo, {.header_ms = 30});
    RawClient client(served.port());

    client.send("GET / HTTP/1.1\r\n");

    EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, RefusesWhoIsTooLongAtABody) {
    ServedThread served(echo, {.header_ms = 30});
    RawClient client(served.port());

    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");

    EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, SaysGoOnAndRefusesWhoDoesNot) {
    ServedThread served(echo, {.header_ms = 30});
    RawClient client(served.port());

    client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");

    const std::string answer = client.read_to_end();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 408 "));
}

HttpServerOptions worded() {
    HttpServerOptions options{.body_bytes_max = 1000, .header_bytes_max = 2000, .header_ms = 30};
    options.refusal = [](int status) {
        HttpResponse response = answer_text("no: " + std::to_string(status));
        response.headers = {{"Content-Type", "text/x"}};
        return response;
    };
    return options;
}

TEST(HttpServer, RefusesInTheWordsThatItWasGiven) {
    struct Case {
        std::string request;
        std::string status;
    };
    const std::vector<Case> cases = {
        {"hello\r\n\r\n", "400"},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n", "413"},
        {"GET /" + std::string(3000, 'x') + " HTTP/1.1\r\n\r\n", "431"},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "501"},
        {"POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", "417"},
        {"GET / HTTP/1.1\r\nHost: x\r\n", "408"},                              // slow at its header
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab", "408"},  // or its body
    };
    ServedThread served(echo, worded());
    for (const Case& one : cases) {
        RawClient client(served.port());
        client.send(one.request);
        const std::string answer = client.read_to_end();
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + one.status)) << one.request;
        EXPECT_THAT(answer, HasSubstr("Content-Type: text/x\r\n"));
        EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
        EXPECT_THAT(answer, EndsWith("\r\n\r\nno: " + one.status));
    }
}

TEST(HttpServer, RefusesWhoHasClosedHisOwnSide) {
    ServedThread served(echo, worded());
    RawClient client(served.port());

    client.send("hello\r\n\r\n");
    client.end_sending();

    EXPECT_THAT(client.read_to_end(), EndsWith("no: 400"));
}

TEST(HttpServer, SaysNothingToWhoLeavesWithinARequest) {
    ServedThread served(echo, {});
    for (const std::string_view part :
         {"GET / HT", "GET / HTTP/1.1\r\nHost: x\r\n",
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
          "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"}) {
        RawClient client(served.port());
        client.send(part);
        client.end_sending();
        EXPECT_THAT(client.read_to_end(), IsEmpty()) << part;
    }
    RawClient broken(served.port());
    broken.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
    broken.close();  // with the refusal on its way
    RawClient next(served.port());
    next.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(next.read_to("]"), EndsWith("GET /a[]"));
}

TEST(HttpServer, HangsUpOnWhoAsksNothing) {
    ServedThread served(echo, {.idle_ms = 30});
    RawClient silent(served.port());
    RawClient once(served.port());

    once.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");

    EXPECT_THAT(silent.read_to_end(), IsEmpty());
    EXPECT_THAT(once.read_to_end(), EndsWith("GET /a[]"));
}

TEST(HttpServer, SendsThePiecesOfAStreamAsTheyCome) {
    const auto feed = std::make_shared<Feed>();
    ServedThread served([&](const HttpRequest&) { return answer_with(feed); });
    RawClient client(served.port());

    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read_to("\r\n\r\n"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    served.run([&] { feed->push("one\n"); });
    EXPECT_EQ(client.read_to("one\n\r\n"), "4\r\none\n\r\n");
    served.run([&] {
        feed->push("two\n");
        feed->push("three\n");
    });
    EXPECT_EQ(client.read_to("three\n\r\n"), "a\r\ntwo\nthree\n\r\n");
    served.run([&] { feed->end(); });
    EXPECT_EQ(client.read_to("0\r\n\r\n"), "0\r\n\r\n");
}

TEST(HttpServer, TakesARequestAfterAStream) {
    const auto feed = std::make_shared<Feed>();
    feed->push("x");
    feed->end();
    ServedThread served([&](const HttpRequest& request) {
        return request.target == "/stream" ? answer_with(feed) : answer_text("[]");
    });
    RawClient client(served.port());

    client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");

    EXPECT_THAT(client.read_to("0\r\n\r\n"), EndsWith("1\r\nx\r\n0\r\n\r\n"));
    EXPECT_THAT(client.read_to("[]"), StartsWith("HTTP/1.1 200 OK"));
}

TEST(HttpServer, EndsAStreamOfTheOldVersionByHangingUp) {
    const auto feed = std::make_shared<Feed>();
    feed->push("x");
    feed->end();
    ServedThread served([&](const HttpRequest&) { return answer_with(feed); });
    RawClient client(served.port());

    client.send("GET / HTTP/1.0\r\n\r\n");

    EXPECT_EQ(client.read_to_end(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx");
}

TEST(HttpServer, DrawsNoMoreThanAClientTakes) {
    const auto feed = std::make_shared<Feed>();
    ServedThread served([&](const HttpRequest&) { return answer_with(feed); });
    RawClient client(served.port());
    const std::string large(std::size_t{32} << 20, 'x');

    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.read_to("\r\n\r\n");
    served.run([&] { feed->push(large); });
    served.run([] {});  // the draw was posted before this
    std::size_t undrawn = 0;
    served.run([&] {
        feed->push("two");
        feed->push("three");
    });
    served.run([&] { undrawn = feed->pieces.size(); });

    EXPECT_EQ(undrawn, 2U);
    EXPECT_EQ(client.read_to("twothree\r\n").size(),
              std::string_view("2000000\r\n\r\n8\r\ntwothree\r\n").size() + large.size());
}

TEST(HttpServer, DropsAStreamWhoseClientIsGoneAlsoWhenThereIsNothingToSend) {
    const auto feed = std::make_shared<Feed>();
    std::promise<void> gone;
    feed->on_gone = [&] { gone.set_value(); };
    ServedThread served([&](const HttpRequest&) { return answer_with(feed); });
    RawClient client(served.port());

    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.read_to("\r\n\r\n");
    client.close();

    EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(HttpServer, DropsAStreamWhoseClientIsGoneInTheMiddleOfAPiece) {
    const auto feed = std::make_shared<Feed>();
    std::promise<void> gone;
    feed->on_gone = [&] { gone.set_value(); };
    ServedThread served([&](const HttpRequest&) { return answer_with(feed); });
    RawClient client(served.port());

    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    served.run([&] { feed->push(std::string(std::size_t{32} << 20, 'x')); });
    client.read_to("xxx");
    client.close();

    EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(HttpServer, HoldsAThousandStreamsAtOnce) {
    constexpr std::size_t streams = 1000;
    std::vector<std::shared_ptr<Feed>> feeds;
    ServedThread served([&](const HttpRequest&) {
        feeds.push_back(std::make_shared<Feed>());
        return answer_with(feeds.back());
    });
    std::vector<std::unique_ptr<RawClient>> clients;

    for (std::size_t i = 0; i < streams; ++i) {
        clients.push_back(std::make_unique<RawClient>(served.port()));
        clients.back()->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for (const auto& client : clients) { client->read_to("\r\n\r\n"); }
    served.run([&] {
        for (const auto& feed : feeds) { feed->push("news"); }
    });

    std::size_t informed = 0;
    for (const auto& client : clients) {
        informed += client->read_to("news\r\n") == "4\r\nnews\r\n";
    }
    EXPECT_EQ(informed, streams);
    served.run([&] { feeds.clear(); });
}

TEST(HttpServer, MayBeClosedByItsOwnHandler) {
    EventLoop loop;
    std::optional<HttpServer> server;
    auto opened = HttpServer::listen(loop, {}, [&](const HttpRequest&) {
        server.reset();
        return answer_text("too late");
    });
    server.emplace(std::move(*opened));
    HttpClient client(loop, {.port = server->port()});

    const auto answer = ask(loop, client, get("/"));

    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::unavailable);
}

TEST(HttpServer, CutsOffItsStreamsWhenItCloses) {
    EventLoop loop;
    const auto feed = std::make_shared<Feed>();
    bool is_gone = false;
    feed->on_gone = [&] { is_gone = true; };
    auto server =
        HttpServer::listen(loop, {}, [&](const HttpRequest&) { return answer_with(feed); });
    ASSERT_TRUE(server);
    RawClient client(server->port());
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    while (!feed->wake) { loop.run_for(1); }

    server->close();

    EXPECT_TRUE(is_gone);
    EXPECT_EQ(client.read_to_end(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(HttpServer, SaysWhyItCannotListen) {
    EventLoop loop;
    auto first = HttpServer::listen(loop, {}, echo);
    ASSERT_TRUE(first);

    const auto taken = HttpServer::listen(loop, {.port = first->port()}, echo);
    const auto nowhere = HttpServer::listen(loop, {.address = "nowhere"}, echo);

    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Code::unavailable);
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code, Code::invalid);
}

/// An answer that the test gives when it likes; all in the loop's thread.
struct Later final : HttpLater {
    explicit Later(std::function<void(HttpResponse)>& to, bool* is_gone)
        : give(to),
          gone(is_gone) {}
    ~Later() override {
        if (gone != nullptr) { *gone = true; }
    }
    void on_answer(std::function<void(HttpResponse)> then) override { give = std::move(then); }
    std::function<void(HttpResponse)>& give;
    bool* gone;
};

TEST(HttpServer, GivesAnAnswerThatWasMadeLaterAndGoesOnWithTheNext) {
    std::function<void(HttpResponse)> give;
    ServedThread served([&](const HttpRequest& request) {
        if (request.target != "/later") { return answer_text("at once]"); }
        HttpResponse response;
        response.later = std::make_unique<Later>(give, nullptr);
        return response;
    });
    RawClient client(served.port());
    RawClient other(served.port());

    client.send("GET /later HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
    other.send("GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(other.read_to("]"), EndsWith("at once]"));
    bool is_asked = false;
    while (!is_asked) {
        served.run([&] { is_asked = give != nullptr; });
    }
    served.run([&] { give(answer_text("made]")); });

    EXPECT_THAT(client.read_to("]"), EndsWith("made]"));
    EXPECT_THAT(client.read_to("]"), EndsWith("at once]"));
}

TEST(HttpServer, DropsAnAnswerThatNobodyWaitsFor) {
    std::function<void(HttpResponse)> give;
    bool is_gone = false;
    ServedThread served([&](const HttpRequest&) {
        HttpResponse response;
        response.later = std::make_unique<Later>(give, &is_gone);
        return response;
    });
    {
        RawClient client(served.port());
        client.send("GET /later HTTP/1.0\r\n\r\n");
        bool is_asked = false;
        while (!is_asked) {
            served.run([&] { is_asked = give != nullptr; });
        }
    }
    served.run([&] { give(answer_text("too late")); });
    bool has_ended = false;
    while (!has_ended) {
        served.run([&] { has_ended = is_gone; });
    }

    EXPECT_TRUE(has_ended);
}

}  // namespace
}  // namespace muster::net
