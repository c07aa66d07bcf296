// What a ledger tells of the world alone: nodes, queues and failures with their times, who was
// submitted when and ran how long. The decisions are left out, so that others can be made. How the
// workloads fared under the recorded ones is told beside it.
#pragma once

#include "ledger/ledger.h"
#include "sim/chronicle.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::sim {

inline constexpr std::uint32_t no_work = UINT32_MAX;

struct WorldEvent {
    std::int64_t at = 0;
    Fact fact;
    std::uint32_t work = no_work;  // that it is about
};

struct History {
    std::optional<Snapshot> begin;  // what was there; none: nothing
    Policy policy;                  // the last leader's
    std::vector<WorldEvent> events;
    /// By work. One that was used before has a number behind it, in the events too: "train#2".
    std::vector<std::string> names;
    /// From start to end, by work, in ms. −1: not known, or it never started; it goes when an event
    /// says so.
    std::vector<std::int64_t> run_times;
    /// When the engine began anew from what it knew, at a snapshot or with another leader: after
    /// the cycle of that time.
    std::vector<std::int64_t> boundaries;
    Chronicle recorded;
    std::int64_t begin_at = 0;
    std::int64_t end_at = 0;
    std::uint64_t cycles = 0;
};

/// From a boundary of the log on.
Result<History> read_history(Cursor records);

}  // namespace muster::sim
