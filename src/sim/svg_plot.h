// Plots as SVG text, without a script: lines and areas over two axes, and rows of cells. Colours
// are classes of the page's style sheet, so that they follow its light or dark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::sim {

inline constexpr int plot_width = 860;  // with its labels, in the units of the drawing

/// Where and what; positions in drawings go from 0 (left, bottom) to 1.
struct PlotTick {
    double at = 0;
    std::string label;
};

struct PlotPoint {
    double x = 0;
    double y = 0;
};

enum class PlotStyle : std::uint8_t { area, line, thin };

struct PlotSeries {
    PlotStyle style = PlotStyle::line;
    std::string label;
    std::vector<PlotPoint> points;  // by x
};

struct Plot {
    std::vector<PlotTick> x;
    std::vector<PlotTick> y;
    std::vector<PlotSeries> series;
};
std::string svg_of(const Plot& plot);

/// Rows of equal cells from left to right, each of a level: 0 is empty, cell_level_max the darkest.
inline constexpr std::uint8_t cell_level_max = 5;
struct CellRow {
    std::string label;
    std::vector<std::uint8_t> levels;
};
struct CellPlot {
    std::vector<PlotTick> x;
    std::vector<CellRow> rows;  // from the top, all of one length
};
std::string svg_of(const CellPlot& plot);

/// Rows with a bar each: a thin part (waits) before a thick one (runs).
struct BarRow {
    std::string label;
    double wait_from = 0;
    double run_from = 0;
    double run_to = 0;
};
struct BarPlot {
    std::vector<PlotTick> x;
    std::vector<BarRow> rows;
};
std::string svg_of(const BarPlot& plot);

/// Time since the beginning, in the unit that suits the span.
std::vector<PlotTick> time_ticks(std::int64_t span_s);
/// Whole numbers from 0 on; the last, at 1, is the least round one that is not below `high`.
struct CountAxis {
    std::vector<PlotTick> ticks;
    double top = 1;
};
CountAxis count_axis(double high);

/// 1234567 → 1,234,567
std::string grouped(std::int64_t number);
/// Safe between tags and in attributes.
std::string html_text(std::string_view text);

}  // namespace muster::sim
