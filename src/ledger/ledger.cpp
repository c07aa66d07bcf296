#include "ledger/ledger.h"

#include "ledger/limits.h"

#include <fmt/core.h>

#include <utility>

namespace muster {

namespace {

std::string record_of(const Opening& opening) {
    return encode_record(Opened{.leader = opening.leader,
                                .engine_version = opening.engine_version,
                                .policy = opening.policy,
                                .policy_hash = policy_hash(opening.policy)});
}

}  // namespace

Result<Ledger> Ledger::open(std::unique_ptr<Store> store, const Opening& opening) {
    Ledger ledger(std::move(store));
    const std::string payload = record_of(opening);
    for (int attempt = 1;; ++attempt) {
        MUSTER_TRY(extent, ledger.store_->extent());
        ledger.last_ = extent.last;
        const auto done =
            ledger.append(RecordKind::opened, extent.last.time, payload, extent.last.epoch + 1);
        if (done) { break; }
        // Whoever leads may have appended between the two; the fence falls with our own entry.
        if (done.error().code != Code::conflict || attempt == open_attempts_max) {
            return tl::unexpected(done.error());
        }
    }
    ledger.opened_ = ledger.last_.sequence;
    return ledger;
}

Result<> Ledger::append(const Cycle& cycle) {
    std::int64_t time = last_.time;
    for (const Fact& fact : cycle.facts) {
        if (const auto* is = std::get_if<TimeIs>(&fact)) { time = is->now; }
    }
    return append(RecordKind::cycle, time, encode_record(cycle), last_.epoch);
}

Result<> Ledger::append(const Snapshot& snapshot) {
    return append(RecordKind::snapshot, last_.time, encode_record(snapshot), last_.epoch);
}

Result<> Ledger::append(RecordKind kind, std::int64_t time, std::string payload,
                        std::uint64_t epoch) {
    if (payload.size() > record_bytes_max) {
        return fail(Code::limit, fmt::format("a record of {} bytes; expected at most {}",
                                             payload.size(), record_bytes_max));
    }
    Entry entry{
        .header = {.sequence = last_.sequence + 1, .epoch = epoch, .kind = kind, .time = time},
        .payload = std::move(payload)};
    entry.header.hash = chain_hash(last_.hash, entry.header, entry.payload);
    MUSTER_CHECK(store_->append(entry, last_.epoch));
    last_ = entry.header;
    return {};
}

Result<> Ledger::open_again(const Opening& opening) {
    return append(RecordKind::opened, last_.time, record_of(opening), last_.epoch + 1);
}

Result<> Ledger::check_fence() {
    MUSTER_TRY(extent, store_->extent());
    if (extent.last.epoch == last_.epoch) { return {}; }
    return tl::unexpected(fenced(*store_, extent.last, last_.sequence + 1, last_.epoch));
}

Result<Recovery> Ledger::recover() {
    MUSTER_TRY(snapshot, store_->last_snapshot(opened_));
    MUSTER_TRY(records, Cursor::at(*store_, snapshot ? snapshot->sequence : 1, opened_));
    Recovery recovery{.snapshot = std::nullopt, .records = std::move(records)};
    if (!snapshot) {
        MUSTER_TRY(extent, store_->extent());
        if (extent.first() == 1) { return recovery; }
        return fail(Code::corrupt, fmt::format("{}: begins with entry {} and has no snapshot",
                                               store_->name(), extent.first()));
    }
    MUSTER_TRY(item, recovery.records.next());
    if (!item || !std::holds_alternative<Snapshot>(item->record)) {
        return fail(Code::corrupt,
                    fmt::format("{}: entry {} is no snapshot", store_->name(), snapshot->sequence));
    }
    recovery.snapshot = std::get<Snapshot>(std::move(item->record));
    return recovery;
}

Result<std::uint64_t> Ledger::apply(const Retention& retention) {
    MUSTER_TRY(first, first_kept(*store_, retention));
    return store_->drop_before(first, last_.epoch);
}

}  // namespace muster
