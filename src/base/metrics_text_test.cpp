#include "base/metrics_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(MetricsText, WritesFamiliesAndSamples) {
    MetricsText out;
    out.family("muster_gpus", MetricType::gauge, "GPUs\nby \\state");
    out.sample(8, {{"state", "held"}, {"node", "a\"b\\c\nd"}});
    out.sample(0.25);

    EXPECT_EQ(out.text(),
              "# HELP muster_gpus GPUs\\nby \\\\state\n"
              "# TYPE muster_gpus gauge\n"
              "muster_gpus{state=\"held\",node=\"a\\\"b\\\\c\\nd\"} 8\n"
              "muster_gpus 0.25\n");
}

TEST(MetricsText, AddsUpTheBucketsOfAHistogram) {
    MetricsText out;
    out.family("s_seconds", MetricType::histogram, "Time");
    out.histogram({0.5, 1}, {2, 0, 3}, 7.5);

    EXPECT_EQ(out.text(),
              "# HELP s_seconds Time\n"
              "# TYPE s_seconds histogram\n"
              "s_seconds_bucket{le=\"0.5\"} 2\n"
              "s_seconds_bucket{le=\"1\"} 2\n"
              "s_seconds_bucket{le=\"+Inf\"} 5\n"
              "s_seconds_sum 7.5\n"
              "s_seconds_count 5\n");
}

}  // namespace
}  // namespace muster
