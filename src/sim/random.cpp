#include "sim/random.h"

#include "codec/plan_text.h"
#include "codec/scenario.h"
#include "engine/decide.h"
#include "engine/world_digest.h"
#include "sim/laws.h"
#include "sim/random_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster {

namespace {

constexpr std::uint64_t hash_begin = 14'695'981'039'346'656'037ULL;

/// FNV-1a.
std::uint64_t hash(std::uint64_t sum, std::string_view text) {
    for (const char c : text) {
        sum ^= static_cast<unsigned char>(c);
        sum *= 1'099'511'628'211ULL;
    }
    return sum;
}

std::string first_difference(const std::string& a, const std::string& b) {
    std::size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at]) { ++at; }
    const std::size_t from = at < 60 ? 0 : at - 60;
    return fmt::format("…{}… against …{}…", a.substr(from, 200), b.substr(from, 200));
}

}  // namespace

LawfulWorld::LawfulWorld(const Policy& policy) : world_(policy), asked_(policy), alone_(policy) {
    probe_.name = "probe";
    GroupSpec group;
    group.task.request.milli_cpu = 1'000;
    probe_.groups.push_back(group);
}

Result<> LawfulWorld::apply(const Fact& fact, bool is_nonsense) {
    const std::string before = world_text(world_);
    auto result = world_.apply(fact);
    const auto second = asked_.apply(fact);
    const auto third = alone_.apply(fact);
    const auto text_of = [](const Result<>& one) {
        return one ? std::string("accepted") : one.error().message;
    };
    for (const auto* other : {&second, &third}) {
        if (text_of(*other) != text_of(result)) {
            say(fmt::format("law 8: a fact is \"{}\" here and \"{}\" there", text_of(result),
                            text_of(*other)));
        }
    }
    if (result && is_nonsense) { say("law 9: a fact that makes no sense was accepted"); }
    if (!result) {
        if (result.error().message.empty()) { say("law 9: a fact was refused without a word"); }
        if (const std::string after = world_text(world_); before != after) {
            say(fmt::format("law 9: refused with \"{}\", it changed the World: {}",
                            result.error().message, first_difference(before, after)));
        }
    }
    if (const auto* set = std::get_if<WorkloadSet>(&fact)) {
        probe_ = set->workload;
        probe_.name = "probe";
        if (!probe_.linked.empty()) { probe_.linked.emplace_back("probe"); }
    }
    return result;
}

/// Questions change nothing.
void LawfulWorld::ask() {
    const std::string before = world_text(asked_.world());
    const auto answer = asked_.what_if(probe_);
    std::vector<std::string> names;
    for (const Workload& workload : asked_.world().workloads) {
        if (workload.is_waiting()) { names.push_back(workload.name); }
    }
    for (const std::string& name : names) {
        const auto reason = asked_.why(name);
        if (!reason) { say(fmt::format("law 7: nobody can say why {} waits", name)); }
    }
    if (const std::string after = world_text(asked_.world()); before != after) {
        say(fmt::format("law 8: questions changed the World: {}", first_difference(before, after)));
    }
}

Plan LawfulWorld::cycle() {
    const auto take = [&](std::vector<std::string> more) {
        broken_.insert(broken_.end(), std::make_move_iterator(more.begin()),
                       std::make_move_iterator(more.end()));
    };
    take(broken_books(world_));
    ask();
    const CycleWatch watch(world_);
    Plan plan = run_cycle(world_);
    const std::string text = write_plan(plan);
    for (Engine* other : {&asked_, &alone_}) {
        if (const std::string theirs = write_plan(other->cycle()); theirs != text) {
            say(fmt::format("law 8: {} makes another plan: {}",
                            other == &asked_ ? "an engine that was asked" : "a second engine",
                            first_difference(text, theirs)));
        }
    }
    if (const auto read = read_plan(text); !read || !(*read == plan)) {
        say(fmt::format("plan: does not read back as it was written: {}",
                        read ? first_difference(text, write_plan(*read)) : read.error().message));
    }
    take(broken_laws(world_));
    take(watch.broken_laws(world_, plan));
    const std::string before = world_text(world_);
    take(missed_wakes(world_));
    if (const std::string after = world_text(world_); before != after) {
        say(fmt::format("law 8: trials changed the World: {}", first_difference(before, after)));
    }
    ask();
    return plan;
}

namespace {

struct Run {
    RandomOutcome outcome;
    RandomHistory history;
};

Result<Run> run(const RandomOptions& options, sim::RecordTo record) {
    RandomFacts facts(options.seed);
    LawfulWorld lawful(facts.policy());
    MUSTER_TRY(recorder, sim::Recorder::open(std::move(record), facts.policy()));
    Run out;
    RandomOutcome& outcome = out.outcome;
    outcome.seed = options.seed;
    outcome.digest = hash_begin;
    out.history.policy = facts.policy();
    while (outcome.steps < options.steps && outcome.broken.empty()) {
        const std::vector<RandomFact> step =
            outcome.steps == 0 ? facts.first() : facts.next(lawful.world());
        ++outcome.steps;
        out.history.steps.emplace_back();
        for (const RandomFact& fact : step) {
            out.history.steps.back().facts.push_back(fact.fact);
            ++outcome.facts;
            const auto answer = lawful.apply(fact.fact, fact.is_nonsense);
            recorder.heard(fact.fact, answer);
            if (!answer) { ++outcome.refused; }
        }
        const Plan plan = lawful.cycle();
        MUSTER_CHECK(recorder.decided(plan));
        outcome.digest = hash(outcome.digest, write_plan(plan));
        for (const Placement& placement : plan.placements) {
            outcome.placed += static_cast<std::int64_t>(placement.tasks.size());
        }
        outcome.released += static_cast<std::int64_t>(plan.releases.size());
        outcome.refusals += static_cast<std::int64_t>(plan.refusals.size());
        outcome.broken = lawful.broken();
    }
    return out;
}

}  // namespace

Result<RandomOutcome> run_random(const RandomOptions& options, sim::RecordTo record) {
    if (options.steps < 1 || options.steps > random_steps_max) {
        return fail(Code::invalid,
                    fmt::format("steps is {}, expected 1 to {}", options.steps, random_steps_max));
    }
    MUSTER_TRY(done, run(options, std::move(record)));
    return std::move(done.outcome);
}

RandomHistory record_random(const RandomOptions& options) {
    return std::move(run(options, {})->history);
}

std::vector<std::string> replay(const RandomHistory& history) {
    LawfulWorld lawful(history.policy);
    for (const RandomStep& step : history.steps) {
        for (const Fact& fact : step.facts) { (void)lawful.apply(fact); }
        lawful.cycle();
        if (!lawful.broken().empty()) { break; }
    }
    return lawful.broken();
}

RandomHistory shrink(RandomHistory history,
                     const std::function<bool(const RandomHistory&)>& fails) {
    // `list_of` finds the list in any history: each success replaces the whole of it.
    const auto drop = [&](auto list_of) {
        std::size_t size = std::max<std::size_t>(1, list_of(history).size() / 2);
        for (; size > 0; size /= 2) {
            for (std::size_t at = 0; at < list_of(history).size();) {
                RandomHistory shorter = history;
                auto& list = list_of(shorter);
                const auto begin = list.begin() + static_cast<std::ptrdiff_t>(at);
                list.erase(begin,
                           begin + static_cast<std::ptrdiff_t>(std::min(size, list.size() - at)));
                if (fails(shorter)) {
                    history = std::move(shorter);
                } else {
                    at += size;
                }
            }
        }
    };
    drop([](RandomHistory& all) -> auto& { return all.steps; });
    for (std::size_t step = 0; step < history.steps.size(); ++step) {
        drop([step](RandomHistory& all) -> auto& { return all.steps[step].facts; });
    }
    return history;
}

std::string scenario_of(const RandomHistory& history) {
    Scenario scenario;
    scenario.policy = history.policy;
    for (const RandomStep& step : history.steps) {
        for (const Fact& fact : step.facts) { scenario.commands.push_back({0, fact}); }
        scenario.commands.push_back({0, RunCycles{}});
    }
    return write_scenario(scenario);
}

}  // namespace muster
