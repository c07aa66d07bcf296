#include "kube/lease.h"

#include "kube/guarded_transport.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace muster::kube {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

/// A server with one lease, and time that moves when a test says so.
struct LeaseServer {
    std::optional<json::object> lease;
    std::int64_t version = 0;
    std::int64_t now = 1'000'000;
    std::multimap<std::int64_t, std::function<void()>> later;

    Answer handle(const Call& call) {
        if (call.method == "GET") {
            if (!lease) { return {.status = 404, .body = "{}"}; }
            return {.status = 200, .body = json::serialize(*lease)};
        }
        json::object object = json::parse(call.body).as_object();
        const bool is_new = call.method == "POST";
        const bool is_stale = is_new ? lease.has_value()
                                     : !lease || text_at(object, "metadata.resourceVersion") !=
                                                     std::to_string(version);
        if (is_stale) { return {.status = 409, .body = R"({"message":"it was changed"})"}; }
        object["metadata"].as_object()["resourceVersion"] = std::to_string(++version);
        lease = object;
        return {.status = is_new ? 201 : 200, .body = json::serialize(object)};
    }
    void pass(std::int64_t milliseconds) {
        const std::int64_t end = now + milliseconds;
        while (!later.empty() && later.begin()->first <= end) {
            now = std::max(now, later.begin()->first);
            const auto work = std::move(later.begin()->second);
            later.erase(later.begin());
            work();
        }
        now = end;
    }
};

/// One replica's way to it, which may be cut, or its process stopped.
class Replica : public Transport {
public:
    Replica(LeaseServer& server, const std::string& name)
        : server_(server),
          elector(*this, {.identity = name,
                          .steady_ms = [this] { return server_.now + drift; },
                          .wall_ms = [this] { return server_.now + wall_offset; }}) {}

    void call(Call call, Done done) override {
        calls.push_back(call);
        if (is_stopped) {
            queued.push_back([this, call = std::move(call), done = std::move(done)] {
                done(server_.handle(call));
            });
            return;
        }
        server_.later.emplace(server_.now, [this, call = std::move(call), done = std::move(done)] {
            if (is_mute) { return; }
            if (is_cut) { return done(fail(Code::unavailable, "no route")); }
            done(server_.handle(call));
        });
    }
    std::unique_ptr<Stream> stream(Call, std::function<void(std::string_view)>, Done) override {
        return nullptr;
    }
    void after(std::int64_t milliseconds, std::function<void()> work) override {
        server_.later.emplace(server_.now + milliseconds, [this, work = std::move(work)] {
            if (is_stopped) {
                queued.push_back(work);
            } else {
                work();
            }
        });
    }
    void go_on() {
        is_stopped = false;
        for (const auto& work : std::exchange(queued, {})) { work(); }
    }

private:
    LeaseServer& server_;

public:
    bool is_cut = false;
    bool is_mute = false;  // no answer at all
    bool is_stopped = false;
    std::int64_t drift = 0;
    std::int64_t wall_offset = 0;
    std::vector<Call> calls;
    std::vector<std::function<void()>> queued;
    LeaseElector elector;
};

TEST(Lease, IsTakenByTheFirstAndWrittenAsOthersDo) {
    LeaseServer server;
    Replica one(server, "one");

    one.elector.start();
    server.pass(1);

    EXPECT_TRUE(one.elector.is_leader());
    ASSERT_TRUE(server.lease);
    EXPECT_EQ(text_at(*server.lease, "kind"), "Lease");
    EXPECT_EQ(text_at(*server.lease, "metadata.name"), "muster");
    EXPECT_EQ(text_at(*server.lease, "spec.holderIdentity"), "one");
    EXPECT_EQ(int_at(*server.lease, "spec.leaseDurationSeconds"), 15);
    EXPECT_EQ(int_at(*server.lease, "spec.leaseTransitions", -1), 0);
    EXPECT_EQ(text_at(*server.lease, "spec.renewTime"), "1970-01-01T00:16:40.000000Z");
}

TEST(Lease, IsRenewedAndNobodyElseLeads) {
    LeaseServer server;
    Replica one(server, "one");
    Replica two(server, "two");
    one.elector.start();
    server.pass(1);
    two.elector.start();

    for (int i = 0; i < 600; ++i) {
        server.pass(100);
        EXPECT_TRUE(one.elector.is_leader());
        EXPECT_FALSE(two.elector.is_leader());
    }

    EXPECT_EQ(two.elector.holder(), "one");
    EXPECT_EQ(text_at(*server.lease, "spec.acquireTime"), "1970-01-01T00:16:40.000000Z");
}

TEST(Lease, GoesToAnotherWithinItsTimeWhenTheHolderDies) {
    LeaseServer server;
    auto one = std::make_unique<Replica>(server, "one");
    Replica two(server, "two");
    one->elector.start();
    server.pass(1);
    two.elector.start();
    server.pass(5'000);

    one->is_stopped = true;  // as kill -9: nothing of it is heard again
    std::int64_t waited = 0;
    for (; !two.elector.is_leader() && waited < 60'000; waited += 100) { server.pass(100); }

    EXPECT_LE(waited, 15'000 + 2'400 + 100);
    EXPECT_GE(waited, 12'000);
    EXPECT_EQ(int_at(*server.lease, "spec.leaseTransitions"), 1);
}

/// Whatever is cut off when: never two at once.
TEST(Lease, NeverHasTwoLeaders) {
    for (int trial = 0; trial < 50; ++trial) {
        LeaseServer server;
        Replica one(server, "one");
        Replica two(server, "two");
        one.elector.start();
        server.pass(1 + trial * 37);
        two.elector.start();
        server.pass(4'000 + trial * 61);
        (trial % 3 == 0 ? one.is_cut : trial % 3 == 1 ? one.is_mute : one.is_stopped) = true;
        bool has_moved = false;
        for (int i = 0; i < 400; ++i) {
            server.pass(100);
            EXPECT_FALSE(one.elector.is_leader() && two.elector.is_leader()) << trial;
            has_moved = has_moved || two.elector.is_leader();
        }
        EXPECT_TRUE(has_moved) << trial;
        one.is_cut = false;
        one.is_mute = false;
        one.go_on();
        EXPECT_FALSE(one.elector.is_leader()) << trial;
        for (int i = 0; i < 400; ++i) {
            server.pass(100);
            EXPECT_FALSE(one.elector.is_leader() && two.elector.is_leader()) << trial;
        }
        EXPECT_EQ(one.elector.holder(), "two") << trial;
    }
}

TEST(Lease, LooksAtNobodysClockButItsOwn) {
    LeaseServer server;
    Replica one(server, "one");
    Replica two(server, "two");
    one.wall_offset = -86'400'000;  // a day behind: its renewals look old
    two.drift = 5'000'000;
    one.elector.start();
    server.pass(1);
    two.elector.start();

    for (int i = 0; i < 600; ++i) {
        server.pass(100);
        EXPECT_FALSE(two.elector.is_leader());
    }
}

TEST(Lease, IsFreeAtOnceWhenItWasLetGo) {
    LeaseServer server;
    Replica one(server, "one");
    Replica two(server, "two");
    one.elector.start();
    server.pass(1);
    two.elector.start();
    server.pass(3'000);

    bool is_told = false;
    one.elector.release([&] { is_told = true; });
    EXPECT_FALSE(one.elector.is_leader());
    server.pass(2'500);

    EXPECT_TRUE(is_told);
    EXPECT_TRUE(two.elector.is_leader());
    EXPECT_EQ(text_at(*server.lease, "spec.holderIdentity"), "two");
}

TEST(Lease, IsLeftToWhoWasFaster) {
    LeaseServer server;
    Replica one(server, "one");
    Replica two(server, "two");
    one.elector.start();
    two.elector.start();  // both see none, and both write

    server.pass(1);

    EXPECT_TRUE(one.elector.is_leader());
    EXPECT_FALSE(two.elector.is_leader());
    EXPECT_THAT(two.elector.problem(), HasSubstr("409: it was changed"));
    server.pass(5'000);
    EXPECT_EQ(two.elector.holder(), "one");
    EXPECT_EQ(two.elector.problem(), "");
}

/// What a stopped leader had in hand is refused when it goes on, before it looks at anything.
TEST(Lease, KeepsAStoppedLeaderFromWriting) {
    LeaseServer server;
    Replica one(server, "one");
    one.elector.start();
    server.pass(1);
    AnswerCounts counts;
    const auto guarded = guard(one, [&] { return one.elector.is_leader(); }, counts);
    const auto write = [&] {
        Result<Answer> answer = fail(Code::timeout, "not called");
        one.calls.clear();
        guarded->call({.method = "PUT", .target = "/x", .body = "{}"},
                      [&](Result<Answer> given) { answer = std::move(given); });
        server.pass(0);
        return answer;
    };
    EXPECT_TRUE(write());
    EXPECT_EQ(one.calls.size(), 1U);

    one.is_stopped = true;
    server.pass(11'000);
    one.is_stopped = false;
    const auto late = write();

    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::conflict);
    EXPECT_EQ(one.calls.size(), 0U);
    EXPECT_EQ(counts.at(409), 1U);
}

TEST(Lease, TellsTheLedgerOfAHolderThatLives) {
    LeaseServer server;
    Replica one(server, "one");
    Replica two(server, "two");
    one.elector.start("file a");
    server.pass(1);
    two.elector.start("file b");

    server.pass(1);
    EXPECT_EQ(two.elector.holder(), "one");
    EXPECT_EQ(two.elector.ledger_of_living_holder(), std::nullopt) << "it may be dead";
    server.pass(6'000);

    EXPECT_EQ(two.elector.ledger_of_living_holder(), "file a");
    EXPECT_EQ(one.elector.ledger_of_living_holder(), std::nullopt) << "it is its own";
}

TEST(Lease, TellsNoLedgerOfAHolderThatDied) {
    LeaseServer server;
    Replica one(server, "one");
    Replica two(server, "two");
    one.elector.start("file a");
    server.pass(1);
    one.is_stopped = true;

    two.elector.start("file b");
    for (int i = 0; i < 200 && !two.elector.is_leader(); ++i) {
        EXPECT_EQ(two.elector.ledger_of_living_holder(), std::nullopt);
        server.pass(100);
    }

    EXPECT_TRUE(two.elector.is_leader());
    EXPECT_EQ(annotation_of(*server.lease, "muster.dev/ledger"), "file b");
}

TEST(Lease, SaysNothingOfAHolderThatTellsNoLedger) {
    LeaseServer server;
    Replica one(server, "one");
    Replica two(server, "two");
    one.elector.start();
    server.pass(1);
    two.elector.start("file b");

    server.pass(10'000);

    EXPECT_EQ(two.elector.ledger_of_living_holder(), std::nullopt);
}

}  // namespace
}  // namespace muster::kube
