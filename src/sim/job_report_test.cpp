#include "sim/job_report.h"

#include "sim/job_report_parts.h"
#include "sim/svg_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace muster::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Jobs of one GPU that run one after another on two nodes of two.
struct Made {
    JobTrace trace{.name = "<made>"};
    JobRun run{.policy = "fifo", .machine = {.nodes = 2, .per_node = 2}};

    explicit Made(std::int64_t jobs) {
        for (std::int64_t i = 0; i < jobs; ++i) {
            trace.jobs.push_back({.name = "j" + std::to_string(i),
                                  .user = i % 2 == 0 ? "a&b" : "c",
                                  .queue = "q" + std::to_string(i),
                                  .submit_s = i * 10,
                                  .run_s = 10 + i % 7,
                                  .size = 1});
            run.outcomes.push_back({.start_s = i * 11,
                                    .end_s = i * 11 + 10 + i % 7,
                                    .first_part = static_cast<std::uint32_t>(i),
                                    .part_count = 1});
            run.parts.push_back({.node = static_cast<std::int32_t>(i % 2), .count = 1});
        }
    }
    [[nodiscard]] std::string report() const { return job_report(trace, run, measure(trace, run)); }
};

TEST(JobReport, IsOnePageWithoutScriptsAndEscaped) {
    const std::string page = Made(10).report();

    EXPECT_THAT(
        page, AllOf(HasSubstr("<!doctype html>"), HasSubstr("&lt;made&gt; under fifo"),
                    HasSubstr("a&amp;b"), HasSubstr("Each job:"), HasSubstr("prefers-color-scheme"),
                    Not(HasSubstr("<made>")), Not(HasSubstr("<script")), Not(HasSubstr("nan")),
                    Not(HasSubstr("href"))));
    const auto count = [&](std::string_view part) {
        std::size_t found = 0;
        for (std::size_t at = page.find(part); at != std::string::npos;
             at = page.find(part, at + 1)) {
            ++found;
        }
        return found;
    };
    EXPECT_EQ(count("<svg"), 4U);
    EXPECT_EQ(count("<svg"), count("</svg>"));
    EXPECT_EQ(count("<table"), count("</table>"));
}

TEST(JobReport, StaysBoundedWhenTheTraceIsLong) {
    const std::string page = Made(100'000).report();

    EXPECT_LT(page.size(), report_bytes_max / 2);
    EXPECT_THAT(page, AllOf(HasSubstr("Each node over time"), HasSubstr("The 20 of 100000")));
}

TEST(JobReport, NothingRanIsAPageToo) {
    Made made(3);
    for (JobOutcome& outcome : made.run.outcomes) { outcome = {.is_skipped = true}; }

    EXPECT_THAT(made.report(), AllOf(HasSubstr("3 skipped"), Not(HasSubstr("nan"))));
}

TEST(SvgPlot, TicksAreRoundAndFew) {
    EXPECT_EQ(count_axis(120).top, 150);
    EXPECT_EQ(count_axis(1).top, 1);
    EXPECT_EQ(count_axis(4'000).ticks.back().label, "4,000");
    for (const std::int64_t span : {0, 1, 50, 4'000, 90'000, 900'000, 90'000'000}) {
        const auto ticks = time_ticks(span);
        EXPECT_LE(ticks.size(), 10U) << span;
        EXPECT_LE(ticks.back().at, 1.0) << span;
    }
    EXPECT_EQ(time_ticks(90'000).back().label, "24 h");
}

TEST(SvgPlot, GroupsDigits) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1'234'567), "1,234,567");
    EXPECT_EQ(grouped(-123'456), "-123,456");
}

}  // namespace
}  // namespace muster::sim
