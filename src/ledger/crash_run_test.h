// Tests only: a fixed life of a ledger on a disk that may fail, and what must be left of it.
#pragma once

#include "ledger/fault_vfs_test.h"
#include "ledger/ledger.h"
#include "ledger/sqlite.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

struct CrashRun {
    std::vector<Header> acknowledged;  // by sequence, from 1
    bool is_finished = false;          // no failure stopped it
};

/// Three leaders one after another; cycles, snapshots, checkpoints in between, a retention. With
/// `is_stubborn` what failed is tried again after space was freed. The last leader's connection
/// stays open when `end` is given, which sees the disk as it is then.
CrashRun play(FaultDisk& disk, bool is_stubborn = false, FaultDisk* end = nullptr);

/// All that is recorded, proved; or the first error.
Result<std::vector<Header>> read_all(FaultDisk& disk, Access access = Access::write);

/// "" when the log is the acknowledged one, with at most one entry more: what was under way.
std::string compare(const CrashRun& run, const std::vector<Header>& found);

}  // namespace muster
