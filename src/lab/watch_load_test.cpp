// Many watches while many objects are made: each is told of each, once and in order.
#include "kube/http_transport.h"
#include "lab/api_fixture_test.h"
#include "net/http_server.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace muster::lab {
namespace {

#ifdef NDEBUG
constexpr std::size_t watches_count = 1'000;
constexpr std::size_t pods_count = 10'000;
constexpr std::size_t sockets_count = 200;
constexpr std::size_t pods_by_socket_count = 500;
#else  // with sanitizers, which make this thirty times as slow
constexpr std::size_t watches_count = 100;
constexpr std::size_t pods_count = 500;
constexpr std::size_t sockets_count = 20;
constexpr std::size_t pods_by_socket_count = 100;
#endif

/// The lines of one watch: versions may only rise, and each pod comes when it is its turn.
class Reader {
public:
    /// False when something was lost, doubled or out of order.
    bool take(std::string_view line) {
        if (!line.starts_with(R"({"type":"ADDED",)")) { return false; }
        const std::uint64_t version = number_behind(line, R"("resourceVersion":")");
        const std::uint64_t pod = number_behind(line, R"("name":"p-)");
        const bool is_good = version > version_ && pod == seen_;
        version_ = version;
        ++seen_;
        return is_good;
    }
    [[nodiscard]] std::size_t seen() const { return seen_; }

private:
    static std::uint64_t number_behind(std::string_view line, std::string_view mark) {
        const std::size_t at = line.find(mark);
        if (at == std::string_view::npos) { return UINT64_MAX; }
        return std::strtoull(line.data() + at + mark.size(), nullptr, 10);
    }

    std::uint64_t version_ = 0;
    std::size_t seen_ = 0;
};

/// All that there is; false when `take` does not want it.
template <class Take>
bool draw(net::HttpBody& body, Take take) {
    for (auto piece = body.next(); piece && !piece->empty(); piece = body.next()) {
        std::string_view rest = *piece;
        while (!rest.empty()) {
            const std::size_t length = take(rest);
            if (length == 0) { return false; }
            rest.remove_prefix(length);
        }
    }
    return true;
}

class WatchLoad : public ApiTest, public testing::WithParamInterface<const char*> {};

TEST_P(WatchLoad, NothingIsLostDoubledOrOutOfOrder) {
    const std::string accept = GetParam();
    std::vector<std::unique_ptr<net::HttpBody>> bodies;
    for (std::size_t i = 0; i < watches_count; ++i) {
        auto answer = ask("GET", pods + "?watch=1", "", {{"Accept", accept}});
        ASSERT_NE(answer.stream, nullptr);
        bodies.push_back(std::move(answer.stream));
    }
    // The first one is looked at closely; the others must be told the same, byte for byte.
    std::vector<std::string> lines;
    Reader first;
    const auto take_first = [&](std::string_view rest) -> std::size_t {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos || !first.take(rest.substr(0, end))) { return 0; }
        lines.emplace_back(rest.substr(0, end + 1));
        return end + 1;
    };
    std::vector<std::size_t> seen(watches_count, 0);
    const auto draw_other = [&](std::size_t one) {
        return draw(*bodies[one], [&](std::string_view rest) -> std::size_t {
            const std::size_t at = seen[one]++;
            return at < lines.size() && rest.starts_with(lines[at]) ? lines[at].size() : 0;
        });
    };

    for (std::size_t i = 0; i < pods_count; ++i) {
        ASSERT_EQ(make_pod(fmt::format("p-{}", i)).status, 201);
        ASSERT_TRUE(draw(*bodies[0], take_first)) << "at pod " << i;
        // Never all at once, so that they stand at different places.
        for (std::size_t one = 1 + i % 97; one < watches_count; one += 97) {
            ASSERT_TRUE(draw_other(one)) << "watch " << one << " at pod " << i;
        }
    }

    ASSERT_EQ(first.seen(), pods_count);
    for (std::size_t one = 1; one < watches_count; ++one) {
        ASSERT_TRUE(draw_other(one));
        ASSERT_EQ(seen[one], pods_count);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Views, WatchLoad,
    testing::Values("application/json",
                    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"));

TEST_F(ApiTest, ManyWatchesOverSocketsAreToldOfEachPodInOrder) {
    net::EventLoop loop;
    auto server = net::HttpServer::listen(
        loop, {}, [this](const net::HttpRequest& request) { return api->handle(request); });
    ASSERT_TRUE(server.has_value()) << server.error().message;
    const auto link =
        kube::connect_http(loop, {.http = {.port = server->port()}, .token = "secret"});
    std::vector<Reader> readers(sockets_count);
    std::vector<std::unique_ptr<kube::Transport::Stream>> streams;
    std::size_t open = 0;
    std::size_t done = 0;
    bool is_good = true;
    for (Reader& reader : readers) {
        kube::Call call;
        call.target = pods + "?watch=1";
        streams.push_back(link->stream(
            std::move(call),
            [&](std::string_view line) {
                if (line.find("p-first") != std::string_view::npos) {
                    if (++open == sockets_count) { loop.stop(); }
                    return;
                }
                is_good = is_good && reader.take(line);
                done += reader.seen() == pods_by_socket_count ? 1 : 0;
                if (!is_good || done == sockets_count) { loop.stop(); }
            },
            [&](const Result<kube::Answer>& /*end*/) {
                is_good = false;
                loop.stop();
            }));
    }
    ASSERT_EQ(make_pod("p-first").status, 201);
    loop.run();
    ASSERT_EQ(open, sockets_count);

    std::size_t made = 0;
    const std::function<void()> make = [&] {
        is_good = is_good && make_pod(fmt::format("p-{}", made++)).status == 201;
        if (made < pods_by_socket_count) { loop.post(make); }
    };
    loop.post(make);
    loop.run();

    EXPECT_TRUE(is_good);
    EXPECT_EQ(done, sockets_count);
}

}  // namespace
}  // namespace muster::lab
