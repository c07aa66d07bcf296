// A memory ledger whose disk may be full, whose process may stop in the middle of an append, and
// whose answer may get lost on the way.
#pragma once

#include "ledger/store_memory.h"
#include "ledger/store_wrapper.h"
#include "sim/loop_adapter.h"

#include <functional>

namespace muster::sim {

class LoopStore final : public StoreWrapper {
public:
    struct Hooks {
        LoopAdapter::At at;
        std::function<void(const Entry&)> written;
        std::function<void()> fenced;  // the process was told that another one leads
        std::function<bool()> is_full;
        std::function<bool()> is_answer_lost;
    };

    LoopStore(MemoryLog& log, Hooks hooks)
        : StoreWrapper(open_memory_store(log)),
          hooks_(std::move(hooks)) {}

    Result<> append(const Entry& entry, std::uint64_t expected_epoch) override;
    Result<std::uint64_t> drop_before(std::uint64_t first, std::uint64_t expected_epoch) override;

private:
    Hooks hooks_;
};

}  // namespace muster::sim
