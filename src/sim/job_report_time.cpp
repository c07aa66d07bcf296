// What the report shows over time, in bins.
#include "sim/job_report_parts.h"
#include "sim/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace muster::sim {

namespace {

constexpr std::size_t time_bins = 420;
constexpr std::size_t wait_points = 300;

struct TimeBin {
    double busy = 0;  // means over the bin
    double fragmented = 0;
    double waiting = 0;
    double waiting_max = 0;
};

std::vector<TimeBin> bins_of(const JobTimeline& timeline) {
    std::vector<TimeBin> bins(time_bins);
    const auto span = static_cast<double>(timeline.end_s - timeline.begin_s);
    if (span <= 0) { return bins; }
    const double bin_s = span / static_cast<double>(time_bins);
    for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
        const TimelineStep& step = timeline.steps[i];
        const std::int64_t next =
            i + 1 < timeline.steps.size() ? timeline.steps[i + 1].at_s : timeline.end_s;
        const auto from = static_cast<double>(step.at_s - timeline.begin_s) / bin_s;
        const auto to = static_cast<double>(next - timeline.begin_s) / bin_s;
        for (auto bin = static_cast<std::size_t>(from);
             bin < time_bins && static_cast<double>(bin) < to; ++bin) {
            const double begin = static_cast<double>(bin);
            const double part = std::min(to, begin + 1) - std::max(from, begin);
            bins[bin].busy += part * static_cast<double>(step.busy);
            bins[bin].fragmented += part * static_cast<double>(step.fragmented);
            bins[bin].waiting += part * static_cast<double>(step.waiting);
            bins[bin].waiting_max =
                std::max(bins[bin].waiting_max, static_cast<double>(step.waiting));
        }
    }
    return bins;
}

/// A step of one bin's width for each bin.
PlotSeries series_of(const std::vector<TimeBin>& bins, double TimeBin::* field, double top,
                     PlotStyle style, std::string label) {
    PlotSeries series{.style = style, .label = std::move(label), .points = {}};
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const double y = top > 0 ? bins[i].*field / top : 0;
        const auto count = static_cast<double>(bins.size());
        series.points.push_back({static_cast<double>(i) / count, y});
        series.points.push_back({static_cast<double>(i + 1) / count, y});
    }
    return series;
}

}  // namespace

std::string short_time(double seconds) {
    if (seconds < 100) { return fmt::format("{:.0f} s", seconds); }
    if (seconds < 6'000) { return fmt::format("{:.1f} min", seconds / 60); }
    if (seconds < 172'800) { return fmt::format("{:.1f} h", seconds / 3'600); }
    return fmt::format("{:.1f} d", seconds / 86'400);
}

std::string utilisation_plot(const JobTimeline& timeline, const Machine& machine) {
    const std::vector<TimeBin> bins = bins_of(timeline);
    const auto capacity = static_cast<double>(machine.capacity());
    Plot plot{.x = time_ticks(timeline.end_s - timeline.begin_s),
              .y = {{0, "0 %"}, {0.25, "25 %"}, {0.5, "50 %"}, {0.75, "75 %"}, {1, "100 %"}},
              .series = {series_of(bins, &TimeBin::busy, capacity, PlotStyle::area, "in use"),
                         series_of(bins, &TimeBin::busy, capacity, PlotStyle::line, "in use")}};
    if (machine.nodes > 1) {
        plot.series.push_back(
            series_of(bins, &TimeBin::fragmented, capacity, PlotStyle::thin, "free in pieces"));
    }
    return svg_of(plot);
}

std::string queue_plot(const JobTimeline& timeline) {
    const std::vector<TimeBin> bins = bins_of(timeline);
    double most = 1;
    for (const TimeBin& bin : bins) { most = std::max(most, bin.waiting_max); }
    const CountAxis axis = count_axis(most);
    Plot plot{.x = time_ticks(timeline.end_s - timeline.begin_s), .y = axis.ticks, .series = {}};
    plot.series.push_back(
        series_of(bins, &TimeBin::waiting_max, axis.top, PlotStyle::area, "most"));
    plot.series.push_back(series_of(bins, &TimeBin::waiting, axis.top, PlotStyle::line, "mean"));
    return svg_of(plot);
}

/// Logarithmic in time; what waited less than a second stands at the left edge.
std::string wait_plot(const JobTrace& trace, const JobRun& run) {
    std::vector<std::int64_t> waits;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        if (run.outcomes[i].has_run()) {
            waits.push_back(run.outcomes[i].start_s - trace.jobs[i].submit_s);
        }
    }
    std::ranges::sort(waits);
    const double most =
        waits.empty() ? 10 : std::max<double>(10, static_cast<double>(waits.back()));
    const auto place = [&](double seconds) {
        return std::log10(std::max(1.0, seconds)) / std::log10(most);
    };
    Plot plot{.x = {},
              .y = {{0, "0 %"}, {0.25, "25 %"}, {0.5, "50 %"}, {0.75, "75 %"}, {1, "100 %"}},
              .series = {{.style = PlotStyle::line, .label = "waited no longer", .points = {}}}};
    for (const auto& [seconds, label] :
         {std::pair{1, "≤ 1 s"}, std::pair{10, "10 s"}, std::pair{60, "1 min"},
          std::pair{600, "10 min"}, std::pair{3'600, "1 h"}, std::pair{36'000, "10 h"},
          std::pair{259'200, "3 d"}, std::pair{2'592'000, "30 d"}, std::pair{31'536'000, "1 y"}}) {
        if (seconds <= most) { plot.x.push_back({.at = place(seconds), .label = label}); }
    }
    for (std::size_t i = 0; i <= wait_points && !waits.empty(); ++i) {
        const std::size_t rank = std::max<std::size_t>(1, waits.size() * i / wait_points);
        plot.series[0].points.push_back(
            {.x = place(static_cast<double>(waits[rank - 1])),
             .y = static_cast<double>(rank) / static_cast<double>(waits.size())});
    }
    if (!waits.empty()) { plot.series[0].points.push_back({.x = 1, .y = 1}); }
    return svg_of(plot);
}

}  // namespace muster::sim
