// How much of the log is kept: the operator's choice.
#pragma once

#include "ledger/store.h"

#include <cstdint>

namespace muster {

enum class Keep : std::uint8_t { everything, snapshots, age };

struct Retention {
    Keep keep = Keep::everything;
    std::uint64_t snapshots = 1;  // the last ones, and all behind the first of them; at least 1
    std::int64_t age_ms = 0;      // by the facts' own time: all that happened since
};

/// The first entry to keep: always a snapshot, or the first that is there.
Result<std::uint64_t> first_kept(Store& store, const Retention& retention);

}  // namespace muster
