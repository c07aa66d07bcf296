#include "control/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster {

Result<> fold(Engine& engine, const Cycle& cycle) {
    for (std::uint32_t i = 0; i < cycle.facts.size(); ++i) {
        const bool was_refused = std::any_of(
            cycle.conflicts.begin(), cycle.conflicts.end(), [&](const Conflict& conflict) {
                return conflict.fact == i && conflict.rule == ConflictRule::fact_refused;
            });
        const auto applied = engine.apply(cycle.facts[i]);
        if (applied.has_value() == was_refused) {
            return fail(Code::corrupt,
                        fmt::format("cycle {}: fact {} was {} and is {} now", cycle.plan.cycle, i,
                                    was_refused ? "refused" : "taken",
                                    was_refused ? "taken" : applied.error().message));
        }
    }
    return engine.fold(cycle.plan);
}

Result<Engine> restored(const Engine& engine, const Policy& policy) {
    return Engine::restore(engine.snapshot(), policy);
}

Result<Engine> recover(Ledger& ledger, const Policy& policy) {
    MUSTER_TRY(recovery, ledger.recover());
    Engine engine(policy);
    if (recovery.snapshot) {
        MUSTER_TRY(begun, Engine::restore(*recovery.snapshot, policy));
        engine = std::move(begun);
    }
    while (true) {
        MUSTER_TRY(item, recovery.records.next());
        if (!item) { break; }
        if (const auto* cycle = std::get_if<Cycle>(&item->record)) {
            MUSTER_CHECK(fold(engine, *cycle));
        }
    }
    return restored(engine, policy);
}

}  // namespace muster
