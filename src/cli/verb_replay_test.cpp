// `--ledger` of simulations, and `muster replay` of what they wrote.
#include "cli/run.h"
#include "ledger/entry.h"
#include "ledger/sqlite.h"
#include "ledger/store_sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Answer {
    int code = 0;
    std::string out;
    std::string err;
};

Answer ask(const std::vector<std::string>& words, bool is_err_terminal = false) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{
        .out = out, .err = err, .data_folder = "", .is_err_terminal = is_err_terminal};
    const int code = run(words, terminal);
    return {code, out.str(), err.str()};
}

class ReplayVerb : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  (std::string("muster_") +
                   testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string file() const { return folder_ / "log.ledger"; }

    Answer record_jobs() {
        return ask({"sim", "jobs", "--generate", "jobs=120,load=120,mix=1:2/8:1/12:1", "--nodes",
                    "3x8", "--policy", "muster", "--ledger", file()});
    }

    std::filesystem::path folder_;
};

TEST_F(ReplayVerb, EverySimulationOfTheEngineIsDecidedAlike) {
    const std::vector<std::vector<std::string>> runs = {
        {"sim", "jobs", "--generate", "jobs=100,load=120", "--nodes", "3x8", "--policy", "muster"},
        {"sim", "queue", "--generate", "jobs=100,load=120", "--processors", "16", "--policy",
         "muster"},
        {"sim", "random", "--seed", "5", "--steps", "60"},
    };
    for (std::vector<std::string> words : runs) {
        const std::string log = folder_ / words[1];
        words.insert(words.end(), {"--ledger", log});
        ASSERT_EQ(ask(words).code, 0) << words[1];

        const Answer answer = ask({"replay", log});

        EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
        EXPECT_THAT(answer.out, AllOf(HasSubstr("every decision is the same, byte for byte"),
                                      HasSubstr("entries 1 to "), HasSubstr(" ms of CPU")));
        EXPECT_EQ(ask({"ledger", "verify", log}).code, 0);
    }
}

TEST_F(ReplayVerb, TellsTheSameAsJson) {
    record_jobs();

    const Answer answer = ask({"replay", file(), "-o", "json"});

    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out, testing::StartsWith(R"({"same":true,"first":1,"last":)"));
    EXPECT_THAT(answer.out, AllOf(HasSubstr(R"("placements":120,)"), HasSubstr(R"("leaders":1,)"),
                                  HasSubstr(R"("difference":null)")));
    EXPECT_THAT(ask({"replay", file()}, true).err, HasSubstr("replay █"));
}

/// Somebody who alters a plan and mends the chain of hashes: only deciding again finds it.
TEST_F(ReplayVerb, NamesWhatWasDecidedOtherwise) {
    record_jobs();
    {
        auto source = open_sqlite_store(file(), {.access = Access::read});
        ASSERT_TRUE(source.has_value());
        auto forged = open_sqlite_store(folder_ / "forged");
        ASSERT_TRUE(forged.has_value());
        auto entries = (*source)->read(1, SIZE_MAX);
        Header last;
        for (Entry& entry : *entries) {
            if (entry.header.sequence == 2) {
                auto record = decode_record(entry.payload);
                auto& cycle = std::get<Cycle>(*record);
                cycle.plan.placements.at(0).tasks[0].node = "n9";
                entry.payload = encode_record(cycle);
            }
            entry.header.hash = chain_hash(last.hash, entry.header, entry.payload);
            ASSERT_TRUE((*forged)->append(entry, last.epoch).has_value());
            last = entry.header;
        }
    }
    const std::string forged = folder_ / "forged";

    EXPECT_EQ(ask({"ledger", "verify", forged}).code, 0);
    const Answer answer = ask({"replay", forged});
    EXPECT_EQ(answer.code, 1);
    EXPECT_THAT(answer.out, AllOf(HasSubstr("entry 2, cycle 1: it is decided otherwise now"),
                                  HasSubstr("recorded task 0 on n9")));
    EXPECT_THAT(ask({"replay", forged, "-o", "json"}).out,
                AllOf(HasSubstr(R"("same":false)"), HasSubstr(R"("difference":{"entry":2,)")));
}

TEST_F(ReplayVerb, AsksWhatAnotherPolicyWouldHaveMade) {
    record_jobs();
    const std::string policy = folder_ / "eights.yaml";
    std::ofstream(policy) << "mix:\n- {gpu: 8}\n";
    const std::string page = folder_ / "page.html";

    const Answer answer = ask({"replay", file(), "--policy", policy, "--report", page});

    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_THAT(answer.out,
                AllOf(HasSubstr("the log"), HasSubstr("its policy again"), HasSubstr("eights.yaml"),
                      HasSubstr("until it ended, p99 s"),
                      HasSubstr("120 of 120 workloads start when they did in the log")));
    EXPECT_GT(std::filesystem::file_size(page), 10'000U);
    const Answer json = ask({"replay", file(), "--policy", policy, "-o", "json"});
    EXPECT_THAT(
        json.out,
        AllOf(HasSubstr(R"("started":120,"same_starts":120,"recorded":{"policy":"the log",)"),
              HasSubstr(R"("other":{"policy":"eights.yaml","capacity":24,"jobs":120,)"),
              HasSubstr(R"("queues":[{"queue":"default","jobs":120,"mean_wait_s":)")));
    EXPECT_THAT(ask({"replay", file(), "--policy", policy}, true).err, HasSubstr("what if █"));
}

TEST_F(ReplayVerb, RefusesABadPolicy) {
    record_jobs();
    const std::string policy = folder_ / "bad.yaml";
    std::ofstream(policy) << "mixx: []\n";

    const Answer answer = ask({"replay", file(), "--policy", policy});

    EXPECT_EQ(answer.code, 2);
    EXPECT_THAT(answer.err, HasSubstr("bad.yaml:1"));
    EXPECT_EQ(ask({"replay", file(), "--policy", folder_ / "none.yaml"}).code, 2);
    ask({"sim", "random", "--ledger", folder_ / "timeless", "--steps", "1"});
    EXPECT_EQ(ask({"replay", folder_ / "timeless", "--policy", policy}).code, 2);
}

TEST_F(ReplayVerb, ALedgerIsWrittenOnce) {
    EXPECT_EQ(record_jobs().code, 0);

    EXPECT_EQ(record_jobs().code, 2);
    EXPECT_THAT(record_jobs().err, HasSubstr("expected a new file"));

    std::filesystem::remove(file());  // its mark stays
    EXPECT_EQ(record_jobs().code, 0);
    EXPECT_EQ(ask({"ledger", "verify", file()}).code, 0);
}

TEST_F(ReplayVerb, SaysWhatIsWrong) {
    EXPECT_THAT(
        ask({"sim", "jobs", "--generate", "jobs=9", "--nodes", "2x8", "--ledger", file()}).err,
        HasSubstr("--ledger: found policy 'fifo'; expected muster"));
    EXPECT_FALSE(std::filesystem::exists(file()));
    std::ofstream(folder_ / "text") << std::string(5'000, 'x');
    EXPECT_THAT(ask({"replay", folder_ / "text"}).err, HasSubstr("is no ledger"));
    EXPECT_THAT(ask({"replay", folder_ / "missing"}).err, HasSubstr("expected a ledger"));
    EXPECT_EQ(ask({"replay", file(), "--from", "0"}).code, 2);
    EXPECT_EQ(ask({"replay", file(), "--report", "x.html"}).code, 2);
    EXPECT_EQ(ask({"replay"}).code, 2);

    record_jobs();
    {
        auto database = Database::open(file(), Access::write, "");
        ASSERT_TRUE(database->run("DELETE FROM log WHERE sequence = 5").has_value());
    }
    const Answer torn = ask({"replay", file()});
    EXPECT_EQ(torn.code, 2);
    EXPECT_THAT(torn.err, HasSubstr("entry 5: it is missing"));
}

}  // namespace
}  // namespace muster::cli
