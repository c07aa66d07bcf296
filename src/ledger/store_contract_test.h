// Tests only: what every store promises, asked of each that a test program names with
// INSTANTIATE_TEST_SUITE_P(NAME, AnyStore, testing::Values(StoreKind{...}), ...).
#pragma once

#include "ledger/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace muster {

/// A place that can be opened again and again, and by several at once.
struct StorePlace {
    virtual ~StorePlace() = default;
    virtual std::unique_ptr<Store> open() = 0;
};

struct StoreKind {
    const char* name;
    std::function<std::unique_ptr<StorePlace>()> make;
    std::function<std::string()> why_absent = nullptr;  // nothing when it is there

    friend void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }
};

class AnyStore : public testing::TestWithParam<StoreKind> {
protected:
    void SetUp() override {
        const std::string why = GetParam().why_absent ? GetParam().why_absent() : "";
        if (!why.empty()) { GTEST_SKIP() << why; }
        place_ = GetParam().make();
        store_ = place_->open();
    }

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

    std::unique_ptr<StorePlace> place_;
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

}  // namespace muster
