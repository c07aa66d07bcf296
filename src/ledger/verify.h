// Proves a whole log: the store's own check, then every entry as the cursor proves it.
#pragma once

#include "ledger/cursor.h"

#include <array>
#include <cstdint>

namespace muster {

struct Verified {
    Extent extent;
    std::array<std::uint64_t, 3> records{};  // by RecordKind
    std::uint64_t payload_bytes = 0;
};

/// The first thing that is wrong, as an error that names the entry.
Result<Verified> verify(Store& store);

}  // namespace muster
