#include "control/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster {

Result<> hear(Engine& engine, const Cycle& cycle) {
    for (std::uint32_t i = 0; i < cycle.facts.size(); ++i) {
        const bool was_refused = std::any_of(
            cycle.conflicts.begin(), cycle.conflicts.end(), [&](const Conflict& conflict) {
                return conflict.fact == i && conflict.rule == ConflictRule::fact_refused;
            });
        const auto applied = engine.apply(cycle.facts[i]);
        if (applied.has_value() == was_refused) {
            return fail(Code::corrupt,
                        was_refused ? fmt::format("fact {} was refused, and is taken now", i)
                                    : fmt::format("fact {} was taken, and is refused now: {}", i,
                                                  applied.error().message));
        }
    }
    return {};
}

Result<> fold(Engine& engine, const Cycle& cycle) {
    auto done = hear(engine, cycle);
    if (done) { done = engine.fold(cycle.plan); }
    if (!done) {
        return tl::unexpected(
            std::move(done).error().wrap(fmt::format("cycle {}", cycle.plan.cycle)));
    }
    return done;
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
