// A ledger in one SQLite file: WAL, synced at every commit. Beside it lie FILE-wal and FILE-shm
// while it is open, and FILE-mark (see mark.h). Several processes may open it; the fence decides
// who writes.
#pragma once

#include "ledger/sqlite.h"
#include "ledger/store.h"

#include <memory>
#include <string>

namespace muster {

struct SqliteOptions {
    Access access = Access::write;
    std::string vfs;               // for tests; empty = the system's
    int checkpoint_pages = 1'000;  // the WAL is written back when it has so many
    /// The next two are for runs that can be run again, such as simulations. Not synced: a crash of
    /// the machine may damage the file; one of the process does not.
    bool is_synced = true;
    /// Over 1: entries are acknowledged before they are written, and a crash loses the last ones.
    int entries_per_commit = 1;
};

/// Fails with `corrupt` when the file is no ledger, is damaged, or ends before what was
/// acknowledged; with `not_found` when it is to be read and is not there.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& file,
                                                 const SqliteOptions& options = {});

}  // namespace muster
