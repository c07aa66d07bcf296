// What every store promises, asked of each.
#include "ledger/store.h"

#include "ledger/fault_vfs_test.h"
#include "ledger/store_memory.h"
#include "ledger/store_sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace muster {
namespace {

/// A place that can be opened again and again, and by several at once.
struct Place {
    virtual ~Place() = default;
    virtual std::unique_ptr<Store> open() = 0;
};

struct MemoryPlace : Place {
    std::unique_ptr<Store> open() override { return open_memory_store(log); }
    MemoryLog log;
};

struct SqlitePlace : Place {
    std::unique_ptr<Store> open() override {
        auto store = open_sqlite_store("log", {.vfs = disk.vfs()});
        EXPECT_TRUE(store.has_value()) << (store ? "" : store.error().message);
        return std::move(store).value();
    }
    FaultDisk disk{"store_test"};
};

struct Kind {
    const char* name;
    std::function<std::unique_ptr<Place>()> make;
};

class AnyStore : public testing::TestWithParam<Kind> {
protected:
    AnyStore() : place_(GetParam().make()), store_(place_->open()) {}

    /// The next entry as a ledger would write it.
    Entry next(RecordKind kind, std::uint64_t epoch, std::string payload) {
        const Header last = store_->extent()->last;
        Entry entry{.header = {.sequence = last.sequence + 1,
                               .epoch = epoch,
                               .kind = kind,
                               .time = static_cast<std::int64_t>(last.sequence) * 10},
                    .payload = std::move(payload)};
        entry.header.hash = chain_hash(last.hash, entry.header, entry.payload);
        return entry;
    }
    Entry add(RecordKind kind, std::string payload = "x") {
        const std::uint64_t epoch = store_->extent()->last.epoch;
        const Entry entry =
            next(kind, kind == RecordKind::opened ? epoch + 1 : epoch, std::move(payload));
        const auto done = store_->append(entry, epoch);
        EXPECT_TRUE(done.has_value()) << done.error().message;
        return entry;
    }

    std::unique_ptr<Place> place_;
    std::unique_ptr<Store> store_;
};

TEST_P(AnyStore, BeginsEmpty) {
    const Extent extent = *store_->extent();

    EXPECT_TRUE(extent.is_empty());
    EXPECT_EQ(extent.first(), 1u);
    EXPECT_TRUE(store_->read(1, 1'000)->empty());
    EXPECT_FALSE(store_->header(1)->has_value());
    EXPECT_FALSE(store_->last_snapshot(UINT64_MAX)->has_value());
    EXPECT_TRUE(store_->check().has_value());
}

TEST_P(AnyStore, KeepsWhatWasAppendedWhenOpenedAgain) {
    const Entry one = add(RecordKind::opened, std::string("\0bytes\xff", 7));
    const Entry two = add(RecordKind::snapshot, "");
    const Entry three = add(RecordKind::cycle, std::string(100'000, 'z'));
    store_ = nullptr;
    store_ = place_->open();

    EXPECT_EQ(store_->extent()->last, three.header);
    EXPECT_THAT(*store_->read(1, 1'000'000), testing::ElementsAre(one, two, three));
    EXPECT_EQ(*store_->header(2), two.header);
    EXPECT_TRUE(store_->check().has_value());
}

TEST_P(AnyStore, ReadsAtLeastOneEntryHoweverLarge) {
    const Entry one = add(RecordKind::opened, std::string(100, 'a'));
    const Entry two = add(RecordKind::cycle, std::string(100, 'b'));

    EXPECT_THAT(*store_->read(1, 10), testing::ElementsAre(one));
    EXPECT_THAT(*store_->read(1, 199), testing::ElementsAre(one));
    EXPECT_THAT(*store_->read(1, 200), testing::ElementsAre(one, two));
    EXPECT_THAT(*store_->read(2, 0), testing::ElementsAre(two));
    EXPECT_TRUE(store_->read(3, 10)->empty());
}

TEST_P(AnyStore, RefusesAnOlderEpochAndWritesNothing) {
    add(RecordKind::opened);
    const Entry late = next(RecordKind::cycle, 1, "late");
    const auto rival = place_->open();
    store_ = nullptr;
    store_ = place_->open();
    add(RecordKind::opened);

    const auto done = rival->append(late, 1);

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Code::conflict);
    EXPECT_THAT(done.error().message, testing::HasSubstr("led with epoch 2, not 1"));
    EXPECT_EQ(rival->extent()->last.sequence, 2u);
}

TEST_P(AnyStore, RefusesASequenceThatIsNotNext) {
    add(RecordKind::opened);
    Entry entry = next(RecordKind::cycle, 1, "x");
    for (const std::uint64_t sequence : {0u, 1u, 3u}) {
        entry.header.sequence = sequence;

        const auto done = store_->append(entry, 1);

        ASSERT_FALSE(done.has_value());
        EXPECT_EQ(done.error().code, Code::conflict);
    }
    EXPECT_EQ(store_->extent()->last.sequence, 1u);
}

TEST_P(AnyStore, FindsTheLastSnapshotBeforeAnEntry) {
    add(RecordKind::opened);
    add(RecordKind::snapshot);
    add(RecordKind::cycle);
    add(RecordKind::snapshot);

    EXPECT_EQ((*store_->last_snapshot(UINT64_MAX))->sequence, 4u);
    EXPECT_EQ((*store_->last_snapshot(4))->sequence, 2u);
    EXPECT_FALSE(store_->last_snapshot(2)->has_value());
}

TEST_P(AnyStore, DropsAPrefixAndRemembersItsHash) {
    add(RecordKind::opened);
    const Entry two = add(RecordKind::cycle);
    const Entry three = add(RecordKind::snapshot);
    EXPECT_FALSE(store_->drop_before(3, 7).has_value());

    EXPECT_EQ(*store_->drop_before(3, 1), 2u);
    EXPECT_EQ(*store_->drop_before(3, 1), 0u);
    store_ = nullptr;
    store_ = place_->open();

    const Extent extent = *store_->extent();
    EXPECT_EQ(extent.anchor.sequence, 2u);
    EXPECT_EQ(extent.anchor.hash, two.header.hash);
    EXPECT_THAT(*store_->read(1, 1'000), testing::ElementsAre(three));
    EXPECT_FALSE(store_->header(2)->has_value());
    add(RecordKind::cycle);
    EXPECT_EQ(store_->extent()->last.sequence, 4u);
}

TEST(SqliteStore, MayWriteManyEntriesAtOnce) {
    FaultDisk disk("store_batch_test");
    auto store =
        open_sqlite_store("log", {.vfs = disk.vfs(), .is_synced = false, .entries_per_commit = 3});
    ASSERT_TRUE(store.has_value());
    Header last;
    for (std::uint64_t i = 1; i <= 5; ++i) {
        Entry entry{.header = {.sequence = i, .epoch = 1}, .payload = "x"};
        entry.header.hash = chain_hash(last.hash, entry.header, entry.payload);
        ASSERT_TRUE((*store)->append(entry, i == 1 ? 0 : 1).has_value());
        last = entry.header;
    }

    const auto reader = open_sqlite_store("log", {.access = Access::read, .vfs = disk.vfs()});
    EXPECT_EQ((*store)->extent()->last, last);
    EXPECT_EQ((*reader)->extent()->last.sequence, 3U);
    store->reset();
    EXPECT_EQ((*reader)->extent()->last, last);
}

INSTANTIATE_TEST_SUITE_P(
    Ledger, AnyStore,
    testing::Values(Kind{"Memory", [] { return std::make_unique<MemoryPlace>(); }},
                    Kind{"Sqlite", [] { return std::make_unique<SqlitePlace>(); }}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace muster
