// Many watches while many objects are made: each is told of each, once and in order.
#include "lab/watch_reader_test.h"

#include <gtest/gtest.h>

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
    WatchReader first;
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

TEST_F(SocketWatches, ManyWatchesOverSocketsAreToldOfEachPodInOrder) {
    watch(sockets_count, pods_by_socket_count);
}

}  // namespace
}  // namespace muster::lab
