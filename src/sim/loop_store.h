// A memory ledger whose disk may be full, whose process may stop in the middle of an append, and
// whose answer may get lost on the way.
#pragma once

#include "ledger/store_memory.h"
#include "sim/loop_adapter.h"

#include <functional>
#include <memory>

namespace muster::sim {

class LoopStore final : public Store {
public:
    struct Hooks {
        LoopAdapter::At at;
        std::function<void(const Entry&)> written;
        std::function<void()> fenced;  // the process was told that another one leads
        std::function<bool()> is_full;
        std::function<bool()> is_answer_lost;
    };

    LoopStore(MemoryLog& log, Hooks hooks)
        : Store("ledger in memory"),
          store_(open_memory_store(log)),
          hooks_(std::move(hooks)) {}

    Result<Extent> extent() override;
    Result<> append(const Entry& entry, std::uint64_t expected_epoch) override;
    Result<std::vector<Entry>> read(std::uint64_t from, std::size_t bytes_max) override {
        return store_->read(from, bytes_max);
    }
    Result<std::optional<Header>> header(std::uint64_t sequence) override {
        return store_->header(sequence);
    }
    Result<std::optional<Header>> last_snapshot(std::uint64_t before) override {
        return store_->last_snapshot(before);
    }
    Result<std::uint64_t> drop_before(std::uint64_t first, std::uint64_t expected_epoch) override;
    Result<> check() override { return {}; }

private:
    std::unique_ptr<Store> store_;
    Hooks hooks_;
};

}  // namespace muster::sim
