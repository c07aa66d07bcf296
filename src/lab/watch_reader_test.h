// What a watch is told while pods p-0, p-1 and so on are made: each once and in order.
#pragma once

#include "kube/http_transport.h"
#include "lab/api_fixture_test.h"
#include "net/http_server.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace muster::lab {

/// The lines of one watch: versions may only rise, and each pod comes when it is its turn.
class WatchReader {
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

/// So many watches by sockets of their own, while so many pods are made.
class SocketWatches : public ApiTest {
protected:
    void watch(std::size_t sockets, std::size_t count) {
        net::EventLoop loop;
        auto server = net::HttpServer::listen(
            loop, {}, [&](const net::HttpRequest& request) { return api->handle(request); });
        ASSERT_TRUE(server.has_value()) << server.error().message;
        const auto link =
            kube::connect_http(loop, {.http = {.port = server->port()}, .token = "secret"});
        std::vector<WatchReader> readers(sockets);
        std::vector<std::unique_ptr<kube::Transport::Stream>> streams;
        std::size_t open = 0;
        std::size_t done = 0;
        bool is_good = true;
        for (WatchReader& reader : readers) {
            kube::Call call;
            call.target = pods + "?watch=1";
            streams.push_back(link->stream(
                std::move(call),
                [&](std::string_view line) {
                    if (line.find("p-first") != std::string_view::npos) {
                        if (++open == sockets) { loop.stop(); }
                        return;
                    }
                    is_good = is_good && reader.take(line);
                    done += reader.seen() == count ? 1 : 0;
                    if (!is_good || done == sockets) { loop.stop(); }
                },
                [&](const Result<kube::Answer>& /*end*/) {
                    is_good = false;
                    loop.stop();
                }));
        }
        ASSERT_EQ(make_pod("p-first").status, 201);
        loop.run();
        ASSERT_EQ(open, sockets);

        std::size_t made = 0;
        const std::function<void()> make = [&] {
            is_good = is_good && make_pod(fmt::format("p-{}", made++)).status == 201;
            if (made < count) { loop.post(make); }
        };
        loop.post(make);
        loop.run();

        EXPECT_TRUE(is_good);
        EXPECT_EQ(done, sockets);
    }
};

}  // namespace muster::lab
