// Client and server over TLS: who trusts whom.
#include "net/certificate.h"
#include "net/wire_test.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace muster::net {
namespace {

struct SecureServer {
    EventLoop loop;
    KeyPair authority = *make_authority("lab");
    KeyPair certificate = *sign_server(authority, {"localhost", "127.0.0.1"});
    std::shared_ptr<Feed> feed = std::make_shared<Feed>();
    Result<HttpServer> server = HttpServer::listen(loop, options(), [this](HttpRequest request) {
        if (request.target == "/stream") { return answer_with(feed); }
        return answer_text('[' + request.client_name + ']' + request.body);
    });

    HttpServerOptions options() {
        HttpServerOptions made;
        made.tls =
            std::make_unique<ServerTls>(ServerTls{.certificate = certificate.certificate,
                                                  .key = certificate.key,
                                                  .client_authority = authority.certificate});
        return made;
    }
    [[nodiscard]] HttpClientOptions client() const {
        return {.port = server->port(), .is_tls = true, .authority = authority.certificate};
    }
};

TEST(HttpTls, KnowsAClientByItsCertificate) {
    SecureServer secure;
    const KeyPair admin = *sign_client(secure.authority, "admin", "masters");
    HttpClientOptions options = secure.client();
    options.certificate = admin.certificate;
    options.key = admin.key;
    HttpClient named(secure.loop, options);
    HttpClient nameless(secure.loop, secure.client());

    const auto one = ask(secure.loop, named, get("/"));
    const auto again = ask(secure.loop, named, get("/"));
    const auto other = ask(secure.loop, nameless, get("/"));

    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(one->body, "[admin]");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->body, "[admin]");
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->body, "[]");
}

TEST(HttpTls, RefusesAClientOfAnotherAuthority) {
    SecureServer secure;
    const KeyPair stranger = *sign_client(*make_authority("lab"), "admin", "masters");
    HttpClientOptions options = secure.client();
    options.certificate = stranger.certificate;
    options.key = stranger.key;
    HttpClient client(secure.loop, options);

    const auto answer = ask(secure.loop, client, get("/"));

    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::unavailable);
}

TEST(HttpTls, RefusesAServersCertificateAsAClients) {
    SecureServer secure;
    HttpClientOptions options = secure.client();
    options.certificate = secure.certificate.certificate;
    options.key = secure.certificate.key;
    HttpClient client(secure.loop, options);

    EXPECT_FALSE(ask(secure.loop, client, get("/")));
}

TEST(HttpTls, TrustsNoServerOfAnotherAuthorityOrName) {
    SecureServer secure;
    HttpClientOptions stranger = secure.client();
    stranger.authority = make_authority("lab")->certificate;
    HttpClient mistrusting(secure.loop, stranger);
    secure.certificate = *sign_server(secure.authority, {"elsewhere"});
    auto misnamed = HttpServer::listen(secure.loop, secure.options(),
                                       [](const HttpRequest&) { return answer_text("x"); });
    ASSERT_TRUE(misnamed);
    HttpClientOptions elsewhere = secure.client();
    elsewhere.port = misnamed->port();
    HttpClient misled(secure.loop, elsewhere);

    EXPECT_FALSE(ask(secure.loop, mistrusting, get("/")));
    EXPECT_FALSE(ask(secure.loop, misled, get("/")));
}

TEST(HttpTls, TakesTheNameThatItIsToldOrAnyCertificateAtAll) {
    SecureServer secure;
    secure.certificate = *sign_server(secure.authority, {"elsewhere"});
    auto misnamed = HttpServer::listen(secure.loop, secure.options(),
                                       [](const HttpRequest&) { return answer_text("x"); });
    ASSERT_TRUE(misnamed);
    HttpClientOptions told = secure.client();
    told.port = misnamed->port();
    told.tls_name = "elsewhere";
    HttpClientOptions wrong = told;
    wrong.tls_name = "nowhere";
    HttpClientOptions blind = told;
    blind.tls_name.clear();
    blind.authority.clear();
    blind.is_verified = false;
    HttpClient knowing(secure.loop, told);
    HttpClient misled(secure.loop, wrong);
    HttpClient trusting(secure.loop, blind);

    EXPECT_TRUE(ask(secure.loop, knowing, get("/")));
    EXPECT_FALSE(ask(secure.loop, misled, get("/")));
    EXPECT_TRUE(ask(secure.loop, trusting, get("/")));
}

TEST(HttpTls, FindsAServerByItsHostName) {
    SecureServer secure;
    HttpClientOptions named = secure.client();
    named.host = "localhost";
    HttpClient client(secure.loop, named);

    EXPECT_TRUE(ask(secure.loop, client, get("/")));
}

TEST(HttpTls, TrustsACertificateThatIsNamedAsItself) {
    SecureServer secure;
    HttpClientOptions itself = secure.client();
    itself.authority = secure.certificate.certificate;
    HttpClient client(secure.loop, itself);

    EXPECT_TRUE(ask(secure.loop, client, get("/")));
}

TEST(HttpTls, CarriesLongBodiesAndStreams) {
    SecureServer secure;
    HttpClient client(secure.loop, secure.client());
    HttpRequest request = get("/");
    request.body = std::string(std::size_t{2} << 20, 'x');
    std::string pieces;
    const auto stream = client.stream(
        get("/stream"),
        [&](std::string_view piece) {
            pieces += piece;
            secure.feed->end();
        },
        [&](const Result<HttpResponse>& answer) {
            EXPECT_TRUE(answer);
            secure.loop.stop();
        });

    secure.feed->push("one");
    secure.loop.run_for(20'000);
    const auto answer = ask(secure.loop, client, request);

    EXPECT_EQ(pieces, "one");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "[]" + request.body);
}

TEST(HttpTls, SaysWhatIsWrongWithWhatItIsGiven) {
    EventLoop loop;
    HttpServerOptions bad;
    bad.tls = std::make_unique<ServerTls>();
    const auto server = HttpServer::listen(loop, std::move(bad),
                                           [](const HttpRequest&) { return answer_text(""); });
    HttpClient client(loop, {.is_tls = true, .authority = "no PEM"});

    const auto answer = ask(loop, client, get("/"));

    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code, Code::invalid);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::invalid);
}

TEST(HttpTls, HangsUpOnWhoSpeaksPlainly) {
    SecureServer secure;
    HttpClientOptions plain = secure.client();
    plain.is_tls = false;
    HttpClient client(secure.loop, plain);

    EXPECT_FALSE(ask(secure.loop, client, get("/")));
    HttpClient proper(secure.loop, secure.client());
    EXPECT_TRUE(ask(secure.loop, proper, get("/")));
}

}  // namespace
}  // namespace muster::net
