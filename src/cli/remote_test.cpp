// Verbs that ask a server: what they send, what they print, which code they end with.
#include "cli/remote.h"

#include "cli/api_status.h"
#include "cli/run.h"
#include "net/event_loop.h"
#include "net/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class RemoteVerb : public testing::Test {
protected:
    void SetUp() override {
        auto made = net::HttpServer::listen(loop, {}, [this](net::HttpRequest request) {
            asked.push_back(std::move(request));
            return answer(asked.size());
        });
        ASSERT_TRUE(made.has_value());
        server.emplace(std::move(*made));
        url = fmt::format("http://127.0.0.1:{}", server->port());
        thread = std::thread([this] { loop.run(); });
    }
    void TearDown() override {
        loop.stop();
        thread.join();
    }
    struct Said {
        int code = 0;
        std::string out;
        std::string err;
    };
    static Said say(const std::vector<std::string>& words) {
        std::ostringstream out;
        std::ostringstream err;
        Terminal terminal{.out = out, .err = err, .data_folder = ""};
        const int code = run(words, terminal);
        return {code, out.str(), err.str()};
    }
    static net::HttpResponse good(int code) {
        return {.body =
                    fmt::format(R"({{"code":{},"out":"the answer\n","err":"a note\n"}})", code)};
    }
    static net::HttpResponse bad(int status, std::string_view reason = "") {
        return {.status = status, .body = status_json(status, "that is how it is", reason)};
    }

    net::EventLoop loop;
    std::function<net::HttpResponse(std::size_t)> answer = [](std::size_t) { return good(1); };
    std::vector<net::HttpRequest> asked;  // read when the answer has come
    std::optional<net::HttpServer> server;
    std::string url;
    std::thread thread;
};

TEST_F(RemoteVerb, PrintsWhatTheServerSaysAndEndsAsItDoes) {
    const Said said = say({"why", "train", "-n", "team", "--server", url});

    EXPECT_EQ(said.code, 1);
    EXPECT_EQ(said.out, "the answer\n");
    EXPECT_EQ(said.err, "a note\n");
    ASSERT_THAT(asked, SizeIs(1));
    EXPECT_EQ(asked[0].target, "/api/v1/why/team/train?output=terminal&format=table&colour=false");
}

TEST_F(RemoteVerb, PostsTheManifestsOfAPlan) {
    const auto folder = std::filesystem::temp_directory_path() / "muster_remote_test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "a.yaml") << "kind: Pod\n";
    std::ofstream(folder / "b.yaml") << "kind: Job\n";

    say({"plan", "-f", folder / "a.yaml", "-f", folder / "b.yaml", "-o", "json", "--server", url});

    std::filesystem::remove_all(folder);
    ASSERT_THAT(asked, SizeIs(1));
    EXPECT_EQ(asked[0].method, "POST");
    EXPECT_EQ(asked[0].body, "---\nkind: Pod\n\n---\nkind: Job\n\n");
    EXPECT_THAT(asked[0].target, AllOf(StartsWith("/api/v1/plan?output=terminal&format=json"),
                                       HasSubstr("sensitivity=15"), HasSubstr("a.yaml")));
}

TEST_F(RemoteVerb, AsksAgainUntilItMeetsTheLeader) {
    answer = [](std::size_t tries) { return tries < 5 ? bad(503, api_stands_by) : good(0); };

    const Said said = say({"queue", "--server", url});

    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(asked, SizeIs(5));
}

TEST_F(RemoteVerb, GivesUpWhenNobodyLeads) {
    answer = [](std::size_t) { return bad(503, api_stands_by); };

    const Said said = say({"queue", "--server", url});

    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("that is how it is"));
}

TEST_F(RemoteVerb, SaysARefusalAsTheVerbDoes) {
    answer = [](std::size_t) { return bad(404); };

    const Said said = say({"why", "none", "--server", url});

    EXPECT_EQ(said.code, 2);
    EXPECT_EQ(said.err, "muster: that is how it is\n");
}

TEST_F(RemoteVerb, TellsAnAnswerOfSomethingElse) {
    answer = [](std::size_t) { return net::HttpResponse{.body = "<html>"}; };

    const Said said = say({"shapes", "--server", url});

    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("something else than a scheduler does"));
}

TEST_F(RemoteVerb, IsNamedByTheEnvironmentUnlessAClusterIs) {
    setenv("MUSTER_SERVER", url.c_str(), 1);
    const Said by_name = say({"shapes"});
    const Said of_file = say({"shapes", "--cluster", "/dev/null/none"});
    unsetenv("MUSTER_SERVER");

    EXPECT_EQ(by_name.out, "the answer\n");
    EXPECT_EQ(of_file.code, 2);
    EXPECT_THAT(asked, SizeIs(1));
}

TEST_F(RemoteVerb, RefusesTwoClusters) {
    const Said said = say({"shapes", "--cluster", "c.yaml", "--server", url});
    const Said odd = say({"shapes", "--service", "muster"});

    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("expected one of them"));
    EXPECT_THAT(odd.err, HasSubstr("NAMESPACE/NAME:PORT"));
    EXPECT_THAT(asked, SizeIs(0));
}

TEST(RemotePath, KeepsSlashesAndEscapesTheRest) {
    EXPECT_EQ(escape_path("team/train"), "team/train");
    EXPECT_THAT(escape_path("a b?c"), testing::Not(testing::ContainsRegex("[ ?]")));
}

}  // namespace
}  // namespace muster::cli
