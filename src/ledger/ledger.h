// The only truth about ownership: an append-only log that one leader at a time writes. Opening
// takes the next epoch, so that an older leader's appends fail and write nothing. Called by the
// control loop's I/O thread only.
#pragma once

#include "ledger/cursor.h"
#include "ledger/retention.h"
#include "ledger/store.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace muster {

struct Opening {
    std::string leader;  // who it is, for people
    std::string engine_version;
    Policy policy;
};

/// What a new leader starts from: the last snapshot, if there is one, and what is recorded behind
/// it up to the new leader's own `Opened`. Folded, never decided anew.
struct Recovery {
    std::optional<Snapshot> snapshot;
    Cursor records;
};

class Ledger {
public:
    /// Takes over. Whoever led before can't append from here on.
    static Result<Ledger> open(std::unique_ptr<Store> store, const Opening& opening);

    [[nodiscard]] std::uint64_t epoch() const { return last_.epoch; }
    /// Of what is at the end.
    [[nodiscard]] const Header& last() const { return last_; }
    /// Asks the store.
    [[nodiscard]] Result<Extent> extent() const { return store_->extent(); }

    /// Durable when it returns. Fails with `conflict` when another leader took over, `limit` when
    /// the record is too large; after any other failure the same may be tried again. Nothing is
    /// written when it fails, but after a crash right then it may turn out to be there.
    Result<> append(const Cycle& cycle);
    /// A boundary: recovery reads nothing before it, and retention may drop what is.
    Result<> append(const Snapshot& snapshot);

    /// The same leader goes on under another policy: recorded as one that takes over, so that who
    /// reads the log begins anew with it there.
    Result<> open_again(const Opening& opening);

    /// `conflict` when another leader took over. Another may right after it: only an append is
    /// sure.
    Result<> check_fence();

    /// The cursor must not outlive the ledger.
    Result<Recovery> recover();
    /// Returns how many entries were dropped.
    Result<std::uint64_t> apply(const Retention& retention);

private:
    explicit Ledger(std::unique_ptr<Store> store) : store_(std::move(store)) {}
    Result<> append(RecordKind kind, std::int64_t time, std::string payload, std::uint64_t epoch);

    std::unique_ptr<Store> store_;
    Header last_;
    std::uint64_t opened_ = 0;  // our own entry
};

}  // namespace muster
