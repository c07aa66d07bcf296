// What a ledger holds. One record is one durable transaction. The format is argued in
// docs/decisions/0006.
#pragma once

#include "base/result.h"
#include "model/order.h"
#include "model/plan.h"
#include "model/policy.h"
#include "model/snapshot.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster {

/// A leader took over, with the epoch of its entry. Its engine begins from the state that the
/// records before it amount to, as any engine restored from that state does.
struct Opened {
    std::string leader;
    std::string engine_version;
    Policy policy;
    std::string policy_hash;

    bool operator==(const Opened&) const = default;
};

/// One cycle: what was heard since the last one, what was decided, and what the cluster was told
/// since the last one.
struct Cycle {
    std::vector<Fact> facts;
    Plan plan;
    std::vector<Conflict> conflicts;
    std::vector<Ordered> ordered;

    bool operator==(const Cycle&) const = default;
};

using Record = std::variant<Opened, Snapshot, Cycle>;

/// In the order of Record.
enum class RecordKind : std::uint8_t { opened, snapshot, cycle };
std::string_view name_of(RecordKind kind);

std::string encode_record(const Opened& opened);
std::string encode_record(const Snapshot& snapshot);
std::string encode_record(const Cycle& cycle);
/// Any bytes; an error names the offset.
Result<Record> decode_record(std::string_view bytes);

/// One object, keys as in docs/reference/json.md.
std::string record_json(const Record& record);

/// Of its canonical bytes, in hexadecimal: equal policies, equal hashes, on any build.
std::string policy_hash(const Policy& policy);

}  // namespace muster
