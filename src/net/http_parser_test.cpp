#include "net/http_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::net {
namespace {

const std::string chunked =
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    "1\r\na\r\n2;q\r\nbc\r\n0\r\nTrail: er\r\n\r\n";
const std::string bare =
    "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";

TEST(RequestParser, ReadsTheSameHoweverTheBytesAreCut) {
    const std::string bytes = chunked + bare + "\r\n" + bare;

    for (std::size_t cut = 1; cut <= bytes.size(); ++cut) {
        RequestParser parser({});
        std::string found;
        for (std::size_t at = 0; at < bytes.size(); at += cut) {
            parser.feed(std::string_view(bytes).substr(at, cut));
            while (parser.step() == RequestParser::Step::request) {
                const HttpRequest request = parser.take();
                EXPECT_EQ(request.headers.size(), 2U) << "what trails a body is no header";
                found += request.target + '[' + request.body + ']';
            }
        }
        EXPECT_EQ(found, "/a[abc]/b[]/b[]") << "cut " << cut;
    }
}

TEST(RequestParser, KnowsWhenARequestHasBegun) {
    RequestParser parser({});

    parser.feed("\r\n\r");
    EXPECT_EQ(parser.step(), RequestParser::Step::more);
    EXPECT_FALSE(parser.has_begun());
    parser.feed("\nG");
    EXPECT_EQ(parser.step(), RequestParser::Step::more);
    EXPECT_TRUE(parser.has_begun());
}

TEST(RequestParser, StaysRefused) {
    RequestParser parser({});

    parser.feed("nonsense\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");

    EXPECT_EQ(parser.step(), RequestParser::Step::refused);
    EXPECT_EQ(parser.step(), RequestParser::Step::refused);
    EXPECT_EQ(parser.refusal(), 400);
}

TEST(ResponseParser, HandsOnAPieceBeforeItsChunkIsWhole) {
    ResponseParser parser({.header_bytes_max = 1000, .body_bytes_max = 1}, false);
    parser.follow();

    parser.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(parser.step(), ResponseParser::Step::more);
    EXPECT_TRUE(parser.is_piecewise());
    EXPECT_EQ(parser.take_piece(), "");
    parser.feed("9\r\nabc");
    EXPECT_EQ(parser.step(), ResponseParser::Step::more);
    EXPECT_EQ(parser.take_piece(), "abc");
    parser.feed("defghi\r\n0\r\n");
    EXPECT_EQ(parser.step(), ResponseParser::Step::more);
    EXPECT_EQ(parser.take_piece(), "defghi");
    parser.feed("\r\n");
    EXPECT_EQ(parser.step(), ResponseParser::Step::done);
    EXPECT_TRUE(parser.keeps_alive());
}

TEST(ResponseParser, ReadsNoBodyAfterHead) {
    ResponseParser parser({}, true);

    parser.feed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");

    EXPECT_EQ(parser.step(), ResponseParser::Step::done);
    EXPECT_EQ(parser.take().body, "");
    EXPECT_TRUE(parser.keeps_alive());
}

}  // namespace
}  // namespace muster::net
