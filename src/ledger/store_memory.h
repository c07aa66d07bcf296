// A ledger in memory, for simulation and tests. The log outlives the store: stores of one log are
// leaders of one ledger, and a new store of it is a restart.
#pragma once

#include "ledger/store.h"

#include <deque>
#include <memory>

namespace muster {

struct MemoryLog {
    Header anchor;
    std::deque<Entry> entries;
};

/// The log must outlive the store.
std::unique_ptr<Store> open_memory_store(MemoryLog& log);

}  // namespace muster
