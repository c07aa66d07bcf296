#include "ledger/cursor.h"

#include "ledger/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster {

namespace {

tl::unexpected<Error> bad(const Store& store, std::uint64_t sequence, std::string_view what) {
    return fail(Code::corrupt, fmt::format("{}: entry {}: {}", store.name(), sequence, what));
}

}  // namespace

Result<Cursor> Cursor::at(Store& store, std::uint64_t from, std::uint64_t until) {
    MUSTER_TRY(extent, store.extent());
    Cursor cursor(store);
    cursor.until_ = std::min(until, extent.last.sequence + 1);
    from = std::max(from, extent.first());
    if (from == extent.first()) {
        cursor.before_ = extent.anchor;
        return cursor;
    }
    if (from > extent.last.sequence + 1) { from = extent.last.sequence + 1; }
    MUSTER_TRY(before, store.header(from - 1));
    if (!before) { return bad(store, from - 1, "it is missing"); }
    cursor.before_ = *before;
    return cursor;
}

Result<std::optional<Item>> Cursor::next() {
    const std::uint64_t sequence = before_.sequence + 1;
    if (sequence >= until_) { return std::optional<Item>{}; }
    if (at_ == batch_.size()) {
        MUSTER_TRY(batch, store_->read(sequence, batch_bytes_max));
        batch_ = std::move(batch);
        at_ = 0;
        if (batch_.empty()) { return bad(*store_, sequence, "it is missing"); }
    }
    MUSTER_TRY(item, prove(batch_[at_++]));
    before_ = item.header;
    return std::optional(std::move(item));
}

Result<Item> Cursor::prove(const Entry& entry) {
    const Header& header = entry.header;
    const std::uint64_t sequence = before_.sequence + 1;
    if (header.sequence != sequence) {
        return bad(*store_, sequence,
                   fmt::format("it is missing; the next one is {}", header.sequence));
    }
    // What is in front of the first entry has a hash, but no epoch.
    const bool is_behind_anchor = before_.epoch == 0 && before_.sequence > 0;
    const bool is_opened = header.kind == RecordKind::opened;
    if (header.epoch < before_.epoch || (header.epoch == before_.epoch && is_opened) ||
        (header.epoch > before_.epoch && !is_opened && !is_behind_anchor)) {
        return bad(*store_, sequence,
                   fmt::format("{} with epoch {} behind epoch {}", name_of(header.kind),
                               header.epoch, before_.epoch));
    }
    if (header.hash != chain_hash(before_.hash, header, entry.payload)) {
        return bad(*store_, sequence,
                   "its hash is another one: it or what is before it was altered");
    }
    auto record = decode_record(entry.payload);
    if (!record) { return bad(*store_, sequence, record.error().message); }
    if (record->index() != static_cast<std::size_t>(header.kind)) {
        return bad(*store_, sequence,
                   fmt::format("it says {} and holds another kind", name_of(header.kind)));
    }
    return Item{
        .header = header, .payload_bytes = entry.payload.size(), .record = std::move(*record)};
}

}  // namespace muster
