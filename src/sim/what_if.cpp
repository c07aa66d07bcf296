#include "sim/what_if.h"

#include "control/loop.h"
#include "control/replay.h"
#include "ledger/store_memory.h"
#include "sim/cpu_time.h"
#include "sim/virtual_world.h"

#include <fmt/format.h>

#include <utility>

namespace muster::sim {

namespace {

struct Lived {
    Chronicle chronicle;
    std::uint64_t refused_facts = 0;
    std::int64_t cpu_ns = 0;
};

/// What was there when the history begins is in the ledger already.
Result<> put_down(const Snapshot& snapshot, MemoryLog& log, const Policy& policy) {
    MUSTER_TRY(ledger, Ledger::open(open_memory_store(log),
                                    {.leader = "history", .engine_version = {}, .policy = policy}));
    return ledger.append(snapshot);
}

Result<Lived> live(const History& history, const Policy& policy, const WhatIfOptions& options) {
    const std::int64_t begun = cpu_nanoseconds();
    MemoryLog log;
    if (history.begin) { MUSTER_CHECK(put_down(*history.begin, log, policy)); }
    VirtualWorld world(history, options.progress);
    MUSTER_TRY(loop, Loop::start({world, world, world, world}, open_memory_store(log),
                                 {.leader = "what-if",
                                  .engine_version = options.engine_version,
                                  .policy = policy,
                                  .patience_ms = 0}));
    Lived lived;
    auto boundary = history.boundaries.begin();
    while (true) {
        for (; boundary != history.boundaries.end() && *boundary <= world.next_at(); ++boundary) {
            loop.ask_snapshot();
        }
        MUSTER_TRY(decision, loop.turn());
        if (!decision) { break; }
        for (const Conflict& conflict : decision->cycle.conflicts) {
            lived.refused_facts += conflict.rule == ConflictRule::fact_refused ? 1 : 0;
        }
    }
    lived.chronicle = world.chronicle();
    lived.cpu_ns = cpu_nanoseconds() - begun;
    return lived;
}

Course course_of(const JobTrace& trace, const Chronicle& chronicle, std::string name,
                 const std::vector<StartTarget>& targets) {
    Course out{.run = chronicle.run(std::move(name))};
    out.measures = measure(trace, out.run, targets);
    // Nodes may differ and come and go; the chronicle knows each.
    const Occupancy& occupancy = chronicle.occupancy();
    out.measures.utilization = occupancy.used_share();
    out.measures.idle_share = 1 - occupancy.used_share();
    out.measures.fragmented_share = occupancy.fragmented_share();
    out.queues = measure_queues(trace, out.run, targets);
    return out;
}

Course course_of(const JobTrace& trace, const Lived& lived, std::string name,
                 const std::vector<StartTarget>& targets) {
    Course out = course_of(trace, lived.chronicle, std::move(name), targets);
    out.run.cpu_ns = lived.cpu_ns;
    out.refused_facts = lived.refused_facts;
    return out;
}

}  // namespace

Result<WhatIf> what_if(Store& store, const WhatIfOptions& options) {
    MUSTER_TRY(beginning, beginning_of(store, options.from));
    MUSTER_TRY(history, read_history(std::move(beginning.records)));
    if (history.end_at == history.begin_at) {
        return fail(Code::invalid,
                    fmt::format("{}: all of it happens at {} ms; expected a history in time",
                                store.name(), history.begin_at));
    }
    MUSTER_TRY(again, live(history, history.policy, options));
    MUSTER_TRY(other, live(history, options.policy, options));
    WhatIf out{.first = beginning.entry, .cycles = history.cycles};
    for (std::size_t i = 0; i < history.names.size(); ++i) {
        const Life& life = history.recorded.lives()[i];
        if (life.start < 0 || life.was_running) { continue; }
        ++out.started;
        out.same_starts += again.chronicle.lives()[i].start == life.start ? 1 : 0;
    }
    out.trace = history.recorded.trace(store.name());
    out.recorded = course_of(out.trace, history.recorded, "the log", options.targets);
    out.again = course_of(out.trace, again, "its policy again", options.targets);
    out.other = course_of(out.trace, other, options.policy_name, options.targets);
    return out;
}

}  // namespace muster::sim
