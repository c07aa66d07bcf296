#include "sim/reference/departures.h"

#include "sim/reference/bestfit.h"
#include "sim/reference/study_testing.h"
#include "sim/reference/value_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::sim {
namespace {

/// Two nodes of two GPUs; pods of one GPU for 100 seconds and of half a GPU for 10.
OpenbStudy small_study() {
    OpenbStudy study = study_of({{.gpu_count = 2}, {.gpu_count = 2}});
    const auto add = [&](std::int32_t milli, std::int64_t seconds) {
        dialect::OpenbPod pod;
        pod.times = dialect::OpenbTimes{.created = 0, .deleted = seconds, .scheduled = 0};
        study.pods.push_back(pod);
        study.requests.push_back({.milli_cpu = 1000, .gpu_count = 1, .gpu_milli = milli});
    };
    add(1000, 100);
    add(500, 10);
    std::string ranks;
    for (int i = 0; i < 10; ++i) { ranks += "seed" + std::to_string(openb_seed_first + i) + ","; }
    ranks.pop_back();
    study.ranks_text = ranks + "\n0,0,0,0,0,0,0,0,0,0\n1,1,1,1,1,1,1,1,1,1\n";
    return study;
}

TEST(Departures, OffersTheLoadThatWasAskedFor) {
    const OpenbStudy study = small_study();

    const auto trace = make_departures(study, {.load_percent = 50, .seed = 3, .arrivals = 10'000});

    ASSERT_TRUE(trace) << trace.error().message;
    std::int64_t asked = 0;
    for (const Stay& stay : trace->stays) {
        if (stay.begin > 0) { asked += stay.seconds * study.requests[stay.pod].gpu_demand(); }
    }
    EXPECT_NEAR(static_cast<double>(asked) / static_cast<double>(trace->span * 4000), 0.5, 0.02);
    EXPECT_TRUE(std::is_sorted(trace->stays.begin(), trace->stays.end(),
                               [](const Stay& a, const Stay& b) { return a.begin < b.begin; }));
    EXPECT_EQ(trace->stays.front().begin, 0);
    EXPECT_LE(trace->stays.back().begin, trace->span);
}

TEST(Departures, TheSameSeedIsTheSameTrace) {
    const OpenbStudy study = small_study();
    const auto one = make_departures(study, {.seed = 1, .arrivals = 100});
    const auto again = make_departures(study, {.seed = 1, .arrivals = 100});
    const auto other = make_departures(study, {.seed = 2, .arrivals = 100});

    const auto same = [](const DepartureTrace& a, const DepartureTrace& b) {
        return std::equal(a.stays.begin(), a.stays.end(), b.stays.begin(), b.stays.end(),
                          [](const Stay& x, const Stay& y) {
                              return x.begin == y.begin && x.pod == y.pod && x.seconds == y.seconds;
                          });
    };
    EXPECT_TRUE(same(*one, *again));
    EXPECT_FALSE(same(*one, *other));
}

TEST(Departures, NothingIsRefusedWithRoomToSpareAndMuchWhenThereIsNone) {
    const OpenbStudy study = small_study();
    const auto refused = [&](int load, const ReplayPolicy& policy) {
        const auto trace =
            make_departures(study, {.load_percent = load, .seed = 5, .arrivals = 2000});
        return replay_departures(study, *trace, policy, 5).value().refused_percent();
    };

    EXPECT_EQ(refused(1, {.score = best_fit}), 0);
    EXPECT_GT(refused(400, {.score = best_fit}), 70);
    EXPECT_GT(refused(400, learned_value_policy(study)), 70);
}

TEST(Departures, NeedRunTimes) {
    const OpenbStudy study = study_of({{}});

    EXPECT_FALSE(make_departures(study, {}));
}

}  // namespace
}  // namespace muster::sim
