// The keys of a ledger in etcd and what their values say; docs/decisions/0018 has the table. Pure;
// what is read may be any bytes.
#pragma once

#include "base/result.h"
#include "ledger/store.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::etcd {

class Layout {
public:
    explicit Layout(std::string prefix) : prefix_(std::move(prefix)) {}

    [[nodiscard]] std::string id() const { return prefix_ + "/id"; }
    [[nodiscard]] std::string end() const { return prefix_ + "/end"; }
    [[nodiscard]] std::string entries() const { return prefix_ + "/entry/"; }
    [[nodiscard]] std::string entry(std::uint64_t sequence) const;
    [[nodiscard]] std::string snapshots() const { return prefix_ + "/snapshot/"; }
    [[nodiscard]] std::string snapshot(std::uint64_t sequence) const;
    [[nodiscard]] std::string all_parts() const { return prefix_ + "/part/"; }
    [[nodiscard]] std::string parts(const Header& header) const;
    [[nodiscard]] std::string part(const Header& header, std::uint32_t number) const;
    /// Below it are the parts of all entries before.
    [[nodiscard]] std::string parts_from(std::uint64_t sequence) const;
    /// Of a key of an entry or a snapshot.
    static Result<std::uint64_t> sequence_of(std::string_view key);

private:
    std::string prefix_;
};

/// The value of an entry's key, or of a snapshot's, which has no payload.
struct Stored {
    Header header;  // the sequence is in the key
    std::uint64_t payload_bytes = 0;
    std::uint32_t parts = 0;  // 0: the payload is here
    std::string payload;
};

struct End {
    Extent extent;
    std::string writer;  // of the last entry
};

std::string encode_stored(const Stored& stored, bool with_payload);
Result<Stored> decode_stored(std::uint64_t sequence, std::string_view bytes, bool with_payload);
std::string encode_end(const End& end);
Result<End> decode_end(std::string_view text);

}  // namespace muster::etcd
