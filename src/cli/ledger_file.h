// Ledger files as verbs name them.
#pragma once

#include "ledger/store.h"

#include <memory>
#include <string>
#include <string_view>

namespace muster::cli {

/// To be read; also while a leader writes.
Result<std::unique_ptr<Store>> open_ledger(const std::string& file);

/// Only what the engine decides is recorded.
Result<> check_recorded(std::string_view policy, const std::string& file);

/// A new ledger, which a simulation may lose: not synced. None for no file. A ledger that has
/// entries is refused: one file tells one history.
Result<std::unique_ptr<Store>> make_ledger(const std::string& file);

}  // namespace muster::cli
