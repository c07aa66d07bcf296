#include "sim/placement_measure.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

TEST(PlacementMeasure, MeansOverTheArrivalsThatRoundToAPercent) {
    PlacementMeasure measure(100'000);

    measure.add({.arrived_milli = 499, .used_milli = 499, .fragmented_milli = 7});
    measure.add({.arrived_milli = 1, .used_milli = 500, .fragmented_milli = 8});  // 0.5 % rounds up
    measure.add({.arrived_milli = 900, .used_milli = 600, .fragmented_milli = 10});

    EXPECT_EQ(measure.allocated_ppm(0), 4990);
    EXPECT_EQ(measure.allocated_ppm(1), 5500);
    EXPECT_EQ(measure.fragmented_ppm(1), 90);
    EXPECT_EQ(measure.allocated_ppm(2), std::nullopt);
}

TEST(PlacementMeasure, IgnoresWhatComesBeyondItsRange) {
    PlacementMeasure measure(1000);

    measure.add({.arrived_milli = 1'000'000, .used_milli = 1000});

    EXPECT_EQ(measure.allocated_ppm(PlacementMeasure::percent_max), std::nullopt);
    EXPECT_EQ(measure.allocated_ppm(PlacementMeasure::percent_max + 1), std::nullopt);
}

}  // namespace
}  // namespace muster::sim
