#include "sim/job_report_parts.h"
#include "sim/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace muster::sim {

namespace {

constexpr std::size_t bar_rows_max = 60;
constexpr std::size_t cell_rows_max = 64;
constexpr std::size_t cell_columns = 260;
constexpr std::size_t label_bytes_max = 10;

/// Units in use, by row and column of time.
class Cells {
public:
    Cells(std::size_t rows, const JobTimeline& timeline)
        : begin_s_(timeline.begin_s),
          column_s_(std::max(1.0, static_cast<double>(timeline.end_s - timeline.begin_s)) /
                    static_cast<double>(cell_columns)),
          used_(rows, std::vector<double>(cell_columns, 0)) {}

    void add(std::size_t row, const JobOutcome& outcome, std::int64_t count) {
        const double from = static_cast<double>(outcome.start_s - begin_s_) / column_s_;
        const double to = static_cast<double>(outcome.end_s - begin_s_) / column_s_;
        for (auto column = static_cast<std::size_t>(from);
             column < cell_columns && static_cast<double>(column) < to; ++column) {
            const auto begin = static_cast<double>(column);
            used_[row][column] +=
                (std::min(to, begin + 1) - std::max(from, begin)) * static_cast<double>(count);
        }
    }

    /// Levels by the share of `whole`.
    [[nodiscard]] std::vector<std::uint8_t> levels(std::size_t row, double whole) const {
        std::vector<std::uint8_t> out;
        for (const double used : used_[row]) {
            const double share = whole > 0 ? used / whole : 0;
            const double level = share < 0.005 ? 0 : std::ceil(share * cell_level_max - 1e-9);
            out.push_back(static_cast<std::uint8_t>(std::clamp(level, 0.0, 1.0 * cell_level_max)));
        }
        return out;
    }
    [[nodiscard]] double most() const {
        double most = 0;
        for (const auto& row : used_) { most = std::max(most, *std::ranges::max_element(row)); }
        return most;
    }

private:
    std::int64_t begin_s_;
    double column_s_;
    std::vector<std::vector<double>> used_;
};

std::string bars(const JobTrace& trace, const JobRun& run, const JobTimeline& timeline) {
    const std::int64_t span = std::max<std::int64_t>(1, timeline.end_s - timeline.begin_s);
    const auto place = [&](std::int64_t at_s) {
        return static_cast<double>(at_s - timeline.begin_s) / static_cast<double>(span);
    };
    BarPlot plot{.x = time_ticks(span), .rows = {}};
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const JobOutcome& outcome = run.outcomes[i];
        if (!outcome.has_run()) { continue; }
        plot.rows.push_back({.label = trace.jobs[i].name.substr(0, label_bytes_max),
                             .wait_from = place(trace.jobs[i].submit_s),
                             .run_from = place(outcome.start_s),
                             .run_to = place(outcome.end_s)});
    }
    return svg_of(plot);
}

std::string node_cells(const JobRun& run, const JobTimeline& timeline, std::size_t per_row) {
    const auto nodes = static_cast<std::size_t>(run.machine.nodes);
    const std::size_t rows = (nodes + per_row - 1) / per_row;
    Cells cells(rows, timeline);
    for (const JobOutcome& outcome : run.outcomes) {
        for (const JobPart& part : run.parts_of(outcome)) {
            cells.add(static_cast<std::size_t>(part.node) / per_row, outcome, part.count);
        }
    }
    CellPlot plot{.x = time_ticks(timeline.end_s - timeline.begin_s), .rows = {}};
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t in_row = std::min(per_row, nodes - row * per_row);
        plot.rows.push_back(
            {.label = fmt::format("{}", row * per_row),
             .levels = cells.levels(
                 row, static_cast<double>(in_row) * static_cast<double>(run.machine.per_node))});
    }
    return svg_of(plot);
}

/// Rows of sizes 1, 2, 3 to 4, 5 to 8 …; the largest on top.
std::string size_cells(const JobTrace& trace, const JobRun& run, const JobTimeline& timeline) {
    const auto band_of = [](std::int64_t size) {
        return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size - 1)));
    };
    const std::size_t bands = band_of(std::max<std::int64_t>(1, run.machine.capacity())) + 1;
    Cells cells(bands, timeline);
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const JobOutcome& outcome = run.outcomes[i];
        const std::int64_t size = trace.jobs[i].size;
        if (outcome.has_run()) { cells.add(bands - 1 - band_of(size), outcome, size); }
    }
    CellPlot plot{.x = time_ticks(timeline.end_s - timeline.begin_s), .rows = {}};
    const auto capacity = static_cast<std::uint64_t>(run.machine.capacity());
    for (std::size_t row = 0; row < bands; ++row) {
        const std::uint64_t high = std::uint64_t{1} << (bands - 1 - row);
        plot.rows.push_back(
            {.label = high < 4 ? fmt::format("{}", high)
                               : fmt::format("{}–{}", high / 2 + 1, std::min(high, capacity)),
             .levels = cells.levels(row, cells.most())});
    }
    return svg_of(plot);
}

}  // namespace

Gantt gantt_plot(const JobTrace& trace, const JobRun& run, const JobTimeline& timeline) {
    if (trace.jobs.size() <= bar_rows_max) {
        return {.svg = bars(trace, run, timeline),
                .caption =
                    "Each job: <span class=\"key other\">waits</span>, then <span "
                    "class=\"key main\">runs</span>"};
    }
    const auto nodes = static_cast<std::size_t>(run.machine.nodes);
    const bool has_places = std::ranges::any_of(run.outcomes, &JobOutcome::part_count);
    if (nodes > 1 && has_places) {
        const std::size_t per_row = (nodes + cell_rows_max - 1) / cell_rows_max;
        return {
            .svg = node_cells(run, timeline, per_row),
            .caption = per_row == 1
                           ? std::string("Each node over time; the stronger the colour, the fuller")
                           : fmt::format("{} nodes a row over time; the stronger the colour, the "
                                         "fuller",
                                         per_row)};
    }
    return {
        .svg = size_cells(trace, run, timeline),
        .caption =
            "Jobs by size over time; the stronger the colour, the more of the machine they had"};
}

}  // namespace muster::sim
