// Tests only: a simulated adversary lets several would-be leaders act in any order, and stops them
// in the middle of what they do: at most one epoch appends, and what was acknowledged is there
// once.
#pragma once

#include "codec/any_test.h"
#include "ledger/ledger.h"
#include "ledger/store_wrapper.h"
#include "ledger/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster {

/// Something happens between what a leader read and what it writes.
class PausingStore : public StoreWrapper {
public:
    PausingStore(std::unique_ptr<Store> store, std::function<void()> pause)
        : StoreWrapper(std::move(store)),
          pause_(std::move(pause)) {}

    Result<> append(const Entry& entry, std::uint64_t expected_epoch) override {
        pause_();
        return StoreWrapper::append(entry, expected_epoch);
    }
    Result<std::uint64_t> drop_before(std::uint64_t first, std::uint64_t expected_epoch) override {
        pause_();
        return StoreWrapper::drop_before(first, expected_epoch);
    }

private:
    std::function<void()> pause_;
};

class LeadersAdversary {
public:
    using Open = std::function<std::unique_ptr<Store>()>;

    LeadersAdversary(std::uint64_t seed, Open open)
        : dice_(seed),
          open_(std::move(open)),
          leaders_(3) {}

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
            act(dice_.below(leaders_.size()));
            check();
        }
    }

    [[nodiscard]] std::size_t refused() const { return refused_; }

private:
    void act(std::size_t who) {
        if (is_busy_[who]) { return; }
        is_busy_[who] = true;
        std::optional<Ledger>& ledger = leaders_[who];
        const std::uint64_t what = ledger ? dice_.below(20) : 20;
        if (what >= 20) {
            auto opened =
                Ledger::open(pausing(), {.leader = std::to_string(who), .engine_version = "1"});
            if (opened) {
                acknowledge(opened->last());
                ledger = std::move(*opened);
            } else {
                refuse(opened.error());
            }
        } else if (what == 0) {
            ledger.reset();
        } else if (what == 1) {
            const auto dropped = ledger->apply({.keep = Keep::snapshots, .snapshots = 2});
            if (!dropped) { refuse(dropped.error()); }
        } else {
            Cycle cycle;
            cycle.facts = {NodeGone{std::to_string(dice_.next())}};
            const auto done = what == 2 ? ledger->append(Snapshot{}) : ledger->append(cycle);
            if (done) {
                acknowledge(ledger->last());
            } else {
                refuse(done.error());
                if (dice_.below(2) == 0) { ledger.reset(); }
            }
        }
        is_busy_[who] = false;
    }

    std::unique_ptr<Store> pausing() {
        return std::make_unique<PausingStore>(open_(), [this] {
            while (dice_.below(3) == 0) { act(dice_.below(leaders_.size())); }
        });
    }

    void acknowledge(const Header& header) {
        if (header.kind == RecordKind::opened) {
            EXPECT_GT(header.epoch, epoch_);
            epoch_ = header.epoch;
        }
        EXPECT_EQ(header.epoch, epoch_) << "a leader wrote that was replaced";
        acknowledged_.push_back(header);
    }

    void refuse(const Error& error) {
        ++refused_;
        EXPECT_EQ(error.code, Code::conflict) << error.message;
    }

    void check() {
        const auto store = open_();
        auto cursor = Cursor::at(*store, 1);
        ASSERT_TRUE(cursor.has_value());
        const std::uint64_t anchor = store->extent()->anchor.sequence;
        for (std::uint64_t sequence = anchor + 1; sequence <= acknowledged_.size(); ++sequence) {
            const auto item = cursor->next();
            ASSERT_TRUE(item.has_value()) << item.error().message;
            ASSERT_TRUE(item->has_value()) << sequence << " is lost";
            ASSERT_EQ((*item)->header, acknowledged_[sequence - 1]);
        }
        ASSERT_FALSE(cursor->next()->has_value()) << "more than was acknowledged";
    }

    AnyValue dice_;
    Open open_;
    std::vector<std::optional<Ledger>> leaders_;
    bool is_busy_[3] = {};
    std::vector<Header> acknowledged_;
    std::uint64_t epoch_ = 0;
    std::size_t refused_ = 0;
};

}  // namespace muster
