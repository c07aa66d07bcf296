// Ledgers as verbs name them: a file, or etcd://HOST:PORT/PREFIX.
#pragma once

#include "cli/options.h"
#include "ledger/store.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace muster::cli {

/// To be read; also while a leader writes.
Result<std::unique_ptr<Store>> open_ledger(const std::string& name, const EtcdFiles& files);

/// To be written, by one of several.
struct LedgerToWrite {
    std::function<Result<std::unique_ptr<Store>>()> open;
    /// The same for all who write this one, and for nobody else. What is not there is made.
    std::function<Result<std::string>()> id;
    bool is_in_etcd = false;
};
/// `wait_ms`: how long etcd is waited for in one question.
Result<LedgerToWrite> find_ledger(const std::string& name, const EtcdFiles& files,
                                  std::int64_t wait_ms);

/// Only what the engine decides is recorded.
Result<> check_recorded(std::string_view policy, const std::string& file);

/// A new ledger, which a simulation may lose: not synced. None for no file. A ledger that has
/// entries is refused: one file tells one history.
Result<std::unique_ptr<Store>> make_ledger(const std::string& file);

}  // namespace muster::cli
