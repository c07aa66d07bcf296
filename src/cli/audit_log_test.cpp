#include "cli/audit_log.h"

#include "cli/decision_json.h"
#include "codec/plan_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class AuditLogTest : public testing::Test {
protected:
    void SetUp() override {
        folder = std::filesystem::temp_directory_path() /
                 (std::string("muster_audit_") +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file(folder / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    AuditLog::Options options(const std::filesystem::path& file, std::int64_t bytes_max) {
        return {.file = file,
                .bytes_max = bytes_max,
                .log = Log([this](const std::string& line) { told.push_back(line); },
                           [] { return std::string("now"); })};
    }

    std::filesystem::path folder;
    std::vector<std::string> told;
};

TEST_F(AuditLogTest, KeepsTheLastLinesInTwoFilesOfBoundedSize) {
    auto log = AuditLog::open(options(folder / "audit", 20));
    ASSERT_TRUE(log.has_value());

    for (const char* line :
         {"one......\n", "two......\n", "three....\n", "four.....\n", "five.....\n"}) {
        log->write(line);
    }

    EXPECT_EQ(read("audit.1"), "three....\nfour.....\n");
    EXPECT_EQ(read("audit"), "five.....\n");
    EXPECT_EQ(log->counts().written, 5);
}

TEST_F(AuditLogTest, GoesOnBehindWhatWasThere) {
    { AuditLog::open(options(folder / "audit", 1'000))->write("a\n"); }
    { AuditLog::open(options(folder / "audit", 1'000))->write("b\n"); }

    EXPECT_EQ(read("audit"), "a\nb\n");
}

TEST_F(AuditLogTest, TellsOnceThatTheDiskIsFullAndGoesOn) {
    auto log = AuditLog::open(options("/dev/full", 1'000));
    ASSERT_TRUE(log.has_value());

    log->write("a\n");
    log->write("b\n");

    EXPECT_EQ(log->counts().lost, 2);
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_THAT(told[0], AllOf(HasSubstr("level=error"), HasSubstr("No space left")));
}

TEST_F(AuditLogTest, RefusesAFileThatCanNotBe) {
    EXPECT_FALSE(AuditLog::open(options(folder / "none" / "audit", 1'000)).has_value());
}

TEST(AuditLine, IsOneForEachWorkloadOfTheCycle) {
    Decision decision;
    decision.cycle.plan.cycle = 7;
    decision.cycle.plan.placements = {
        {.workload = "ml/six", .tasks = {{.task = 0, .node = "a"}}, .domain = "a"}};
    decision.cycle.plan.refusals = {
        {.workload = "ml/ten", .reason = {.link = ChainLink::place, .text = "no room"}}};
    decision.cycle.conflicts = {{.fact = 0, .text = "twice"}};
    std::vector<std::string> lines;

    write_audit(decision,
                {.time = "now", .policy_hash = "abc", .entry = {.sequence = 9, .epoch = 2}},
                [&](const std::string& line) { lines.push_back(line); });

    const std::string head =
        R"({"time":"now","cycle":7,"ledger_sequence":9,"ledger_epoch":2,"policy_hash":"abc",)";
    EXPECT_THAT(lines,
                ElementsAre(AllOf(StartsWith(head + R"("verdict":"placed","workload":"ml/six")"),
                                  HasSubstr(R"("node":"a")")),
                            AllOf(StartsWith(head + R"("verdict":"refused","workload":"ml/ten")"),
                                  HasSubstr(R"("link":"place")"), HasSubstr("no room")),
                            StartsWith(head + R"("verdict":"conflict")")));
}

}  // namespace
}  // namespace muster::cli
