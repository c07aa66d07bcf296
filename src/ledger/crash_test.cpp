// The machine stops at every single operation on the disk, runs full at every one, and flips bits:
// what was acknowledged is there, once, or the damage is told.
#include "codec/any_test.h"
#include "ledger/crash_run_test.h"
#include "ledger/store_sqlite.h"
#include "ledger/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace muster {
namespace {

std::uint64_t operations_of_a_run() {
    FaultDisk disk("crash_count");
    EXPECT_TRUE(play(disk).is_finished);
    return disk.operations();
}

/// The next leader recovers and goes on, with a higher epoch.
void check_goes_on(FaultDisk& disk, const std::vector<Header>& found) {
    auto store = open_sqlite_store("log", {.vfs = disk.vfs()});
    ASSERT_TRUE(store.has_value()) << store.error().message;
    auto ledger = Ledger::open(std::move(*store), {.leader = "next", .engine_version = "1"});
    ASSERT_TRUE(ledger.has_value()) << ledger.error().message;
    EXPECT_EQ(ledger->epoch(), (found.empty() ? 0 : found.back().epoch) + 1);
    auto recovery = ledger->recover();
    ASSERT_TRUE(recovery.has_value()) << recovery.error().message;
    EXPECT_TRUE(ledger->append(Cycle{}).has_value());
}

TEST(Crash, AtAnyOperationLosesNothingAndDoublesNothing) {
    struct Way {
        Left left;
        unsigned torn_percent;
    };
    const std::uint64_t operations = operations_of_a_run();
    for (std::uint64_t at = 1; at <= operations; ++at) {
        const auto cut = static_cast<unsigned>(AnyValue(at).below(100));
        const Way ways[] = {{Left::all, 0}, {Left::all, cut}, {Left::none, 0}, {Left::some, cut}};
        for (const auto& [left, torn_percent] : ways) {
            SCOPED_TRACE(testing::Message()
                         << "operation " << at << " of " << operations << ", left "
                         << static_cast<int>(left) << ", torn " << torn_percent);
            FaultDisk disk("crash");
            disk.fail_at(at, DiskFault::crash, torn_percent);
            const CrashRun run = play(disk);
            ASSERT_TRUE(disk.is_dead());
            disk.restart(left, at);

            const auto found = read_all(disk);

            ASSERT_TRUE(found.has_value()) << found.error().message;
            ASSERT_EQ(compare(run, *found), "");
            check_goes_on(disk, *found);
        }
    }
}

TEST(Crash, OfAFullDiskFailsTheAppendAndNoMore) {
    const std::uint64_t operations = operations_of_a_run();
    std::uint64_t failed = 0;
    for (std::uint64_t at = 1; at <= operations; ++at) {
        SCOPED_TRACE(testing::Message() << "operation " << at);
        FaultDisk once("full");
        once.fail_at(at, DiskFault::full);
        const CrashRun stopped = play(once);
        failed += stopped.is_finished ? 0 : 1;
        once.restart(Left::none);
        const auto left = read_all(once);
        ASSERT_TRUE(left.has_value()) << left.error().message;
        ASSERT_EQ(compare(stopped, *left), "");

        FaultDisk disk("full_again");
        disk.fail_at(at, DiskFault::full);
        const CrashRun run = play(disk, true);
        ASSERT_TRUE(run.is_finished);

        const auto found = read_all(disk);

        ASSERT_TRUE(found.has_value()) << found.error().message;
        ASSERT_EQ(compare(run, *found), "");
        ASSERT_EQ(found->back().sequence, run.acknowledged.size());
    }
    EXPECT_GT(failed, 10u);
}

TEST(Crash, OfAFullDiskIsToldAsThat) {
    FaultDisk disk("full");
    disk.fail_at(1, DiskFault::full);

    const auto store = open_sqlite_store("log", {.vfs = disk.vfs()});

    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, Code::unavailable);
    EXPECT_EQ(store.error().message, "log: the disk is full; nothing was written");
}

bool ends_with(const std::vector<Header>& all, const std::vector<Header>& last) {
    return all.size() >= last.size() && std::equal(last.rbegin(), last.rend(), all.rbegin());
}

/// Flips one bit in every `step`th byte of a file: the log reads as before, or it is told.
void check_flips(FaultDisk& whole, const std::string& file, std::size_t step,
                 std::size_t told_min) {
    FaultDisk disk("flip");
    disk.copy_from(whole);
    const auto before = read_all(disk);
    ASSERT_TRUE(before.has_value()) << before.error().message;
    const std::size_t size = whole.bytes(file).size();
    std::size_t told = 0;
    for (std::size_t at = 0; at < size; at += at < 100 ? 1 : step) {
        disk.copy_from(whole);
        disk.bytes(file)[at] ^= static_cast<char>(1 << at % 8);
        disk.restart(Left::all);

        const auto found = read_all(disk);

        if (found) {
            // A retention that was lost is no harm.
            ASSERT_TRUE(ends_with(*found, *before)) << file << ", byte " << at;
        } else {
            ++told;
            ASSERT_EQ(found.error().code, Code::corrupt)
                << file << ", byte " << at << ": " << found.error().message;
            ASSERT_THAT(found.error().message, testing::HasSubstr("log")) << at;
        }
    }
    EXPECT_GE(told, told_min) << file;
}

TEST(Crash, AFlippedBitIsReportedOrHarmless) {
    FaultDisk whole("whole");
    FaultDisk open_end("open_end");
    ASSERT_TRUE(play(whole, false, &open_end).is_finished);
    ASSERT_THAT(whole.files(), testing::ElementsAre("log", "log-mark"));
    ASSERT_THAT(open_end.files(), testing::ElementsAre("log", "log-mark", "log-wal"));

    check_flips(whole, "log", 17, 300);
    check_flips(whole, "log-mark", 1, 0);
    check_flips(open_end, "log", 61, 0);  // the WAL has newer ones of most pages
    check_flips(open_end, "log-wal", 17, 1000);
}

TEST(Crash, AForeignFileIsNoLedger) {
    FaultDisk disk("foreign");
    {
        auto database = Database::open("log", Access::write, disk.vfs());
        ASSERT_TRUE(database.has_value());
        ASSERT_TRUE(database->run("CREATE TABLE other(x)").has_value());
    }

    EXPECT_EQ(read_all(disk).error().message,
              "log: is no ledger, but a database of another program");

    disk.bytes("log") = "node a gpu=4\n" + std::string(1'000, ' ');
    disk.restart(Left::all);
    const auto text = read_all(disk);
    EXPECT_EQ(text.error().code, Code::corrupt);
    EXPECT_EQ(text.error().message, "log: is no ledger, or its first page is damaged");
}

TEST(Crash, AMissingFileIsNotMadeByReadingIt) {
    FaultDisk disk("missing");

    const auto found = read_all(disk, Access::read);

    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, Code::not_found);
    EXPECT_TRUE(disk.files().empty());
}

TEST(Crash, ALogThatEndsBeforeItsMarkIsReported) {
    FaultDisk disk("mark");
    const CrashRun run = play(disk);
    {
        auto database = Database::open("log", Access::write, disk.vfs());
        ASSERT_TRUE(database->run("DELETE FROM log WHERE sequence = 18").has_value());
    }

    EXPECT_EQ(read_all(disk).error().message,
              "log: it ends at entry 17, and entry 18 was acknowledged, says its mark");
}

}  // namespace
}  // namespace muster
