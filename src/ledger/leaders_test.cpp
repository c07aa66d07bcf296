// The stores of this folder under the adversary of leaders_test.h.
#include "ledger/leaders_test.h"

#include "ledger/fault_vfs_test.h"
#include "ledger/store_memory.h"
#include "ledger/store_sqlite.h"

namespace muster {
namespace {

TEST(Leaders, OneAtATimeAppendsToAMemoryLog) {
    std::size_t refused = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        MemoryLog log;
        LeadersAdversary adversary(seed, [&] { return open_memory_store(log); });
        adversary.run(60);
        refused += adversary.refused();
    }
    EXPECT_GT(refused, 1'000u);
}

TEST(Leaders, OneAtATimeAppendsToAnSqliteLog) {
    std::size_t refused = 0;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        FaultDisk disk("leaders");
        LeadersAdversary adversary(seed, [&] {
            auto store = open_sqlite_store("log", {.vfs = disk.vfs(), .checkpoint_pages = 6});
            EXPECT_TRUE(store.has_value()) << (store ? "" : store.error().message);
            return std::move(store).value();
        });
        adversary.run(60);
        refused += adversary.refused();
    }
    EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace muster
