#include "ledger/verify.h"

#include <fmt/core.h>

namespace muster {

Result<Verified> verify(Store& store) {
    MUSTER_CHECK(store.check());
    Verified out;
    MUSTER_TRY(extent, store.extent());
    out.extent = extent;
    MUSTER_TRY(cursor, Cursor::at(store, extent.first(), extent.last.sequence + 1));
    for (;;) {
        MUSTER_TRY(item, cursor.next());
        if (!item) { break; }
        if (item->header.sequence == extent.first() && extent.first() > 1 &&
            item->header.kind != RecordKind::snapshot) {
            return fail(
                Code::corrupt,
                fmt::format("{}: entry {}: {}; expected a snapshot at the start "
                            "of what retention left",
                            store.name(), item->header.sequence, name_of(item->header.kind)));
        }
        ++out.records[static_cast<std::size_t>(item->header.kind)];
        out.payload_bytes += item->payload_bytes;
    }
    return out;
}

}  // namespace muster
