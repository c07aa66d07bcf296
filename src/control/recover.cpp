#include "control/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
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

Result<Recovered> recover(Ledger& ledger, const Policy& policy) {
    MUSTER_TRY(recovery, ledger.recover());
    Recovered out;
    if (recovery.snapshot) {
        MUSTER_TRY(begun, Engine::restore(*recovery.snapshot, recovery.snapshot->policy));
        out.engine = std::move(begun);
        out.policy = recovery.snapshot->policy;
    }
    // Each cycle is folded under the policy that it was made by, and each `Opened` is a boundary:
    // what its leader began with had been restored. Of several in a row the last one counts.
    std::optional<Policy> opened;
    while (true) {
        MUSTER_TRY(item, recovery.records.next());
        if (!item) { break; }
        if (auto* leader = std::get_if<Opened>(&item->record)) {
            opened = std::move(leader->policy);
        } else if (const auto* cycle = std::get_if<Cycle>(&item->record)) {
            if (opened) {
                MUSTER_TRY(begun, restored(out.engine, *opened));
                out.engine = std::move(begun);
                out.policy = *opened;
                opened.reset();
            }
            MUSTER_CHECK(fold(out.engine, *cycle));
            ++out.cycles;
        }
    }
    MUSTER_TRY(begun, restored(out.engine, policy));
    out.engine = std::move(begun);
    return out;
}

}  // namespace muster
