#include "net/websocket.h"

#include "net/wire_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace muster::net {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Step = WebSocketReader::Step;

/// A frame as clients send it: masked.
std::string client_frame(std::uint8_t first, std::string_view payload) {
    const std::string mask("\x01\x80\xfe\x07", 4);
    std::string out(1, static_cast<char>(first));
    if (payload.size() < 126) {
        out += static_cast<char>(0x80U | payload.size());
    } else {
        out += static_cast<char>(0x80U | 126U);
        out += static_cast<char>(payload.size() >> 8U);
        out += static_cast<char>(payload.size() & 0xffU);
    }
    out += mask;
    for (std::size_t i = 0; i < payload.size(); ++i) {
        out += static_cast<char>(payload[i] ^ mask[i % 4]);
    }
    return out;
}

/// What is read, a word each: messages as they are, then "ping x", "closed 1000", "broken 1002".
std::vector<std::string> read_all(std::string_view bytes, std::size_t cut, std::size_t most = 300) {
    WebSocketReader reader(most);
    std::vector<std::string> out;
    while (!bytes.empty()) {
        reader.feed(bytes.substr(0, cut));
        bytes.remove_prefix(std::min(cut, bytes.size()));
        while (true) {
            const Step step = reader.step();
            if (step == Step::more) { break; }
            const std::string code = std::to_string(reader.close_code());
            if (step == Step::closed) { out.push_back("closed " + code); }
            if (step == Step::broken) { out.push_back("broken " + code); }
            if (step == Step::closed || step == Step::broken) { return out; }
            out.push_back((step == Step::ping ? "ping " : "") + reader.take());
        }
    }
    return out;
}

}  // namespace

TEST(WebSocketReader, DrawsMessagesHoweverTheyAreCut) {
    const std::string long_one(200, 'l');
    const std::string bytes = client_frame(0x82, "one") + client_frame(0x81, "") +
                              client_frame(0x82, long_one) + client_frame(0x02, "a") +
                              client_frame(0x89, "?") + client_frame(0x00, "b") +
                              client_frame(0x8a, "pong") + client_frame(0x80, "c") +
                              client_frame(0x88, "\x03\xe8") + client_frame(0x82, "late");
    for (const std::size_t cut : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()}) {
        EXPECT_THAT(read_all(bytes, cut),
                    ElementsAre("one", "", long_one, "ping ?", "abc", "closed 1000"))
            << cut;
    }
}

TEST(WebSocketReader, RefusesWhatIsNoWebSocket) {
    struct Case {
        std::string_view what;
        std::string bytes;
        std::string_view expected;
    };
    const std::vector<Case> cases = {
        {"not masked", std::string("\x82\x01x", 3), "broken 1002"},
        {"an extension", client_frame(0xc2, "x"), "broken 1002"},
        {"an opcode of nobody", client_frame(0x83, "x"), "broken 1002"},
        {"a control frame in parts", client_frame(0x09, "x"), "broken 1002"},
        {"a long control frame", client_frame(0x89, std::string(126, 'x')), "broken 1002"},
        {"a part of nothing", client_frame(0x80, "x"), "broken 1002"},
        {"half a code", client_frame(0x88, "x"), "broken 1002"},
        {"a reserved code", client_frame(0x88, "\x03\xed"), "broken 1002"},
        {"a long message", client_frame(0x82, std::string(301, 'x')), "broken 1009"},
        {"a message of no end", std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10),
         "broken 1009"},
    };
    for (const Case& one : cases) {
        EXPECT_THAT(read_all(one.bytes, 3), ElementsAre(one.expected)) << one.what;
    }
    const std::string in_two = client_frame(0x02, "x") + client_frame(0x82, "y");
    EXPECT_THAT(read_all(in_two, 3), ElementsAre("broken 1002"));
    const std::string too_long =
        client_frame(0x02, std::string(200, 'x')) + client_frame(0x80, std::string(200, 'x'));
    EXPECT_THAT(read_all(too_long, 3), ElementsAre("broken 1009"));
}

TEST(WebSocketFrame, HasTheShortestLength) {
    EXPECT_EQ(websocket_frame(WebSocketOpcode::binary, "ab"),
              "\x82\x02"
              "ab");
    EXPECT_THAT(websocket_frame(WebSocketOpcode::binary, std::string(126, 'x')),
                StartsWith(std::string("\x82\x7e\x00\x7ex", 5)));
    EXPECT_THAT(websocket_frame(WebSocketOpcode::binary, std::string(65'536, 'x')),
                StartsWith(std::string("\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00x", 11)));
    EXPECT_EQ(websocket_close(1000), "\x88\x02\x03\xe8");
}

namespace {

/// Says each message back, greets and, when told to, ends, now or a little later.
class EchoTalk final : public WebSocketTalk {
public:
    Said begin() override { return {.messages = {"hello"}, .is_last = false}; }
    Said hear(std::string_view message) override {
        return {.messages = {std::string(message)},
                .is_last = message == "end",
                .again_ms = message == "later" ? 1 : 0};
    }
    Said go_on() override { return {.messages = {"goodbye"}, .is_last = true}; }
};

HttpResponse talk(const HttpRequest& request) {
    constexpr std::string_view known[] = {"new", "old"};
    auto response =
        accept_websocket(request, agreed_protocol(request, known), std::make_unique<EchoTalk>());
    if (!response) {
        HttpResponse refused = answer_text(response.error().message);
        refused.status = 400;
        return refused;
    }
    return std::move(*response);
}

const std::string upgrade =
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

}  // namespace

// Key and answer are the example of RFC 6455, 1.3.
TEST(WebSocket, TakesOverTheConnection) {
    ServedThread served(talk);
    RawClient client(served.port());

    client.send(upgrade +
                "Sec-WebSocket-Protocol: unknown, old\r\nSec-WebSocket-Protocol: new\r\n\r\n");
    const std::string head = client.read_to("\r\n\r\n");
    EXPECT_THAT(head, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
    EXPECT_THAT(head, HasSubstr("Connection: Upgrade\r\n"));
    EXPECT_THAT(head, HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    EXPECT_THAT(head, HasSubstr("Sec-WebSocket-Protocol: old\r\n"));
    EXPECT_EQ(client.read_to("hello"), "\x82\x05hello");
    client.send(client_frame(0x82, "one") + client_frame(0x89, "?"));
    EXPECT_EQ(client.read_to("?"), "\x82\x03one\x8a\x01?");
    client.send(client_frame(0x82, "end"));
    EXPECT_EQ(client.read_to_end(),
              "\x82\x03"
              "end\x88\x02\x03\xe8");
}

TEST(WebSocket, GoesOnByItselfWhenItWantsTo) {
    ServedThread served(talk);
    RawClient client(served.port());

    client.send(upgrade + "\r\n" + client_frame(0x82, "later"));

    EXPECT_THAT(client.read_to_end(), EndsWith("\x82\x05later\x82\x07goodbye\x88\x02\x03\xe8"));
}

TEST(WebSocket, HearsWhatIsSentAheadAndClosesWithItsClient) {
    ServedThread served(talk);
    RawClient client(served.port());

    client.send(upgrade + "\r\n" + client_frame(0x82, "early") + client_frame(0x88, "\x03\xe8"));

    EXPECT_THAT(client.read_to_end(), EndsWith("\x82\x05hello\x82\x05"
                                               "early\x88\x02\x03\xe8"));
}

TEST(WebSocket, ClosesOnABrokenClient) {
    ServedThread served(talk);
    RawClient client(served.port());

    client.send(upgrade + "\r\nno frame");

    EXPECT_THAT(client.read_to_end(), EndsWith("\x82\x05hello\x88\x02\x03\xea"));
}

TEST(WebSocket, LeavesWithAClientThatHasLeft) {
    ServedThread served(talk);
    RawClient client(served.port());

    client.send(upgrade + "\r\n");
    client.read_to("hello");
    client.end_sending();

    EXPECT_THAT(client.read_to_end(), IsEmpty());
}

TEST(WebSocket, LeavesWhoIsSilent) {
    ServedThread served(talk, {.idle_ms = 30});
    RawClient client(served.port());

    client.send(upgrade + "\r\n");

    EXPECT_THAT(client.read_to_end(), EndsWith("\x82\x05hello"));
}

TEST(WebSocket, RefusesWhatIsNoProperUpgrade) {
    struct Case {
        std::string request;
        std::string_view expected;
    };
    const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const std::string wish = "Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    const std::vector<Case> cases = {
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "expected a GET"},
        {"POST / HTTP/1.1\r\n" + wish + key + "Sec-WebSocket-Version: 13\r\n\r\n",
         "expected a GET"},
        {"GET / HTTP/1.1\r\n" + wish + key + "Sec-WebSocket-Version: 8\r\n\r\n", "expected 13"},
        {"GET / HTTP/1.1\r\n" + wish + "Sec-WebSocket-Version: 13\r\n\r\n", "expected 16 bytes"},
        {"GET / HTTP/1.0\r\n" + wish + key + "Sec-WebSocket-Version: 13\r\n\r\n",
         "400 Bad Request"},
    };
    for (const Case& one : cases) {
        ServedThread served(talk);
        RawClient client(served.port());
        client.send(one.request);
        client.end_sending();
        const std::string answer = client.read_to_end();
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << one.request;
        EXPECT_THAT(answer, HasSubstr(one.expected)) << one.request;
    }
}

}  // namespace muster::net
