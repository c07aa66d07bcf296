#include "kube/client.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace muster::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Answers calls in the order of a script, and streams what a test says.
class ScriptedTransport : public Transport {
public:
    struct Watch {
        Call call;
        std::function<void(std::string_view)> line;
        Done done;
        bool is_open = true;
    };

    void call(Call call, Done done) override {
        calls.push_back(call.target);
        waiting.push_back(std::move(done));
    }

    std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                   Done done) override {
        auto watch = std::make_shared<Watch>();
        watch->call = std::move(call);
        watch->line = std::move(line);
        watch->done = std::move(done);
        watches.push_back(watch);
        return std::make_unique<Handle>(watch);
    }

    void after(std::int64_t milliseconds, std::function<void()> work) override {
        waits.push_back(milliseconds);
        later.push_back(std::move(work));
    }

    void answer(Result<Answer> answer) {
        ASSERT_FALSE(waiting.empty());
        const Done done = std::move(waiting.front());
        waiting.pop_front();
        done(std::move(answer));
    }
    void answer(int status, std::string body) {
        answer(Result<Answer>(Answer{.status = status, .body = std::move(body)}));
    }
    void pass_time() {
        auto work = std::move(later);
        later.clear();
        for (const auto& one : work) { one(); }
    }
    void line(std::string_view text) { watches.back()->line(text); }
    void end(int status) { watches.back()->done(Answer{.status = status, .body = ""}); }

    std::vector<std::string> calls;
    std::deque<Done> waiting;
    std::vector<std::shared_ptr<Watch>> watches;
    std::vector<std::int64_t> waits;
    std::vector<std::function<void()>> later;

private:
    struct Handle : Stream {
        explicit Handle(std::shared_ptr<Watch> of) : watch(std::move(of)) {}
        Handle(const Handle&) = delete;
        Handle& operator=(const Handle&) = delete;
        ~Handle() override { watch->is_open = false; }
        std::shared_ptr<Watch> watch;
    };
};

std::string pod(const std::string& name, int version, const std::string& uid = "u") {
    return fmt::format(
        R"({{"metadata":{{"namespace":"team","name":"{}","uid":"{}-{}","resourceVersion":"{}","managedFields":[]}}}})",
        name, name, uid, version);
}
std::string list(const std::string& items, int version, const std::string& token = "") {
    return fmt::format(
        R"({{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
        version, token, items);
}
std::string event(const std::string& type, const std::string& object) {
    return fmt::format(R"({{"type":"{}","object":{}}})", type, object);
}

class InformerTest : public testing::Test {
protected:
    InformerTest()
        : informer(transport, {.group = "", .version = "v1", .plural = "pods"},
                   [this](Informer::Change change, const ObjectName& name,
                          const boost::json::object& now, const boost::json::object* before) {
                       const bool is_set = change == Informer::Change::set;
                       heard.push_back(fmt::format("{}{} {}", is_set ? (before ? "~" : "+") : "-",
                                                   name.second,
                                                   text_at(now, "metadata.resourceVersion")));
                   }) {}

    void start_with(const std::string& items, int version) {
        informer.start();
        transport.answer(200, list(items, version));
    }

    ScriptedTransport transport;
    std::vector<std::string> heard;
    Informer informer;
};

TEST_F(InformerTest, ListsInPagesAndWatchesFromThere) {
    informer.start();
    EXPECT_THAT(transport.calls, ElementsAre("/api/v1/pods?limit=500"));
    transport.answer(200, list(pod("a", 3), 7, "to+ken"));
    EXPECT_THAT(transport.calls.back(), HasSubstr("&continue=to%2Bken"));
    EXPECT_FALSE(informer.is_synced());
    EXPECT_THAT(heard, IsEmpty());
    transport.answer(200, list(pod("b", 4), 7));

    EXPECT_TRUE(informer.is_synced());
    EXPECT_THAT(heard, ElementsAre("+a 3", "+b 4"));
    ASSERT_EQ(transport.watches.size(), 1u);
    EXPECT_THAT(transport.watches[0]->call.target,
                HasSubstr("watch=1&allowWatchBookmarks=true&resourceVersion=7&"));
}

TEST_F(InformerTest, FillsInWhatListItemsLeaveOutAndDropsManagedFields) {
    start_with(pod("a", 3), 7);

    const boost::json::object* found = informer.find({"team", "a"});
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(text_at(*found, "kind"), "Pod");
    EXPECT_EQ(text_at(*found, "apiVersion"), "v1");
    EXPECT_EQ(value_at(*found, "metadata.managedFields"), nullptr);
}

TEST_F(InformerTest, TellsOfEachChangeAndResumesAtTheLastOneSeen) {
    start_with(pod("a", 3), 7);

    transport.line(event("MODIFIED", pod("a", 8)));
    transport.line(event("ADDED", pod("b", 9)));
    transport.line(event("DELETED", pod("a", 10)));
    transport.line(event("BOOKMARK", R"({"metadata":{"resourceVersion":"44"}})"));
    transport.end(200);
    transport.pass_time();

    EXPECT_THAT(heard, ElementsAre("+a 3", "~a 8", "+b 9", "-a 8"));
    ASSERT_EQ(transport.watches.size(), 2u);
    EXPECT_FALSE(transport.watches[0]->is_open);
    EXPECT_THAT(transport.watches[1]->call.target, HasSubstr("resourceVersion=44&"));
    EXPECT_EQ(transport.calls.size(), 1u);  // no second list
}

struct GoneCase {
    std::string name;
    std::function<void(ScriptedTransport&)> say;
};

class InformerGone : public InformerTest, public testing::WithParamInterface<GoneCase> {};

TEST_P(InformerGone, ListsAgainAndTellsTheDifference) {
    start_with(pod("a", 3) + "," + pod("b", 4) + "," + pod("c", 5) + "," + pod("d", 6), 7);
    heard.clear();

    GetParam().say(transport);
    transport.pass_time();
    EXPECT_EQ(transport.calls.size(), 2u);
    transport.answer(200, list(pod("a", 3) + "," + pod("b", 20) + "," + pod("d", 21, "other") +
                                   "," + pod("e", 22),
                               30));

    EXPECT_THAT(heard, ElementsAre("-c 5", "~b 20", "-d 6", "+d 21", "+e 22"));
    EXPECT_THAT(transport.watches.back()->call.target, HasSubstr("resourceVersion=30&"));
}

INSTANTIATE_TEST_SUITE_P(
    AfterA, InformerGone,
    testing::Values(GoneCase{"Status", [](ScriptedTransport& api) { api.end(410); }},
                    GoneCase{"Event",
                             [](ScriptedTransport& api) {
                                 api.line(event("ERROR", R"({"kind":"Status","code":410})"));
                                 api.line(event("ADDED", pod("late", 99)));  // not heard any more
                             }},
                    GoneCase{"BrokenLine",
                             [](ScriptedTransport& api) { api.line(R"({"type":"ADDED","obj)"); }},
                    GoneCase{"LineWithoutObject",
                             [](ScriptedTransport& api) { api.line(R"({"type":"ADDED"})"); }}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(InformerTest, APageThatHasExpiredStartsTheListAnew) {
    informer.start();
    transport.answer(200, list(pod("a", 3), 7, "token"));
    transport.answer(410, "{}");
    transport.pass_time();
    EXPECT_EQ(transport.calls.back(), "/api/v1/pods?limit=500");
    transport.answer(200, list(pod("b", 4), 9));

    EXPECT_THAT(heard, ElementsAre("+b 4"));
}

TEST_F(InformerTest, APageThatFailedIsAskedForAgainWithoutThoseBefore) {
    informer.start();
    transport.answer(200, list(pod("a", 3), 7, "token"));
    transport.answer(fail(Code::unavailable, "cut"));
    transport.pass_time();
    transport.answer(503, "busy");
    transport.pass_time();
    EXPECT_EQ(transport.calls.back(), "/api/v1/pods?limit=500&continue=token");
    transport.answer(200, list(pod("b", 4), 7));

    EXPECT_THAT(heard, ElementsAre("+a 3", "+b 4"));
}

TEST_F(InformerTest, AListOfManyPagesGoesOnHoweverManyOfThemFailOnce) {
    informer.start();
    std::string last;
    for (int i = 0; i < 20; ++i) {
        transport.answer(502, "{}");
        transport.pass_time();
        EXPECT_EQ(transport.calls.back(), "/api/v1/pods?limit=500" + last);
        transport.answer(200, list(pod(fmt::format("p{}", i), 3), 7, fmt::format("t{}", i)));
        last = fmt::format("&continue=t{}", i);
        EXPECT_LE(transport.waits.back(), 100);
    }
    transport.answer(200, list(pod("z", 3), 7));

    EXPECT_EQ(heard.size(), 21u);
}

TEST_F(InformerTest, APageThatFailsAgainAndAgainStartsTheListAnew) {
    informer.start();
    transport.answer(200, list(pod("a", 3), 7, "token"));
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(transport.calls.back(), "/api/v1/pods?limit=500&continue=token");
        transport.answer(500, "{}");
        transport.pass_time();
    }
    EXPECT_EQ(transport.calls.back(), "/api/v1/pods?limit=500");
    transport.answer(200, list(pod("b", 4), 9));

    EXPECT_THAT(heard, ElementsAre("+b 4"));
}

TEST_F(InformerTest, WaitsLongerAfterEachFailureAndNotForEver) {
    informer.start();
    for (int i = 0; i < 14; ++i) {
        if (i % 2 == 0) {
            transport.answer(fail(Code::unavailable, "refused"));
        } else {
            transport.answer(503, "busy");
        }
        transport.pass_time();
    }

    std::int64_t most = 100;
    for (const std::int64_t wait : transport.waits) {
        EXPECT_GE(wait, most / 2);
        EXPECT_LE(wait, most);
        most = std::min<std::int64_t>(most * 2, 10'000);
    }
    EXPECT_EQ(transport.waits.size(), 14u);
    EXPECT_EQ(most, 10'000);
}

TEST_F(InformerTest, AWordFromTheServerEndsTheBackOff) {
    start_with("", 7);
    for (int i = 0; i < 8; ++i) {
        transport.end(429);
        transport.pass_time();
    }
    EXPECT_GT(transport.waits.back(), 1'000);

    transport.line(event("BOOKMARK", R"({"metadata":{"resourceVersion":"44"}})"));
    transport.end(200);

    EXPECT_LE(transport.waits.back(), 100);
}

TEST_F(InformerTest, AWatchThatIsRefusedAgainAndAgainListsAnew) {
    start_with(pod("a", 900), 900);
    heard.clear();

    for (int i = 0; i < 5; ++i) {  // its store was put back, and is not as far yet
        EXPECT_EQ(transport.calls.size(), 1u);
        transport.end(504);
        transport.pass_time();
    }
    transport.answer(200, list(pod("a", 7), 8));

    EXPECT_THAT(heard, ElementsAre("~a 7"));
    EXPECT_THAT(transport.watches.back()->call.target, HasSubstr("resourceVersion=8&"));
}

TEST_F(InformerTest, AWatchThatBeginsIsNoProblemThoughNothingHappens) {
    start_with("", 7);
    transport.end(503);
    EXPECT_NE(informer.problem(), "");

    transport.pass_time();
    transport.line("");

    EXPECT_EQ(informer.problem(), "");
}

TEST_F(InformerTest, GoesOnAtOnceWhenAStreamThatToldOfObjectsEnds) {
    start_with("", 7);
    transport.line(event("ADDED", pod("a", 8)));
    transport.end(200);
    EXPECT_EQ(transport.waits.back(), 0);
    transport.pass_time();

    transport.line(event("BOOKMARK", R"({"metadata":{"resourceVersion":"44"}})"));
    transport.end(200);

    EXPECT_GT(transport.waits.back(), 0);
}

TEST_F(InformerTest, ServerThatOnlySaysGoneIsNotAskedWithoutPause) {
    informer.start();
    for (int i = 0; i < 10; ++i) {
        transport.answer(200, list("", 7));
        transport.end(410);
        transport.pass_time();
    }

    EXPECT_GT(transport.waits.back(), 4'000);
}

TEST(Informer, IsNotCalledAfterItsEnd) {
    ScriptedTransport transport;
    {
        Informer informer(transport, {.group = "", .version = "v1", .plural = "pods"});
        informer.start();
        transport.answer(200, list("", 7));
        transport.end(200);
    }
    EXPECT_FALSE(transport.watches[0]->is_open);

    transport.line(event("ADDED", pod("a", 8)));
    transport.pass_time();

    EXPECT_EQ(transport.watches.size(), 1u);
}

TEST(PathOf, IsAsInUrls) {
    const Resource pods{.group = "", .version = "v1", .plural = "pods"};
    const Resource jobs{.group = "batch", .version = "v1", .plural = "jobs"};

    EXPECT_EQ(path_of(pods, ""), "/api/v1/pods");
    EXPECT_EQ(path_of(pods, "team", "a", "binding"), "/api/v1/namespaces/team/pods/a/binding");
    EXPECT_EQ(path_of(jobs, "team"), "/apis/batch/v1/namespaces/team/jobs");
    EXPECT_EQ(path_of(jobs, "te/am", "a?b"), "/apis/batch/v1/namespaces/te%2Fam/jobs/a%3Fb");
}

}  // namespace
}  // namespace muster::kube
