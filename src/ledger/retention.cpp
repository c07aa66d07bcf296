#include "ledger/retention.h"

#include <algorithm>

namespace muster {

Result<std::uint64_t> first_kept(Store& store, const Retention& retention) {
    MUSTER_TRY(extent, store.extent());
    if (retention.keep == Keep::everything) { return extent.first(); }
    const std::uint64_t wanted = std::max<std::uint64_t>(retention.snapshots, 1);
    std::uint64_t at = extent.last.sequence + 1;
    for (std::uint64_t seen = 1;; ++seen) {
        MUSTER_TRY(snapshot, store.last_snapshot(at));
        if (!snapshot) { return extent.first(); }
        at = snapshot->sequence;
        const bool is_enough = retention.keep == Keep::snapshots
                                   ? seen == wanted
                                   : extent.last.time - snapshot->time >= retention.age_ms;
        if (is_enough) { return at; }
    }
}

}  // namespace muster
