// Law 8 on random histories: who decided, who folded what was decided, and who was restored from a
// snapshot know the same after every cycle, and decide the same from there.
#include "codec/plan_text.h"
#include "control/decider.h"
#include "control/difference.h"
#include "control/recover.h"
#include "ledger/record.h"
#include "sim/random_facts.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

/// "" when they are equal.
std::string difference(const Snapshot& a, const Snapshot& b) {
    return a == b ? "" : difference_of(a, b);
}

Engine restore(const Snapshot& snapshot, const Policy& policy) {
    auto engine = Engine::restore(snapshot, policy);
    EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
    return engine ? std::move(*engine) : Engine(policy);
}

/// A live engine, and one that only reads what the live one put on record.
class Pair {
public:
    explicit Pair(std::uint64_t seed)
        : facts_(seed),
          dice_(seed ^ 0xbeef),
          live_(Engine(facts_.policy()), facts_.policy()),
          reader_(facts_.policy()) {}

    void step(bool is_first) {
        std::vector<Fact> heard;
        for (const RandomFact& fact :
             is_first ? facts_.first() : facts_.next(live_.engine().world())) {
            heard.push_back(fact.fact);
        }
        const Decision decision = live_.decide(std::move(heard), dice_.chance(10));
        read(decision);
        check();
    }

private:
    void read(const Decision& decision) {
        const auto record = decode_record(encode_record(decision.cycle));
        ASSERT_TRUE(record.has_value()) << record.error().message;
        const auto done = fold(reader_, std::get<Cycle>(*record));
        ASSERT_TRUE(done.has_value()) << done.error().message;
        if (!decision.snapshot) { return; }
        ASSERT_EQ(difference(*decision.snapshot, reader_.snapshot()), "");
        reader_ = restore(*decision.snapshot, facts_.policy());
    }

    void check() {
        const Snapshot known = live_.engine().snapshot();
        ASSERT_EQ(difference(known, reader_.snapshot()), "") << "folded";
        Engine first = restore(known, facts_.policy());
        ASSERT_EQ(difference(known, first.snapshot()), "") << "restored";
        Engine second = restore(reader_.snapshot(), facts_.policy());
        ASSERT_EQ(write_plan(first.cycle()), write_plan(second.cycle()));
        ASSERT_EQ(difference(first.snapshot(), second.snapshot()), "") << "one cycle on";
    }

    RandomFacts facts_;
    Dice dice_;
    Decider live_;
    Engine reader_;
};

class Recovery : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Recovery, KnowsWhatTheLiveEngineKnows) {
    for (std::uint64_t seed = GetParam(); seed < GetParam() + 20; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Pair pair(seed);
        for (int i = 0; i < 40 && !HasFatalFailure(); ++i) {
            SCOPED_TRACE(testing::Message() << "step " << i);
            pair.step(i == 0);
        }
        if (HasFatalFailure()) { return; }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Recovery, testing::Range<std::uint64_t>(1, 201, 20));

}  // namespace
}  // namespace muster
