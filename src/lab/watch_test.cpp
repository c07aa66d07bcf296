#include "lab/api_fixture_test.h"
#include "lab/object_disk.h"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <unistd.h>

namespace muster::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class WatchTest : public ApiTest {
protected:
    std::unique_ptr<net::HttpBody> watch(const std::string& query = "") {
        return std::move(ask("GET", pods + "?watch=1" + query).stream);
    }
    void label(const std::string& name, const std::string& value) {
        ASSERT_EQ(ask("PATCH", pods + "/" + name,
                      fmt::format(R"({{"metadata":{{"labels":{{"k":"{}"}}}}}})", value),
                      {{"Content-Type", "application/merge-patch+json"}})
                      .status,
                  200);
    }
};

TEST_F(WatchTest, TellsWhatIsThereAndThenWhatHappens) {
    ASSERT_EQ(make_pod("a").status, 201);
    const auto body = watch();

    EXPECT_THAT(drawn(*body), ElementsAre(Pair("ADDED", "a")));
    EXPECT_THAT(drawn(*body), IsEmpty());
    ASSERT_EQ(make_pod("b").status, 201);
    label("a", "1");
    ask("DELETE", pods + "/b");
    EXPECT_THAT(drawn(*body),
                ElementsAre(Pair("ADDED", "b"), Pair("MODIFIED", "a"), Pair("DELETED", "b")));
}

TEST_F(WatchTest, GoesOnFromAVersion) {
    const std::string version = at_path(make_pod("a"), "/metadata/resourceVersion");
    ASSERT_EQ(make_pod("b").status, 201);

    EXPECT_THAT(drawn(*watch("&resourceVersion=" + version)), ElementsAre(Pair("ADDED", "b")));
}

TEST_F(WatchTest, WhatASelectorNoLongerTakesIsGone) {
    ASSERT_EQ(make_pod("a").status, 201);
    const auto body = watch("&labelSelector=k%3D1");

    label("a", "1");
    label("a", "2");
    ask("DELETE", pods + "/a");

    EXPECT_THAT(drawn(*body), ElementsAre(Pair("ADDED", "a"), Pair("DELETED", "a")));
}

TEST_F(WatchTest, WakesWhoWaits) {
    const auto body = watch();
    int woken = 0;
    body->on_more([&] { ++woken; });

    ASSERT_EQ(make_pod("a").status, 201);

    EXPECT_EQ(woken, 1);
}

TEST_F(WatchTest, EndsWhenItsTimeIsOver) {
    const auto body = watch("&timeoutSeconds=10");
    EXPECT_TRUE(body->next().has_value());

    pass(10'000);

    EXPECT_FALSE(body->next().has_value());
}

TEST_F(WatchTest, MarksTheEndOfWhatWasThere) {
    ASSERT_EQ(make_pod("a").status, 201);

    EXPECT_THAT(drawn(*watch("&sendInitialEvents=true&allowWatchBookmarks=true"
                             "&resourceVersionMatch=NotOlderThan")),
                ElementsAre(Pair("ADDED", "a"), Pair("BOOKMARK", "")));
}

/// A pod that many clients follow: nobody misses a change, and all see the same order.
TEST_F(WatchTest, AllSeeTheSameInTheSameOrder) {
    std::vector<std::unique_ptr<net::HttpBody>> bodies;
    for (int i = 0; i < 100; ++i) { bodies.push_back(watch()); }
    std::vector<std::pair<std::string, std::string>> expected;
    std::array<decltype(expected), 7> seen;
    for (std::size_t i = 0; i < 200; ++i) {
        const std::string name = fmt::format("p{}", i % 50);
        const bool is_there = ask("GET", pods + "/" + name).status == 200;
        if (is_there) {
            ask("DELETE", pods + "/" + name);
        } else {
            make_pod(name);
        }
        expected.emplace_back(is_there ? "DELETED" : "ADDED", name);
        const auto part = drawn(*bodies[i % 7]);  // some of them read on the way
        seen[i % 7].insert(seen[i % 7].end(), part.begin(), part.end());
    }

    for (std::size_t i = 0; i < bodies.size(); ++i) {
        auto all = i < seen.size() ? seen[i] : decltype(expected)();
        const auto rest = drawn(*bodies[i]);
        all.insert(all.end(), rest.begin(), rest.end());
        EXPECT_EQ(all, expected) << i;
    }
}

struct Folder {
    Folder()
        : path(std::filesystem::temp_directory_path() / fmt::format("muster-lab-{}", getpid())) {
        std::filesystem::create_directories(path);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

TEST_F(WatchTest, WhatWasStoredIsThereAfterARestartAndOldVersionsAreGone) {
    const Folder folder;
    const auto disk = [&] {
        auto opened = open_object_disk(folder.path / "objects");
        EXPECT_TRUE(opened.has_value());
        return std::move(*opened);
    };
    open(disk());
    const auto made = make_pod("a");
    const std::string old = at_path(made, "/metadata/resourceVersion");
    ASSERT_EQ(make_pod("b").status, 201);
    ask("DELETE", pods + "/b");

    open(disk());

    EXPECT_EQ(ask("GET", pods + "/a").body, made.body);
    EXPECT_EQ(ask("GET", pods + "/b").status, 404);
    const auto expired = ask("GET", pods + "?watch=1&resourceVersion=" + old);
    EXPECT_EQ(expired.status, 410);
    EXPECT_EQ(at_path(expired, "/reason"), "Expired");
    const auto body = watch("&resourceVersion=" + std::to_string(api->store().version()));
    ASSERT_EQ(make_pod("c").status, 201);
    EXPECT_THAT(drawn(*body), ElementsAre(Pair("ADDED", "c")));
}

TEST_F(WatchTest, AWriteThatFailsIsAsIfItHadNotBeenAskedFor) {
    bool is_full = false;
    open(std::make_unique<FullDisk>(is_full));
    ASSERT_EQ(make_pod("a").status, 201);
    const auto body = watch();
    drawn(*body);
    const auto before = ask("GET", pods).body;

    is_full = true;
    const auto refused = make_pod("b");

    EXPECT_EQ(refused.status, 500);
    EXPECT_EQ(at_path(refused, "/reason"), "InternalError");
    EXPECT_EQ(ask("DELETE", pods + "/a").status, 500);
    EXPECT_EQ(ask("GET", pods).body, before);
    EXPECT_THAT(drawn(*body), IsEmpty());
}

}  // namespace
}  // namespace muster::lab
