// Decides a recorded history anew: the same facts and policy must give the same plans, byte for
// byte. Boundaries (`Opened`, `Snapshot`) restore the engine as the recorded leader's was. Reads
// records and changes nothing; one thread.
#pragma once

#include "ledger/ledger.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace muster {

/// Where a history may begin: a leader or a snapshot.
struct Beginning {
    std::uint64_t entry = 0;
    Cursor records;
};

/// The last snapshot at or before entry `from`, else the log's own beginning.
Result<Beginning> beginning_of(Store& store, std::uint64_t from);

/// Where what is decided now is another thing than what is on record.
struct Difference {
    std::uint64_t entry = 0;
    std::uint64_t cycle = 0;
    std::string text;
};

struct Replayed {
    std::uint64_t first = 0;  // entries
    std::uint64_t last = 0;
    std::uint64_t leaders = 0;
    std::uint64_t snapshots = 0;  // that were compared
    std::uint64_t cycles = 0;     // as are facts and placements
    std::uint64_t facts = 0;
    std::uint64_t placements = 0;
    std::vector<std::string> engine_versions;  // of the leaders, each once
    std::optional<Difference> difference;      // the first one; nothing behind it was looked at
};

/// Told the entry that is next.
using ReplayProgress = std::function<void(std::uint64_t entry)>;

/// From the beginning that suits entry `from`. A failure is the log's: it does not read, or begins
/// in the middle.
Result<Replayed> decide_anew(Store& store, std::uint64_t from = 1,
                             const ReplayProgress& progress = {});

}  // namespace muster
