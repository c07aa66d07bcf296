// What was decided, as JSON: the recent cycles that the API shows, and the lines of the audit log.
#pragma once

#include "control/decider.h"
#include "ledger/store.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

namespace muster {
class JsonWriter;
}

namespace muster::cli {

/// Members of the object that is open; also of `muster ledger show`.
void write_header(JsonWriter& out, const Header& header);
/// How many there were of what.
void write_counts(JsonWriter& out, const Cycle& cycle);

/// Cycles that are on record, the last ones.
class RecentDecisions {
public:
    static constexpr std::size_t count_max = 256;

    /// `entry` is the cycle's.
    void take(const Cycle& cycle, const Header& entry);
    /// Those of a log, and none of before: what another process recorded is as good.
    Result<> recall(Store& store);
    /// The last `limit` of them, the newest first.
    [[nodiscard]] std::string json(std::int64_t limit) const;

private:
    Result<> read(Store& store);

    std::deque<std::string> decisions_;  // written, the newest at the end
};

/// One line for each workload that a cycle decided about: placed, refused or stopped; and one for
/// each fact that broke a plan.
struct AuditContext {
    std::string time;  // RFC 3339
    std::string policy_hash;
    Header entry;  // the cycle's
};
void write_audit(const Decision& decision, const AuditContext& context,
                 const std::function<void(const std::string& line)>& write);

}  // namespace muster::cli
