// A Store that hands everything on to another one: what stands in front of it overrides what it
// changes.
#pragma once

#include "ledger/store.h"

#include <memory>
#include <utility>

namespace muster {

class StoreWrapper : public Store {
public:
    explicit StoreWrapper(std::unique_ptr<Store> store)
        : Store(store->name()),
          store_(std::move(store)) {}

    Result<Extent> extent() override { return store_->extent(); }
    Result<> append(const Entry& entry, std::uint64_t expected_epoch) override {
        return store_->append(entry, expected_epoch);
    }
    Result<std::vector<Entry>> read(std::uint64_t from, std::size_t bytes_max) override {
        return store_->read(from, bytes_max);
    }
    Result<std::optional<Header>> header(std::uint64_t sequence) override {
        return store_->header(sequence);
    }
    Result<std::optional<Header>> last_snapshot(std::uint64_t before) override {
        return store_->last_snapshot(before);
    }
    Result<std::uint64_t> drop_before(std::uint64_t first, std::uint64_t expected_epoch) override {
        return store_->drop_before(first, expected_epoch);
    }
    Result<> check() override { return store_->check(); }

private:
    std::unique_ptr<Store> store_;
};

}  // namespace muster
