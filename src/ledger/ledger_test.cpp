#include "ledger/ledger.h"

#include "codec/any_test.h"
#include "codec/fields_test.h"
#include "ledger/record_fields.h"
#include "ledger/store_memory.h"
#include "ledger/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster {
namespace {

using testing::HasSubstr;

Opening opening(std::string leader = "a") {
    return {.leader = std::move(leader), .engine_version = "0.1", .policy = {.mix = {{}, {}}}};
}

Ledger open(MemoryLog& log, std::string leader = "a") {
    auto ledger = Ledger::open(open_memory_store(log), opening(std::move(leader)));
    EXPECT_TRUE(ledger.has_value()) << (ledger ? "" : ledger.error().message);
    return std::move(ledger).value();
}

/// A cycle that can be told from others.
Cycle cycle(std::uint64_t number, std::int64_t now = 0) {
    Cycle out;
    if (now != 0) { out.facts.push_back(TimeIs{now}); }
    out.facts.push_back(NodeGone{"n" + std::to_string(number)});
    out.plan.cycle = number;
    return out;
}

Snapshot snapshot(std::uint64_t number) { return {.cycle = number}; }

std::vector<Record> records_of(Cursor& cursor) {
    std::vector<Record> out;
    for (;;) {
        auto item = cursor.next();
        EXPECT_TRUE(item.has_value()) << (item ? "" : item.error().message);
        if (!item || !*item) { return out; }
        out.push_back(std::move((*item)->record));
    }
}

TEST(Ledger, RecoversNothingFromAnEmptyLog) {
    MemoryLog log;
    Ledger ledger = open(log);

    auto recovery = ledger.recover();

    ASSERT_TRUE(recovery.has_value());
    EXPECT_FALSE(recovery->snapshot.has_value());
    EXPECT_TRUE(records_of(recovery->records).empty());
    EXPECT_EQ(ledger.epoch(), 1u);
}

TEST(Ledger, RecoversTheLastSnapshotAndWhatIsBehindIt) {
    MemoryLog log;
    {
        Ledger ledger = open(log);
        ASSERT_TRUE(ledger.append(cycle(1)).has_value());
        ASSERT_TRUE(ledger.append(snapshot(1)).has_value());
        ASSERT_TRUE(ledger.append(cycle(2)).has_value());
        ASSERT_TRUE(ledger.append(snapshot(2)).has_value());
        ASSERT_TRUE(ledger.append(cycle(3)).has_value());
    }
    { Ledger between = open(log, "b"); }
    Ledger ledger = open(log, "c");
    ASSERT_TRUE(ledger.append(cycle(4)).has_value());

    auto recovery = ledger.recover();

    ASSERT_TRUE(recovery.has_value());
    EXPECT_EQ(recovery->snapshot, snapshot(2));
    const Opened between{"b", "0.1", opening().policy, policy_hash(opening().policy)};
    EXPECT_THAT(records_of(recovery->records),
                testing::ElementsAre(Record(cycle(3)), Record(between)));
    EXPECT_EQ(ledger.epoch(), 3u);
}

TEST(Ledger, RefusesALeaderThatWasReplaced) {
    MemoryLog log;
    Ledger first = open(log, "first");
    Ledger second = open(log, "second");

    const auto done = first.append(cycle(1));

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_FALSE(first.append(snapshot(1)).has_value());
    EXPECT_FALSE(first.apply({.keep = Keep::snapshots}).has_value());
    EXPECT_TRUE(second.append(cycle(1)).has_value());
    EXPECT_EQ(log.entries.size(), 3u);
}

TEST(Ledger, KeepsTheTimeOfTheLastFactAboutIt) {
    MemoryLog log;
    Ledger ledger = open(log);

    ASSERT_TRUE(ledger.append(cycle(1, 500)).has_value());
    ASSERT_TRUE(ledger.append(cycle(2)).has_value());

    EXPECT_EQ(ledger.last().time, 500);
    EXPECT_EQ(open(log).last().time, 500);
}

TEST(Ledger, KeepsAsManySnapshotsAsItIsTold) {
    MemoryLog log;
    Ledger ledger = open(log);
    for (std::uint64_t i = 1; i <= 4; ++i) {
        ASSERT_TRUE(ledger.append(cycle(i)).has_value());
        ASSERT_TRUE(ledger.append(snapshot(i)).has_value());
    }

    EXPECT_EQ(ledger.apply({.keep = Keep::everything}), 0u);
    EXPECT_EQ(ledger.apply({.keep = Keep::snapshots, .snapshots = 9}), 0u);
    EXPECT_EQ(ledger.apply({.keep = Keep::snapshots, .snapshots = 2}), 6u);
    EXPECT_EQ(log.anchor.sequence, 6u);
    EXPECT_EQ(ledger.apply({.keep = Keep::snapshots, .snapshots = 0}), 2u);
    ASSERT_TRUE(ledger.append(cycle(5)).has_value());
    Ledger next = open(log);
    EXPECT_EQ(next.recover()->snapshot, snapshot(4));
    EXPECT_TRUE(verify(*open_memory_store(log)).has_value());
}

TEST(Ledger, KeepsWhatHappenedWithinAnAge) {
    MemoryLog log;
    Ledger ledger = open(log);
    for (std::int64_t i = 1; i <= 4; ++i) {
        ASSERT_TRUE(ledger.append(cycle(static_cast<std::uint64_t>(i), i * 100)).has_value());
        ASSERT_TRUE(ledger.append(snapshot(static_cast<std::uint64_t>(i))).has_value());
    }

    EXPECT_EQ(ledger.apply({.keep = Keep::age, .age_ms = 1'000}), 0u);
    // From the snapshot at 200 on: what happened since 250 is behind it.
    EXPECT_EQ(ledger.apply({.keep = Keep::age, .age_ms = 150}), 4u);
    EXPECT_EQ(log.entries.front().header.time, 200);
}

TEST(Ledger, VerifiesWhatItWrote) {
    MemoryLog log;
    Ledger ledger = open(log);
    ASSERT_TRUE(ledger.append(cycle(1)).has_value());
    ASSERT_TRUE(ledger.append(snapshot(1)).has_value());

    const auto verified = verify(*open_memory_store(log));

    ASSERT_TRUE(verified.has_value());
    EXPECT_THAT(verified->records, testing::ElementsAre(1, 1, 1));
    EXPECT_EQ(verified->extent.last, ledger.last());
}

/// Each of these was done to a log of five entries behind the ledger's back.
struct Harm {
    const char* name;
    void (*harm)(MemoryLog&);
    const char* message;
};

void PrintTo(const Harm& harm, std::ostream* out) { *out << harm.name; }

class HarmedLog : public testing::TestWithParam<Harm> {};

TEST_P(HarmedLog, IsFoundOut) {
    MemoryLog log;
    {
        Ledger ledger = open(log);
        for (std::uint64_t i = 1; i <= 4; ++i) { ASSERT_TRUE(ledger.append(cycle(i)).has_value()); }
    }
    GetParam().harm(log);

    const auto verified = verify(*open_memory_store(log));

    ASSERT_FALSE(verified.has_value());
    EXPECT_EQ(verified.error().code, Code::corrupt);
    EXPECT_THAT(verified.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Ledger, HarmedLog,
    testing::Values(
        Harm{"BitFlipped", [](MemoryLog& log) { log.entries[2].payload.back() ^= 1; },
             "entry 3: its hash is another one"},
        Harm{"TimeChanged", [](MemoryLog& log) { log.entries[2].header.time = 9; },
             "entry 3: its hash is another one"},
        Harm{"Dropped", [](MemoryLog& log) { log.entries.erase(log.entries.begin() + 2); },
             "entry 3: it is missing"},
        Harm{"Swapped",
             [](MemoryLog& log) { std::swap(log.entries[2].payload, log.entries[3].payload); },
             "entry 3: its hash is another one"},
        Harm{"Replaced",
             [](MemoryLog& log) {
                 Entry& entry = log.entries[2];
                 entry.payload = encode_record(cycle(9));
                 entry.header.hash =
                     chain_hash(log.entries[1].header.hash, entry.header, entry.payload);
             },
             "entry 4: its hash is another one"},
        Harm{"WrongKind",
             [](MemoryLog& log) {
                 Entry& entry = log.entries[4];
                 entry.header.kind = RecordKind::snapshot;
                 entry.header.hash =
                     chain_hash(log.entries[3].header.hash, entry.header, entry.payload);
             },
             "entry 5: it says snapshot and holds another kind"},
        Harm{"EpochRaisedByACycle", [](MemoryLog& log) { log.entries[2].header.epoch = 2; },
             "entry 3: cycle with epoch 2 behind epoch 1"},
        Harm{"PrefixDroppedWithoutASnapshot",
             [](MemoryLog& log) {
                 log.anchor = {.sequence = 1, .hash = log.entries.front().header.hash};
                 log.entries.pop_front();
             },
             "entry 2: cycle; expected a snapshot"},
        Harm{"Undecodable",
             [](MemoryLog& log) {
                 Entry& entry = log.entries[4];
                 entry.payload += "x";
                 entry.header.hash =
                     chain_hash(log.entries[3].header.hash, entry.header, entry.payload);
             },
             "1 bytes behind the end"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Ledger, TellsAllFieldsOfItsRecords) {
    check_fields<Opened>();
    check_fields<Cycle>();
}

TEST(Ledger, EncodesEveryRecordAndBack) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        AnyValue any(seed);
        Cycle cycle;
        any.fill(cycle.facts);
        any.fill(cycle.plan);
        any.fill(cycle.conflicts);
        any.fill(cycle.ordered);
        const auto again = decode_record(encode_record(cycle));
        ASSERT_TRUE(again.has_value()) << again.error().message;
        EXPECT_EQ(std::get<Cycle>(*again), cycle);

        const auto snapshot = any_value<Snapshot>(seed);
        EXPECT_EQ(decode_record(encode_record(snapshot)), Record(snapshot));
    }
    for (const char* other : {"\x01", "\x7f"}) {
        EXPECT_THAT(decode_record(other).error().message,
                    HasSubstr("a format that this version does not know"));
    }
}

TEST(Ledger, HashesPoliciesAlikeOnAnyBuild) {
    EXPECT_EQ(policy_hash({}), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
    EXPECT_NE(policy_hash({}), policy_hash(opening().policy));
}

}  // namespace
}  // namespace muster
