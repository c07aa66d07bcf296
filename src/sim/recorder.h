// Puts a simulation that drives the engine by itself on record, as the control loop does: cycle by
// cycle what was heard, what of it made no sense, and what was decided.
#pragma once

#include "ledger/ledger.h"

#include <memory>
#include <optional>
#include <string>

namespace muster::sim {

/// Where to; no store: nowhere.
struct RecordTo {
    std::unique_ptr<Store> store;
    std::string engine_version;
};

class Recorder {
public:
    static Result<Recorder> open(RecordTo to, const Policy& policy);

    /// The engine's answer to a fact, since the last cycle.
    void heard(const Fact& fact, const Result<>& answer);
    /// The cycle that decided on it.
    Result<> decided(const Plan& plan);

private:
    std::optional<Ledger> ledger_;
    Cycle cycle_;
};

}  // namespace muster::sim
