// Random runs: facts from a seed, a cycle after each step, every law after every cycle. Three
// engines get the same facts: one whose World is examined, one that is asked questions all the
// time, one that is left alone. All of them must make the same plans, byte for byte.
#pragma once

#include "base/result.h"
#include "engine/engine.h"
#include "engine/world.h"
#include "model/fact.h"
#include "model/policy.h"
#include "sim/recorder.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace muster {

inline constexpr std::int64_t random_steps_max = 1'000'000;

/// The engines and the laws. After the first broken law it is of no more use.
class LawfulWorld {
public:
    explicit LawfulWorld(const Policy& policy);

    /// A refusal must change nothing.
    Result<> apply(const Fact& fact, bool is_nonsense = false);
    Plan cycle();

    [[nodiscard]] const World& world() const { return world_; }
    [[nodiscard]] const std::vector<std::string>& broken() const { return broken_; }

private:
    void ask();
    void say(std::string text) { broken_.push_back(std::move(text)); }

    World world_;
    Engine asked_;
    Engine alone_;
    WorkloadSpec probe_;  // what the asked one is asked about
    std::vector<std::string> broken_;
};

struct RandomOptions {
    std::uint64_t seed = 1;
    std::int64_t steps = 100;
};

struct RandomOutcome {
    std::uint64_t seed = 0;
    std::int64_t steps = 0;  // that were run
    std::int64_t facts = 0;
    std::int64_t refused = 0;  // facts
    std::int64_t placed = 0;   // tasks
    std::int64_t released = 0;
    std::int64_t refusals = 0;
    std::uint64_t digest = 0;         // over the bytes of all plans
    std::vector<std::string> broken;  // laws, of the last step that was run; empty = all is well
};

Result<RandomOutcome> run_random(const RandomOptions& options, sim::RecordTo record = {});

/// What happened in one step of a run.
struct RandomStep {
    std::vector<Fact> facts;
};
struct RandomHistory {
    Policy policy;
    std::vector<RandomStep> steps;
};

/// The facts of a run up to its end or its first broken law. `before` is told the number of each
/// step before it is run.
RandomHistory record_random(const RandomOptions& options);
/// The laws that the history breaks, after its last step.
std::vector<std::string> replay(const RandomHistory& history);
/// Leaves out steps and facts as long as `fails` still says yes.
RandomHistory shrink(RandomHistory history, const std::function<bool(const RandomHistory&)>& fails);
/// As a scenario that a person can read and run.
std::string scenario_of(const RandomHistory& history);

}  // namespace muster
