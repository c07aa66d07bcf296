#include "engine/model_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> percents(const std::vector<ModelDemand>& demands,
                                   const std::vector<std::int64_t>& capacity) {
    std::vector<std::int64_t> loads = model_loads(demands, capacity);
    for (std::int64_t& load : loads) { load = (load * 100 + load_one / 2) / load_one; }
    return loads;
}

TEST(ModelLoad, SpreadsDemandOverTheModelsItNames) {
    EXPECT_THAT(percents({{.models = 0b011, .milli = 300}}, {1000, 500, 100}),
                ElementsAre(20, 20, 0));
}

TEST(ModelLoad, PoursAroundWhatIsAlreadyFull) {
    const std::vector<ModelDemand> demands = {{.models = 0b01, .milli = 900},
                                              {.models = 0b11, .milli = 300}};

    EXPECT_THAT(percents(demands, {1000, 1000}), ElementsAre(90, 30));
}

TEST(ModelLoad, EvensOutAChainOfSets) {
    const std::vector<ModelDemand> demands = {{.models = 0b001, .milli = 900},
                                              {.models = 0b011, .milli = 600},
                                              {.models = 0b110, .milli = 600}};

    EXPECT_THAT(percents(demands, {1000, 1000, 1000}), ElementsAre(90, 60, 60));
}

TEST(ModelLoad, GoesAboveOneAndSkipsWhatNothingServes) {
    const std::vector<ModelDemand> demands = {{.models = 0b1, .milli = 250},
                                              {.models = 0b10, .milli = 70},
                                              {.models = 0, .milli = 70},
                                              {.models = 0b1, .milli = -5}};

    EXPECT_THAT(percents(demands, {100, 0}), ElementsAre(250, 0));
    EXPECT_THAT(percents(demands, {}), ElementsAre());
}

TEST(ModelLoad, HoldsAtTheExtremes) {
    const std::vector<std::int64_t> capacity(64, INT64_MAX);
    const std::vector<ModelDemand> demands(100, {.models = ~std::uint64_t{0}, .milli = INT64_MAX});

    EXPECT_EQ(model_loads(demands, capacity).size(), 64U);
}

}  // namespace
}  // namespace muster
