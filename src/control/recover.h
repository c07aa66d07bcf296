// From a ledger to the engine it amounts to. Recorded plans are folded, never decided anew.
#pragma once

#include "engine/engine.h"
#include "ledger/ledger.h"

#include <cstdint>
#include <optional>

namespace muster {

struct Recovered {
    Engine engine;
    std::uint64_t cycles = 0;      // that were folded, behind the last snapshot
    std::optional<Policy> policy;  // by which the last cycle was decided
};

/// The engine that a new leader begins with, restored at its own `Opened` as `policy` says.
Result<Recovered> recover(Ledger& ledger, const Policy& policy);

/// The facts of a recorded cycle. Fails when one that was refused is taken now, or the other way
/// round.
Result<> hear(Engine& engine, const Cycle& cycle);
/// One recorded cycle: its facts and its plan.
Result<> fold(Engine& engine, const Cycle& cycle);

/// The engine as anyone restored from its snapshot has it.
Result<Engine> restored(const Engine& engine, const Policy& policy);

}  // namespace muster
