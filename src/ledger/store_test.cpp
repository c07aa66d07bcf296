// The stores of this folder keep what every store promises.
#include "ledger/fault_vfs_test.h"
#include "ledger/store_contract_test.h"
#include "ledger/store_memory.h"
#include "ledger/store_sqlite.h"

namespace muster {
namespace {

struct MemoryPlace : StorePlace {
    std::unique_ptr<Store> open() override { return open_memory_store(log); }
    MemoryLog log;
};

struct SqlitePlace : StorePlace {
    std::unique_ptr<Store> open() override {
        auto store = open_sqlite_store("log", {.vfs = disk.vfs()});
        EXPECT_TRUE(store.has_value()) << (store ? "" : store.error().message);
        return std::move(store).value();
    }
    FaultDisk disk{"store_test"};
};

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
    testing::Values(StoreKind{"Memory", [] { return std::make_unique<MemoryPlace>(); }},
                    StoreKind{"Sqlite", [] { return std::make_unique<SqlitePlace>(); }}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace muster
