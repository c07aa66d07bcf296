// Would-be leaders on an etcd whose answers get lost, come twice, late or broken: what was
// acknowledged is there, once; what is there was asked for; a replaced leader writes nothing.
#include "codec/any_test.h"
#include "etcd/fake_etcd_test.h"
#include "etcd/limits.h"
#include "etcd/store_etcd.h"
#include "ledger/ledger.h"
#include "ledger/verify.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

namespace muster::etcd {
namespace {

class FaultyDays {
public:
    explicit FaultyDays(std::uint64_t seed) : dice_(seed), leaders_(3) {}

    void run(int steps) {
        for (int i = 0; i < steps; ++i) { act(leaders_[dice_.below(leaders_.size())]); }
        is_calm_ = true;
        etcd_.settle(etcd_.late.size());
        // Who has something under way comes to an end with it.
        for (Leader& leader : leaders_) {
            if (leader.ledger && leader.pending) { act(leader); }
        }
        check();
    }

    [[nodiscard]] std::size_t acknowledged() const { return acknowledged_.size(); }
    [[nodiscard]] std::size_t found_again() const { return found_again_; }
    [[nodiscard]] std::size_t replaced() const { return replaced_; }

private:
    struct Leader {
        std::optional<Ledger> ledger;
        std::optional<std::string> pending;  // failed, and nothing else is recorded before it
        bool is_busy = false;
    };

    void act(Leader& leader) {
        if (leader.is_busy) { return; }
        leader.is_busy = true;
        if (!leader.ledger) {
            open(leader);
        } else if (!leader.pending && dice_.below(12) == 0) {
            leader.ledger.reset();
        } else if (!leader.pending && dice_.below(8) == 0) {
            retain(leader);
        } else {
            append(leader);
        }
        leader.is_busy = false;
    }

    void open(Leader& leader) {
        auto gateway = std::make_unique<FakeGateway>(
            etcd_, [this](FakeEtcd& etcd, std::string_view path, const std::string& body) {
                return disturb(etcd, path, body);
            });
        auto opened = Ledger::open(
            open_etcd_store(
                std::move(gateway),
                {.name = "etcd", .prefix = "/log", .writer = std::to_string(++writers_)}),
            {.leader = "of one name", .engine_version = "1"});
        if (!opened) { return; }
        EXPECT_GT(opened->epoch(), epoch_);
        epoch_ = opened->epoch();
        acknowledged_[opened->last().sequence] = opened->last();
        leader.ledger = std::move(*opened);
    }

    void append(Leader& leader) {
        const bool is_again = leader.pending.has_value();
        const std::string name = is_again ? *leader.pending : std::to_string(++names_);
        Cycle cycle;
        cycle.facts = {NodeGone{name}};
        const std::uint64_t number = std::stoull(name);
        if (number % 29 == 0) {  // lies in a part
            cycle.facts.push_back(NodeGone{std::string(inline_bytes_max, 'x')});
        }
        asked_.insert(name);
        const Result<> done = number % 5 == 0 && !is_again && dice_.below(2) == 0
                                  ? leader.ledger->append(Snapshot{.cycle = names_})
                                  : leader.ledger->append(cycle);
        if (done) {
            const Header& last = leader.ledger->last();
            EXPECT_EQ(last.epoch, epoch_) << "a leader wrote that was replaced";
            EXPECT_FALSE(acknowledged_.contains(last.sequence));
            acknowledged_[last.sequence] = last;
            found_again_ += is_again ? 1 : 0;
            leader.pending.reset();
        } else if (done.error().code == Code::conflict) {
            ++replaced_;
            leader.ledger.reset();
            leader.pending.reset();
        } else {
            leader.pending = name;
        }
    }

    void retain(Leader& leader) {
        const auto done = leader.ledger->apply({.keep = Keep::snapshots, .snapshots = 2});
        if (!done && done.error().code == Code::conflict) { leader.ledger.reset(); }
    }

    std::optional<Result<GatewayAnswer>> disturb(FakeEtcd& etcd, std::string_view path,
                                                 const std::string& body) {
        if (is_calm_) { return std::nullopt; }
        if (dice_.below(6) == 0) { act(leaders_[dice_.below(leaders_.size())]); }
        if (dice_.below(4) == 0) { etcd.settle(1); }
        const auto failed = [](Code code, const char* text) {
            return Result<GatewayAnswer>(fail(code, text));
        };
        switch (dice_.below(20)) {
            case 0: return failed(Code::unavailable, "cut before it was sent");
            case 1: (void)etcd.handle(path, body); return failed(Code::unavailable, "cut");
            case 2: etcd.late.emplace_back(path, body); return failed(Code::timeout, "slow");
            case 3:  // sent twice by a connection that broke
                (void)etcd.handle(path, body);
                return Result<GatewayAnswer>(etcd.handle(path, body));
            case 4: return Result<GatewayAnswer>(FakeEtcd::refuse(14, "etcdserver: no leader"));
            case 5:
                (void)etcd.handle(path, body);
                return Result<GatewayAnswer>(FakeEtcd::refuse(14, "etcdserver: request timed out"));
            case 6:
                (void)etcd.handle(path, body);
                return Result<GatewayAnswer>(GatewayAnswer{.status = 200, .body = "<html>"});
            case 7: return Result<GatewayAnswer>(GatewayAnswer{.status = 200, .body = "{}"});
            case 8: {
                etcd.is_full = true;
                auto said = etcd.handle(path, body);
                etcd.is_full = false;
                return Result<GatewayAnswer>(std::move(said));
            }
            default: return std::nullopt;
        }
    }

    void check() {
        const auto store = open_etcd_store(std::make_unique<FakeGateway>(etcd_),
                                           {.name = "etcd", .prefix = "/log", .writer = "reader"});
        const auto verified = verify(*store);
        ASSERT_TRUE(verified) << verified.error().message;
        const std::uint64_t anchor = verified->extent.anchor.sequence;
        auto cursor = Cursor::at(*store, 1);
        ASSERT_TRUE(cursor);
        std::map<std::uint64_t, Header> found;
        std::set<std::string> names;
        for (;;) {
            const auto item = cursor->next();
            ASSERT_TRUE(item) << item.error().message;
            if (!*item) { break; }
            found[(*item)->header.sequence] = (*item)->header;
            const auto* cycle = std::get_if<Cycle>(&(*item)->record);
            if (cycle == nullptr) { continue; }
            const std::string name = std::get<NodeGone>(cycle->facts.at(0)).node;
            EXPECT_TRUE(asked_.contains(name));
            EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
        }
        for (const auto& [sequence, header] : acknowledged_) {
            if (sequence <= anchor) { continue; }
            ASSERT_TRUE(found.contains(sequence)) << sequence << " is lost";
            EXPECT_EQ(found.at(sequence), header);
        }
    }

    AnyValue dice_;
    FakeEtcd etcd_;
    std::vector<Leader> leaders_;
    std::map<std::uint64_t, Header> acknowledged_;
    std::set<std::string> asked_;
    std::uint64_t epoch_ = 0;
    std::uint64_t names_ = 0;
    int writers_ = 0;
    bool is_calm_ = false;
    std::size_t found_again_ = 0;
    std::size_t replaced_ = 0;
};

TEST(EtcdFaults, LoseNothingAndDoubleNothing) {
    std::size_t acknowledged = 0;
    std::size_t found_again = 0;
    std::size_t replaced = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        FaultyDays days(seed);
        days.run(120);
        if (testing::Test::HasFailure()) { break; }
        acknowledged += days.acknowledged();
        found_again += days.found_again();
        replaced += days.replaced();
    }
    EXPECT_GT(acknowledged, 2'000U);
    EXPECT_GT(found_again, 200U);
    EXPECT_GT(replaced, 200U);
}

}  // namespace
}  // namespace muster::etcd
