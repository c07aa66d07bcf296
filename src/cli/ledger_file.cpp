#include "cli/ledger_file.h"

#include "ledger/store_sqlite.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace muster::cli {

Result<std::unique_ptr<Store>> open_ledger(const std::string& file) {
    return open_sqlite_store(file, {.access = Access::read});
}

Result<> check_recorded(std::string_view policy, const std::string& file) {
    if (file.empty() || policy == "muster") { return {}; }
    return fail(Code::invalid,
                fmt::format("--ledger: found policy '{:.40}'; expected muster, whose decisions are "
                            "recorded",
                            policy));
}

Result<std::unique_ptr<Store>> make_ledger(const std::string& file) {
    if (file.empty()) { return std::unique_ptr<Store>(); }
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        // What a deleted ledger left says nothing of this one.
        for (const char* rest : {"-mark", "-wal", "-shm"}) {
            std::filesystem::remove(file + rest, ignored);
        }
    }
    MUSTER_TRY(store, open_sqlite_store(file, {.is_synced = false, .entries_per_commit = 1'000}));
    MUSTER_TRY(extent, store->extent());
    if (!extent.is_empty()) {
        return fail(Code::invalid,
                    fmt::format("{}: found a ledger of {} entries; expected a new file", file,
                                extent.last.sequence - extent.anchor.sequence));
    }
    return std::move(store);
}

}  // namespace muster::cli
