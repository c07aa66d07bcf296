// A record as a store keeps it: bytes, and in front of them what can be asked without decoding.
// Each entry's hash covers the one before, so that nothing is altered, dropped or swapped unseen.
#pragma once

#include "ledger/record.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

using Hash = std::array<std::uint8_t, 32>;  // SHA-256

struct Header {
    std::uint64_t sequence = 0;  // from 1, dense
    std::uint64_t epoch = 0;     // of the leader that wrote it
    RecordKind kind = RecordKind::opened;
    std::int64_t time = 0;  // ms, the last TimeIs so far
    Hash hash{};

    bool operator==(const Header&) const = default;
};

struct Entry {
    Header header;
    std::string payload;

    bool operator==(const Entry&) const = default;
};

Hash hash_of(std::string_view bytes);
/// What `header.hash` must be behind an entry with the hash `before`.
Hash chain_hash(const Hash& before, const Header& header, std::string_view payload);
std::string hex_of(const Hash& hash);

}  // namespace muster
