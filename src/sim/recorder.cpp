#include "sim/recorder.h"

#include <utility>

namespace muster::sim {

Result<Recorder> Recorder::open(RecordTo to, const Policy& policy) {
    Recorder recorder;
    if (!to.store) { return recorder; }
    MUSTER_TRY(ledger, Ledger::open(std::move(to.store), {.leader = "simulation",
                                                          .engine_version = to.engine_version,
                                                          .policy = policy}));
    recorder.ledger_.emplace(std::move(ledger));
    return recorder;
}

void Recorder::heard(const Fact& fact, const Result<>& answer) {
    if (!ledger_) { return; }
    if (!answer) {
        cycle_.conflicts.push_back({.fact = static_cast<std::uint32_t>(cycle_.facts.size()),
                                    .rule = ConflictRule::fact_refused,
                                    .text = answer.error().message});
    }
    cycle_.facts.push_back(fact);
}

Result<> Recorder::decided(const Plan& plan) {
    if (!ledger_) { return {}; }
    cycle_.plan = plan;
    MUSTER_CHECK(ledger_->append(cycle_));
    cycle_ = {};
    return {};
}

}  // namespace muster::sim
