#include "cli/run.h"
#include "ledger/ledger.h"
#include "ledger/store_sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Answer {
    int code = 0;
    std::string out;
    std::string err;
};

Answer ask(const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{.out = out, .err = err, .data_folder = ""};
    const int code = run(words, terminal);
    return {code, out.str(), err.str()};
}

class LedgerVerb : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  (std::string("muster_") +
                   testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        auto store = open_sqlite_store(file());
        ASSERT_TRUE(store.has_value()) << store.error().message;
        auto ledger =
            Ledger::open(std::move(*store), {.leader = "host-a", .engine_version = "0.1.0"});
        ASSERT_TRUE(ledger.has_value());
        Cycle cycle;
        cycle.facts = {TimeIs{1'700'000'000'250}, NodeGone{"n1"}};
        cycle.plan.cycle = 1;
        cycle.plan.placements = {{.workload = "train", .tasks = {{.task = 0, .node = "a"}}}};
        ASSERT_TRUE(ledger->append(cycle).has_value());
        ASSERT_TRUE(ledger->append(Snapshot{.cycle = 1, .nodes = {NodeSpec{}}}).has_value());
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string file() const { return folder_ / "log.ledger"; }

    std::filesystem::path folder_;
};

TEST_F(LedgerVerb, ShowsEntriesAsATable) {
    const Answer answer = ask({"ledger", "show", file()});

    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out, AllOf(HasSubstr("host-a leads, muster 0.1.0, policy 6e340b9cffb3"),
                                  HasSubstr("2023-11-14 22:13:20.250"),
                                  HasSubstr("cycle 1: 2 facts, 1 placement"),
                                  HasSubstr("after cycle 1: 1 node, 0 workloads")));
}

TEST_F(LedgerVerb, ShowsSomeEntries) {
    EXPECT_THAT(ask({"ledger", "show", file(), "--last", "1"}).out,
                AllOf(HasSubstr("snapshot"), Not(HasSubstr("2 facts"))));
    EXPECT_THAT(ask({"ledger", "show", file(), "--from", "2"}).out,
                AllOf(HasSubstr("2 facts"), Not(HasSubstr("leads"))));
    EXPECT_EQ(ask({"ledger", "show", file(), "--from", "2", "--last", "1"}).code, 2);
}

TEST_F(LedgerVerb, ShowsEntriesAsJson) {
    const Answer answer = ask({"ledger", "show", file(), "-o", "json"});

    EXPECT_EQ(answer.code, 0);
    EXPECT_THAT(answer.out,
                AllOf(StartsWith(R"({"first":1,"last":3,"entries":[{"sequence":1,"epoch":1,)"
                                 R"("kind":"opened","time":0,"hash":")"),
                      HasSubstr(R"("cycle":1,"facts":2,"conflicts":0,"placements":1,)")));
}

TEST_F(LedgerVerb, ExportsALinePerRecord) {
    const Answer answer = ask({"ledger", "export", file()});

    EXPECT_EQ(answer.code, 0);
    EXPECT_EQ(std::ranges::count(answer.out, '\n'), 3);
    EXPECT_THAT(answer.out,
                AllOf(HasSubstr(R"("record":{"leader":"host-a","engine_version":"0.1.0","policy":)"
                                R"({"mix":[]},"policy_hash":")"),
                      HasSubstr(R"("record":{"facts":[{"kind":"time_is","now":1700000000250},)"
                                R"({"kind":"node_gone","node":"n1"}],"plan":{"cycle":1,)")));
    EXPECT_EQ(ask({"ledger", "export", file(), "-o", "xml"}).code, 2);
}

TEST_F(LedgerVerb, VerifiesAWholeLedger) {
    EXPECT_THAT(ask({"ledger", "verify", file()}).out,
                HasSubstr("entries 1 to 3: 1 leader, 1 snapshot, 1 cycle;"));
    const Answer answer = ask({"ledger", "verify", file(), "-o", "json"});
    EXPECT_EQ(answer.code, 0);
    EXPECT_THAT(answer.out, StartsWith(R"({"ok":true,"first":1,"last":3,"epoch":1,"opened":1,)"));
}

TEST_F(LedgerVerb, NamesTheEntryThatWasAltered) {
    {
        auto database = Database::open(file(), Access::write, "");
        ASSERT_TRUE(database->run("UPDATE log SET time = 7 WHERE sequence = 2").has_value());
    }

    const Answer answer = ask({"ledger", "verify", file()});

    EXPECT_EQ(answer.code, 2);
    EXPECT_THAT(answer.err, HasSubstr("log.ledger: entry 2: its hash is another one"));
    const Answer json = ask({"ledger", "verify", file(), "-o", "json"});
    EXPECT_EQ(json.code, 2);
    EXPECT_THAT(json.out, StartsWith(R"({"ok":false,"error":")"));
    EXPECT_EQ(ask({"ledger", "show", file()}).code, 2);
    EXPECT_EQ(ask({"ledger", "export", file()}).code, 2);
}

TEST_F(LedgerVerb, RefusesWhatIsNoLedger) {
    std::ofstream(folder_ / "text") << std::string(5'000, 'x');

    EXPECT_THAT(ask({"ledger", "show", folder_ / "text"}).err, HasSubstr("is no ledger"));
    const Answer missing = ask({"ledger", "verify", folder_ / "missing"});
    EXPECT_EQ(missing.code, 2);
    EXPECT_THAT(missing.err, HasSubstr("can't be opened; expected a ledger"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "missing"));
}

TEST_F(LedgerVerb, ReadsWhileALeaderWrites) {
    auto store = open_sqlite_store(file());
    auto ledger = Ledger::open(std::move(*store), {.leader = "host-b", .engine_version = "0.1.0"});
    ASSERT_TRUE(ledger.has_value());

    EXPECT_THAT(ask({"ledger", "verify", file()}).out, HasSubstr("entries 1 to 4: 2 leaders"));
    EXPECT_TRUE(ledger->append(Cycle{}).has_value());
}

TEST_F(LedgerVerb, TellsAFileFromAnAddressOfEtcd) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{"etcd://host/prefix"}, "expected etcd://HOST:PORT[,HOST:PORT]/PREFIX"},
        {{"etcd+http://host:1/prefix", "--etcd-cacert", "ca"}, "is asked without TLS"},
        {{"etcd://host:1/prefix", "--etcd-cert", "pem"}, "--etcd-cert and --etcd-key together"},
        {{"etcd://host:1/prefix", "--etcd-cacert", file() + ".pem"}, ".pem: No such file"},
        {{file(), "--etcd-cacert", "ca"}, "is a file; expected etcd://HOST:PORT/PREFIX"},
    };
    for (const auto& [words, expected] : cases) {
        std::vector<std::string> all{"ledger", "show"};
        all.insert(all.end(), words.begin(), words.end());

        const Answer answer = ask(all);

        EXPECT_NE(answer.code, 0);
        EXPECT_THAT(answer.err, HasSubstr(expected));
    }
}

}  // namespace
}  // namespace muster::cli
