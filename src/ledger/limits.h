// Bounds of the ledger, and what happens at them.
#pragma once

#include <cstddef>

namespace muster {

/// A larger record is refused and not written; SQLite's own bound is a little below 1 GB.
inline constexpr std::size_t record_bytes_max = 900'000'000;
/// What a reader holds at once, unless one record alone is larger.
inline constexpr std::size_t batch_bytes_max = 4'000'000;
/// How often a new leader looks again when the old one appended before it; then it fails.
inline constexpr int open_attempts_max = 100;
/// How long SQLite waits for another process before an append fails as unavailable.
inline constexpr int busy_wait_ms = 5'000;

}  // namespace muster
