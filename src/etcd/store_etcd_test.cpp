// A ledger in etcd keeps what every store promises: on a fake of it, and on the real one where
// there is one.
#include "etcd/store_etcd.h"

#include "etcd/fake_etcd_test.h"
#include "etcd/http_gateway.h"
#include "etcd/layout.h"
#include "etcd/limits.h"
#include "etcd/real_etcd_test.h"
#include "ledger/leaders_test.h"
#include "ledger/store_contract_test.h"

namespace muster::etcd {
namespace {

using testing::HasSubstr;

std::string next_writer() {
    static int count = 0;
    return fmt::format("writer-{}", ++count);
}

std::unique_ptr<Store> open_fake(FakeEtcd& etcd, FakeGateway::Disturb disturb = nullptr,
                                 std::string writer = next_writer()) {
    return open_etcd_store(
        std::make_unique<FakeGateway>(etcd, std::move(disturb)),
        {.name = "etcd://fake/log", .prefix = "/log", .writer = std::move(writer)});
}

struct FakePlace : StorePlace {
    std::unique_ptr<Store> open() override { return open_fake(etcd); }
    FakeEtcd etcd;
};

/// One server for all tests of the program, a prefix for each.
RealEtcd* real_etcd() {
    static const std::unique_ptr<RealEtcd> one = RealEtcd::program() ? RealEtcd::start() : nullptr;
    return one.get();
}

std::unique_ptr<Store> open_real(const Address& address) {
    return open_etcd_store(
        connect_gateway({.address = address, .wait_ms = 60'000}),
        {.name = text_of(address), .prefix = address.prefix, .writer = next_writer()});
}

struct RealPlace : StorePlace {
    RealPlace() {
        static int count = 0;
        address = real_etcd()->address(fmt::format("/contract/{}", ++count));
    }
    std::unique_ptr<Store> open() override { return open_real(address); }
    Address address;
};

std::string why_no_real_etcd() {
    return RealEtcd::program() ? "" : "MUSTER_KUBE_DIR has no etcd: not asked of a real one";
}

INSTANTIATE_TEST_SUITE_P(
    Etcd, AnyStore,
    testing::Values(StoreKind{"FakeEtcd", [] { return std::make_unique<FakePlace>(); }},
                    StoreKind{"RealEtcd", [] { return std::make_unique<RealPlace>(); },
                              why_no_real_etcd}),
    [](const auto& one) { return std::string(one.param.name); });

Entry entry_behind(const Header& last, RecordKind kind, std::uint64_t epoch, std::string payload) {
    Entry entry{.header = {.sequence = last.sequence + 1, .epoch = epoch, .kind = kind, .time = 7},
                .payload = std::move(payload)};
    entry.header.hash = chain_hash(last.hash, entry.header, entry.payload);
    return entry;
}

std::string some_bytes(std::size_t size) {
    std::string out(size, '\0');
    std::uint32_t state = 1;
    for (char& one : out) { one = static_cast<char>((state = state * 1'664'525 + 1) >> 24); }
    return out;
}

/// The entries of a log in which large ones stand between small ones.
void keeps_large_entries(const std::function<std::unique_ptr<Store>()>& open) {
    const auto store = open();
    std::vector<Entry> all;
    Header last;
    for (const std::size_t size :
         {std::size_t{10}, inline_bytes_max, inline_bytes_max + 1, part_bytes_max,
          5 * part_bytes_max / 2, std::size_t{0}, 10 * part_bytes_max}) {
        all.push_back(entry_behind(last, all.empty() ? RecordKind::opened : RecordKind::snapshot, 1,
                                   some_bytes(size)));
        const auto done = store->append(all.back(), all.size() == 1 ? 0 : 1);
        ASSERT_TRUE(done) << done.error().message;
        last = all.back().header;
    }

    const auto reader = open();
    const auto found = reader->read(1, SIZE_MAX);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(*found == all);
    EXPECT_TRUE(*reader->read(5, 0) == std::vector<Entry>{all[4]});
    EXPECT_EQ(*reader->last_snapshot(7), std::optional(all[5].header));
    EXPECT_TRUE(reader->check());
    EXPECT_EQ(*store->drop_before(6, 1), 5U);
    EXPECT_TRUE(*reader->read(1, SIZE_MAX) == std::vector<Entry>(all.begin() + 5, all.end()));
    EXPECT_TRUE(reader->check());
}

TEST(EtcdStore, KeepsEntriesOverTheLimitOfARequest) {
    FakeEtcd etcd;
    keeps_large_entries([&] { return open_fake(etcd); });
    EXPECT_LT(etcd.keys.size(), 16U) << "parts of what was dropped are left";
}

TEST(EtcdStore, AsksOnceForEachAppend) {
    FakeEtcd etcd;
    const auto store = open_fake(etcd);
    const Entry one = entry_behind({}, RecordKind::opened, 1, "a");
    ASSERT_TRUE(store->append(one, 0));
    etcd.questions.clear();
    Header last = one.header;

    for (int i = 0; i < 100; ++i) {
        const Entry entry = entry_behind(last, RecordKind::cycle, 1, "b");
        ASSERT_TRUE(store->append(entry, 1));
        last = entry.header;
    }

    EXPECT_EQ(etcd.questions, (std::map<std::string, int>{{"/v3/kv/txn", 100}}));
}

TEST(EtcdStore, ReadsPagesOfALongLogAndDropsItInSteps) {
    FakeEtcd etcd;
    const auto store = open_fake(etcd);
    Header last;
    const std::uint64_t count = 2 * drop_step + 500;
    for (std::uint64_t i = 1; i <= count; ++i) {
        const Entry entry = entry_behind(last, i == 1 ? RecordKind::opened : RecordKind::cycle, 1,
                                         std::to_string(i));
        ASSERT_TRUE(store->append(entry, i == 1 ? 0 : 1));
        last = entry.header;
    }

    const auto all = store->read(1, SIZE_MAX);
    ASSERT_EQ(all->size(), count);
    EXPECT_EQ(all->back().payload, std::to_string(count));
    EXPECT_EQ(*store->drop_before(count - 1, 1), count - 2);
    EXPECT_EQ(store->extent()->first(), count - 1);
    EXPECT_EQ(store->read(1, SIZE_MAX)->size(), 2U);
}

TEST(EtcdStore, FindsALostAppendWhenItIsAskedAgain) {
    for (const bool is_carried_out : {false, true}) {
        FakeEtcd etcd;
        bool is_lost = false;
        const auto store =
            open_fake(etcd,
                      [&](FakeEtcd& at, std::string_view path,
                          const std::string& body) -> std::optional<Result<GatewayAnswer>> {
                          if (!is_lost) { return std::nullopt; }
                          if (is_carried_out) { (void)at.handle(path, body); }
                          return Result<GatewayAnswer>(fail(Code::timeout, "no answer"));
                      });
        const Entry one = entry_behind({}, RecordKind::opened, 1, "a");
        const Entry two = entry_behind(one.header, RecordKind::cycle, 1, "b");
        ASSERT_TRUE(store->append(one, 0));

        is_lost = true;
        const auto lost = store->append(two, 1);
        is_lost = false;
        const auto found = store->append(two, 1);
        const auto twice = store->append(two, 1);

        ASSERT_FALSE(lost);
        EXPECT_THAT(lost.error().message, HasSubstr("etcd://fake/log: no answer"));
        EXPECT_TRUE(found) << found.error().message;
        EXPECT_FALSE(twice);
        EXPECT_TRUE(*store->read(1, SIZE_MAX) == (std::vector<Entry>{one, two}));
    }
}

/// What one process sent is carried out after the other one has asked for the same.
TEST(EtcdStore, NeverTakesTheEntryOfAnotherForItsOwn) {
    FakeEtcd etcd;
    const auto slow = [&](FakeEtcd& at, std::string_view path,
                          const std::string& body) -> std::optional<Result<GatewayAnswer>> {
        if (path != transaction_path) { return std::nullopt; }
        at.late.emplace_back(path, body);
        return Result<GatewayAnswer>(fail(Code::timeout, "no answer"));
    };
    bool is_slow = true;
    const auto one =
        open_fake(etcd, [&](FakeEtcd& at, std::string_view path, const std::string& body) {
            return is_slow ? slow(at, path, body) : std::nullopt;
        });
    const auto two = open_fake(etcd);
    const Entry same = entry_behind({}, RecordKind::opened, 1, "of one name");

    EXPECT_FALSE(one->append(same, 0));
    ASSERT_TRUE(two->append(same, 0));
    etcd.settle(10);
    is_slow = false;
    const auto again = one->append(same, 0);

    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::conflict);
    EXPECT_EQ(two->extent()->last, same.header);
}

TEST(EtcdStore, LeavesNothingOfALargeEntryThatWasNotFinished) {
    FakeEtcd etcd;
    int left = 3;
    const auto store = open_fake(etcd,
                                 [&](FakeEtcd&, std::string_view path,
                                     const std::string&) -> std::optional<Result<GatewayAnswer>> {
                                     if (path != transaction_path || --left >= 0) {
                                         return std::nullopt;
                                     }
                                     return Result<GatewayAnswer>(fail(Code::unavailable, "cut"));
                                 });
    const Entry one = entry_behind({}, RecordKind::opened, 1, "a");
    const Entry large =
        entry_behind(one.header, RecordKind::snapshot, 1, some_bytes(5 * part_bytes_max));
    ASSERT_TRUE(store->append(one, 0));

    EXPECT_FALSE(store->append(large, 1));

    const auto reader = open_fake(etcd);
    EXPECT_EQ(reader->extent()->last, one.header);
    EXPECT_EQ(reader->read(1, SIZE_MAX)->size(), 1U);
    EXPECT_FALSE(reader->last_snapshot(UINT64_MAX)->has_value());
    left = 1'000;
    EXPECT_TRUE(store->append(large, 1));
    EXPECT_TRUE(*reader->read(2, SIZE_MAX) == std::vector<Entry>{large});
}

TEST(EtcdStore, SaysThatEtcdIsFullAndGoesOnWhenItIsNot) {
    FakeEtcd etcd;
    const auto store = open_fake(etcd);
    const Entry one = entry_behind({}, RecordKind::opened, 1, "a");
    etcd.is_full = true;

    const auto refused = store->append(one, 0);
    etcd.is_full = false;

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("etcd is full (alarm NOSPACE)"));
    EXPECT_TRUE(store->append(one, 0));
}

TEST(EtcdStore, SaysThatARequestIsTooLargeForThisEtcd) {
    FakeEtcd etcd;
    etcd.request_bytes_max = 100'000;
    const auto store = open_fake(etcd);

    const auto refused =
        store->append(entry_behind({}, RecordKind::opened, 1, some_bytes(inline_bytes_max)), 0);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::limit);
    EXPECT_THAT(refused.error().message, HasSubstr("--max-request-bytes"));
}

TEST(EtcdStore, NoticesWhatIsMissing) {
    FakeEtcd etcd;
    const auto store = open_fake(etcd);
    const Entry one = entry_behind({}, RecordKind::opened, 1, "a");
    const Entry two =
        entry_behind(one.header, RecordKind::snapshot, 1, some_bytes(2 * part_bytes_max));
    ASSERT_TRUE(store->append(one, 0));
    ASSERT_TRUE(store->append(two, 1));
    const auto whole = etcd.keys;

    etcd.keys.erase(Layout("/log").part(two.header, 1));
    EXPECT_THAT(store->read(1, SIZE_MAX).error().message, HasSubstr("entry 2: a part is missing"));
    etcd.keys = whole;
    etcd.keys.erase(Layout("/log").entry(1));
    EXPECT_THAT(store->check().error().message, HasSubstr("it has 1 entries; expected 2"));
    etcd.keys = whole;
    etcd.keys["/log/end"].value = "1 2 3";
    EXPECT_EQ(store->extent().error().code, Code::corrupt);
}

TEST(EtcdStore, OneLeaderAtATimeAppends) {
    std::size_t refused = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        FakeEtcd etcd;
        LeadersAdversary adversary(seed, [&] { return open_fake(etcd); });
        adversary.run(60);
        refused += adversary.refused();
    }
    EXPECT_GT(refused, 300U);
}

TEST(EtcdStore, LivesInTheRealOne) {
    if (!RealEtcd::program()) { GTEST_SKIP() << why_no_real_etcd(); }
    ASSERT_NE(real_etcd(), nullptr) << "etcd did not start";

    keeps_large_entries([] { return open_real(real_etcd()->address("/large")); });
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        const Address address = real_etcd()->address(fmt::format("/leaders/{}", seed));
        LeadersAdversary adversary(seed, [&] { return open_real(address); });
        adversary.run(40);
    }
    const auto gateway = connect_gateway({.address = real_etcd()->address("/large")});
    EXPECT_EQ(*ledger_id(*gateway, "/large", "one"), "etcd one at /large");
    EXPECT_EQ(*ledger_id(*gateway, "/large", "two"), "etcd one at /large");
    EXPECT_EQ(*ledger_id(*gateway, "/small", "two"), "etcd two at /small");
}

}  // namespace
}  // namespace muster::etcd
