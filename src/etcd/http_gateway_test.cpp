// The gateway over HTTP against servers of its own loop: which endpoint is asked, and who is
// trusted.
#include "etcd/http_gateway.h"

#include "etcd/key_value.h"
#include "net/certificate.h"
#include "net/event_loop.h"
#include "net/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace muster::etcd {
namespace {

using testing::HasSubstr;

const char* const small_answer = R"({"header":{"revision":"3"},"count":"1"})";

/// Counts what it is asked, and answers with one status.
struct Member {
    explicit Member(net::EventLoop& loop, std::unique_ptr<net::ServerTls> tls = nullptr)
        : server(net::HttpServer::listen(
              loop, options(std::move(tls)), [this](net::HttpRequest request) {
                  ++asked;
                  client = request.client_name;
                  return net::HttpResponse{.status = status,
                                           .body = status == 200 ? small_answer : "{}"};
              })) {}
    static net::HttpServerOptions options(std::unique_ptr<net::ServerTls> tls) {
        net::HttpServerOptions out;
        out.tls = std::move(tls);
        return out;
    }
    [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", server->port()}; }

    int asked = 0;
    int status = 200;
    std::string client;
    Result<net::HttpServer> server;
};

/// Takes connections and never says a word; or a port that nobody listens on.
struct Mute {
    explicit Mute(bool is_listening) : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        EXPECT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&at), size), 0);
        if (is_listening) { EXPECT_EQ(listen(socket, 8), 0); }
        getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size);
        port = ntohs(at.sin_port);
    }
    ~Mute() { close(socket); }
    Mute(const Mute&) = delete;
    Mute& operator=(const Mute&) = delete;

    int socket;
    std::uint16_t port = 0;
};

std::unique_ptr<Gateway> to(net::EventLoop& loop, std::vector<Endpoint> endpoints,
                            std::int64_t wait_ms = 5'000) {
    return connect_gateway(
        {.address = {.endpoints = std::move(endpoints), .prefix = "/log", .is_tls = false},
         .wait_ms = wait_ms,
         .loop = &loop});
}

Result<RangeAnswer> ask(Gateway& gateway) {
    MUSTER_TRY(said, gateway.ask(range_path, text_of(RangeQuery{.key = "/log/end"})));
    return read_range(said);
}

TEST(HttpGateway, AsksTheNextEndpointAndStaysThere) {
    net::EventLoop loop;
    const Mute nobody(false);
    Member one(loop);
    Member two(loop);
    one.status = 503;
    const auto gateway = to(loop, {{"127.0.0.1", nobody.port}, one.endpoint(), two.endpoint()});

    for (int i = 0; i < 3; ++i) {
        const auto said = ask(*gateway);
        ASSERT_TRUE(said) << said.error().message;
        EXPECT_EQ(said->count, 1);
    }

    EXPECT_EQ(one.asked, 1);
    EXPECT_EQ(two.asked, 3);
}

TEST(HttpGateway, WaitsForAMuteEndpointOnlyItsPart) {
    net::EventLoop loop;
    const Mute mute(true);
    Member two(loop);
    const auto gateway = to(loop, {{"127.0.0.1", mute.port}, two.endpoint()}, 400);

    ASSERT_TRUE(ask(*gateway));
    ASSERT_TRUE(ask(*gateway));

    EXPECT_EQ(two.asked, 2);
}

TEST(HttpGateway, FailsWhenNobodyAnswersAndFindsWhoComesBack) {
    net::EventLoop loop;
    const Mute nobody(false);
    Member one(loop);
    const auto gateway = to(loop, {{"127.0.0.1", nobody.port}, one.endpoint()});
    one.status = 503;

    const auto said = ask(*gateway);
    one.status = 200;
    const auto later = ask(*gateway);

    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().code, Code::unavailable);
    EXPECT_THAT(said.error().message, HasSubstr("503"));
    EXPECT_TRUE(later) << later.error().message;
    const auto mute = to(loop, {{"127.0.0.1", nobody.port}});
    EXPECT_EQ(ask(*mute).error().code, Code::unavailable);
}

TEST(HttpGateway, ShowsItsCertificateAndReadsARenewedOneAfterAFailure) {
    net::EventLoop loop;
    const net::KeyPair authority = *net::make_authority("etcd");
    const net::KeyPair server = *net::sign_server(authority, {"127.0.0.1"});
    const net::KeyPair good = *net::sign_client(authority, "muster", "");
    const net::KeyPair bad = *net::sign_client(*net::make_authority("other"), "muster", "");
    Member member(loop, std::make_unique<net::ServerTls>(
                            net::ServerTls{.certificate = server.certificate,
                                           .key = server.key,
                                           .client_authority = authority.certificate}));
    bool is_renewed = false;
    const auto gateway =
        connect_gateway({.address = {.endpoints = {member.endpoint()}, .prefix = "/log"},
                         .read_tls = [&]() -> Result<TlsTexts> {
                             const net::KeyPair& pair = is_renewed ? good : bad;
                             return TlsTexts{authority.certificate, pair.certificate, pair.key};
                         },
                         .loop = &loop});

    const auto refused = ask(*gateway);
    is_renewed = true;
    const auto taken = ask(*gateway);

    EXPECT_FALSE(refused);
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_EQ(member.client, "muster");
    const auto strict = connect_gateway(
        {.address = {.endpoints = {member.endpoint()}, .prefix = "/log"}, .loop = &loop});
    EXPECT_FALSE(ask(*strict)) << "a server that no authority is known of";
}

}  // namespace
}  // namespace muster::etcd
