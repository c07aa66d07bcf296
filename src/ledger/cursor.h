// Reads a log record by record, a batch in memory at a time. Each one is proved on the way: dense
// sequences, epochs that only an `Opened` raises, the chained hash, a payload that decodes.
#pragma once

#include "ledger/store.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace muster {

struct Item {
    Header header;
    std::size_t payload_bytes = 0;
    Record record;
};

class Cursor {
public:
    /// From `from` to `until` or the end, whichever comes first. The store outlives the cursor.
    static Result<Cursor> at(Store& store, std::uint64_t from, std::uint64_t until = UINT64_MAX);

    /// Nothing at the end; an error names the entry.
    Result<std::optional<Item>> next();

private:
    explicit Cursor(Store& store) : store_(&store) {}
    Result<Item> prove(const Entry& entry);

    Store* store_;
    std::uint64_t until_ = 0;
    Header before_;  // the entry in front of the next one
    std::vector<Entry> batch_;
    std::size_t at_ = 0;
};

}  // namespace muster
