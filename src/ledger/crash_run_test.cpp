#include "ledger/crash_run_test.h"

#include "ledger/store_sqlite.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

namespace muster {

namespace {

Result<Ledger> open(FaultDisk& disk, int leader) {
    // Several in a run, and none at its end: what the last leader did is in the WAL alone.
    const int checkpoint_pages = leader < 3 ? 6 : 1'000;
    MUSTER_TRY(store,
               open_sqlite_store("log", {.vfs = disk.vfs(), .checkpoint_pages = checkpoint_pages}));
    return Ledger::open(std::move(store),
                        {.leader = fmt::format("leader {}", leader), .engine_version = "1"});
}

Cycle cycle(std::uint64_t number) {
    Cycle out;
    out.facts = {TimeIs{static_cast<std::int64_t>(number) * 1'000}, NodeGone{"n"}};
    out.plan.cycle = number;
    // Some spill over to other pages.
    out.plan.placements.resize(number % 3 == 0 ? 400 : 1);
    return out;
}

}  // namespace

CrashRun play(FaultDisk& disk, bool is_stubborn, FaultDisk* end) {
    CrashRun run;
    std::uint64_t number = 0;
    for (int leader = 1; leader <= 3; ++leader) {
        auto ledger = open(disk, leader);
        if (!ledger && is_stubborn) {
            disk.free_space();
            ledger = open(disk, leader);
        }
        if (!ledger) { return run; }
        run.acknowledged.push_back(ledger->last());
        const auto try_it = [&](auto&& what) {
            auto done = what();
            if (!done && is_stubborn) {
                disk.free_space();
                done = what();
            }
            return done.has_value();
        };
        for (int i = 0; i < 4; ++i) {
            ++number;
            if (!try_it([&] { return ledger->append(cycle(number)); })) { return run; }
            run.acknowledged.push_back(ledger->last());
        }
        if (!try_it([&] { return ledger->append(Snapshot{.cycle = number}); })) { return run; }
        run.acknowledged.push_back(ledger->last());
        const Retention retention{.keep = Keep::snapshots, .snapshots = 2};
        if (!try_it([&] { return ledger->apply(retention); })) { return run; }
        if (leader == 3 && end != nullptr) { end->copy_from(disk); }
    }
    run.is_finished = true;
    return run;
}

Result<std::vector<Header>> read_all(FaultDisk& disk, Access access) {
    MUSTER_TRY(store, open_sqlite_store("log", {.access = access, .vfs = disk.vfs()}));
    MUSTER_TRY(cursor, Cursor::at(*store, 1));
    std::vector<Header> out;
    for (;;) {
        MUSTER_TRY(item, cursor.next());
        if (!item) { return out; }
        out.push_back(item->header);
    }
}

std::string compare(const CrashRun& run, const std::vector<Header>& found) {
    const std::size_t acknowledged = run.acknowledged.size();
    if (found.empty()) {
        return acknowledged == 0 ? "" : fmt::format("all {} are lost", acknowledged);
    }
    const std::uint64_t last = found.back().sequence;
    if (last < acknowledged || last > acknowledged + 1) {
        return fmt::format("it ends at {}, and {} were acknowledged", last, acknowledged);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::uint64_t sequence = found[i].sequence;
        if (sequence != found.front().sequence + i) { return fmt::format("{} doubled", sequence); }
        if (sequence <= acknowledged && found[i] != run.acknowledged[sequence - 1]) {
            return fmt::format("{} is another one", sequence);
        }
    }
    const bool is_whole = found.front().sequence == 1;
    if (!is_whole && found.front().kind != RecordKind::snapshot) { return "no snapshot in front"; }
    return "";
}

}  // namespace muster
