// The seam between the ledger and where it lies: few calls, entries as bytes. A store keeps what it
// acknowledged through any crash, and takes an append only from whom the log's end says is leader.
// Every store passes store_test.cpp.
#pragma once

#include "base/result.h"
#include "ledger/entry.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster {

/// Where the log begins and ends. The anchor is in front of the first entry: sequence 0 and no
/// hash, or what retention dropped last. An empty log ends at its anchor, with epoch 0.
struct Extent {
    Header anchor;  // only sequence and hash count
    Header last;

    [[nodiscard]] std::uint64_t first() const { return anchor.sequence + 1; }
    [[nodiscard]] bool is_empty() const { return last.sequence == anchor.sequence; }
};

class Store {
public:
    /// Errors begin with the name: the file, or what it is.
    explicit Store(std::string name) : name_(std::move(name)) {}
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;

    [[nodiscard]] const std::string& name() const { return name_; }

    virtual Result<Extent> extent() = 0;
    /// Adds one entry, durably and whole, or fails and adds nothing: with `conflict` unless the log
    /// ends at entry.header.sequence − 1 with epoch `expected_epoch`.
    virtual Result<> append(const Entry& entry, std::uint64_t expected_epoch) = 0;
    /// Entries from `from` on: at least one if there is one, then as many as fit into `bytes_max`.
    virtual Result<std::vector<Entry>> read(std::uint64_t from, std::size_t bytes_max) = 0;
    virtual Result<std::optional<Header>> header(std::uint64_t sequence) = 0;
    /// The last snapshot with a sequence below `before`.
    virtual Result<std::optional<Header>> last_snapshot(std::uint64_t before) = 0;
    /// Drops what is before `first`, with the same fence as append; returns how many entries.
    virtual Result<std::uint64_t> drop_before(std::uint64_t first,
                                              std::uint64_t expected_epoch) = 0;
    /// What the store can say of its own soundness; the entries' hashes are not its matter.
    virtual Result<> check() = 0;

private:
    std::string name_;
};

/// The refusals of the fence, told alike by every store.
Error fenced(const Store& store, const Header& last, std::uint64_t sequence, std::uint64_t epoch);

}  // namespace muster
