// Bounds of a ledger in etcd, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::etcd {

/// A larger payload lies in parts. etcd refuses a request over 1.5 MiB unless it is told otherwise.
inline constexpr std::size_t inline_bytes_max = std::size_t{256} << 10;
inline constexpr std::size_t part_bytes_max = std::size_t{1} << 20;
/// A larger record is refused: etcd keeps 2 GiB of everything unless it is told otherwise.
inline constexpr std::size_t entry_bytes_max = std::size_t{512} << 20;
/// Of one read; with entries as large as they get it is an answer of 11 MB.
inline constexpr std::size_t page_entries = 32;
inline constexpr std::size_t page_parts = 4;
/// A larger answer is refused.
inline constexpr std::size_t answer_bytes_max = std::size_t{64} << 20;
/// Dropped in one transaction, so that etcd serves others between two.
inline constexpr std::uint64_t drop_step = 2'000;
/// How often an append looks again when others move the log's end; then it fails.
inline constexpr int turns_max = 100;
inline constexpr std::size_t endpoints_max = 16;

}  // namespace muster::etcd
