#include "sim/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace muster::sim {

namespace {

constexpr double left = 70;
constexpr double right = plot_width - 14;
constexpr double top = 10;
constexpr double plot_height = 190;
constexpr double axis_height = 26;

double place_x(double at) { return left + at * (right - left); }

std::string open_svg(double height) {
    return fmt::format(
        "<figure><svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" "
        "xmlns=\"http://www.w3.org/2000/svg\">\n",
        plot_width, height);
}

/// Grid lines from `from` to `to`, and the labels below.
void add_x_axis(std::string& out, const std::vector<PlotTick>& ticks, double from, double to) {
    for (const PlotTick& tick : ticks) {
        const double x = place_x(tick.at);
        out += fmt::format(
            "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text x=\"{0:.1f}\" "
            "y=\"{3:.1f}\" "
            "text-anchor=\"middle\">{4}</text>\n",
            x, from, to, to + 16, html_text(tick.label));
    }
}

void add_row_label(std::string& out, double y, std::string_view label) {
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8,
                       y + 4, html_text(label));
}

std::string path_of(const PlotSeries& series) {
    const auto y = [](double at) { return top + (1 - at) * plot_height; };
    std::string path;
    for (const PlotPoint& point : series.points) {
        fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L',
                       place_x(point.x), y(point.y));
    }
    if (series.style == PlotStyle::area && !series.points.empty()) {
        fmt::format_to(std::back_inserter(path), "V{:.1f}H{:.1f}Z", y(0),
                       place_x(series.points.front().x));
    }
    return path;
}

std::string_view class_of(PlotStyle style) {
    switch (style) {
        case PlotStyle::area: return "area";
        case PlotStyle::line: return "line";
        case PlotStyle::thin: return "thin";
    }
    return "";
}

/// Labels of the rows that have room for one.
std::size_t label_stride(std::size_t rows, double row_height) {
    constexpr double label_height = 13;
    const auto stride = static_cast<std::size_t>(std::ceil(label_height / row_height));
    return rows <= 1 ? 1 : std::max<std::size_t>(1, stride);
}

}  // namespace

std::string html_text(std::string_view text) {
    std::string out;
    for (const char byte : text) {
        switch (byte) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += byte;
        }
    }
    return out;
}

std::string svg_of(const Plot& plot) {
    const double bottom = top + plot_height;
    std::string out = open_svg(bottom + axis_height);
    add_x_axis(out, plot.x, top, bottom);
    for (const PlotTick& tick : plot.y) {
        const double y = top + (1 - tick.at) * plot_height;
        out += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", left, y, right);
        add_row_label(out, y, tick.label);
    }
    for (const PlotSeries& series : plot.series) {
        out += fmt::format("<path class=\"{}\" d=\"{}\"><title>{}</title></path>\n",
                           class_of(series.style), path_of(series), html_text(series.label));
    }
    return out + "</svg></figure>\n";
}

std::string svg_of(const CellPlot& plot) {
    const auto rows = static_cast<double>(plot.rows.size());
    const double row_height = std::clamp(560 / std::max(1.0, rows), 5.0, 18.0);
    const double bottom = top + rows * row_height;
    std::string out = open_svg(bottom + axis_height);
    add_x_axis(out, plot.x, top, bottom);
    std::array<std::string, cell_level_max + 1> paths;
    const std::size_t stride = label_stride(plot.rows.size(), row_height);
    for (std::size_t i = 0; i < plot.rows.size(); ++i) {
        const CellRow& row = plot.rows[i];
        const double y = top + static_cast<double>(i) * row_height;
        if (i % stride == 0) { add_row_label(out, y + row_height / 2, row.label); }
        const auto cells = static_cast<double>(row.levels.size());
        for (std::size_t from = 0; from < row.levels.size();) {
            std::size_t to = from;
            while (to < row.levels.size() && row.levels[to] == row.levels[from]) { ++to; }
            fmt::format_to(std::back_inserter(paths.at(row.levels[from])),
                           "M{:.1f} {:.1f}H{:.1f}v{:.1f}H{:.1f}z",
                           place_x(static_cast<double>(from) / cells), y + 0.5,
                           place_x(static_cast<double>(to) / cells), row_height - 1,
                           place_x(static_cast<double>(from) / cells));
            from = to;
        }
    }
    for (std::size_t level = 0; level < paths.size(); ++level) {
        out += fmt::format("<path class=\"cell{}\" d=\"{}\"/>\n", level, paths[level]);
    }
    return out + "</svg></figure>\n";
}

std::string svg_of(const BarPlot& plot) {
    constexpr double row_height = 14;
    const double bottom = top + static_cast<double>(plot.rows.size()) * row_height;
    std::string out = open_svg(bottom + axis_height);
    add_x_axis(out, plot.x, top, bottom);
    for (std::size_t i = 0; i < plot.rows.size(); ++i) {
        const BarRow& row = plot.rows[i];
        const double middle = top + (static_cast<double>(i) + 0.5) * row_height;
        add_row_label(out, middle, row.label);
        const double run = place_x(row.run_from);
        out += fmt::format(
            "<path class=\"thin\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><path class=\"cell4\" "
            "d=\"M{:.1f} {:.1f}H{:.1f}v8H{:.1f}z\"/>\n",
            place_x(row.wait_from), middle, run, run, middle - 4,
            std::max(run + 1, place_x(row.run_to)), run);
    }
    return out + "</svg></figure>\n";
}

std::vector<PlotTick> time_ticks(std::int64_t span_s) {
    struct Unit {
        std::int64_t seconds;
        const char* name;
        std::vector<std::int64_t> steps;
    };
    const Unit units[] = {{1, "s", {1, 2, 5, 10, 15, 30}},
                          {60, "min", {1, 2, 5, 10, 15, 30}},
                          {3'600, "h", {1, 2, 3, 6, 12}},
                          {86'400, "d", {1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 10'000}}};
    constexpr std::int64_t ticks_max = 9;
    std::vector<PlotTick> out;
    for (const Unit& unit : units) {
        for (const std::int64_t count : unit.steps) {
            const std::int64_t step = unit.seconds * count;
            const bool is_last = unit.seconds == 86'400 && count == unit.steps.back();
            if (span_s / step > ticks_max && !is_last) { continue; }
            const auto span = static_cast<double>(std::max<std::int64_t>(1, span_s));
            for (std::int64_t i = 0; i <= std::min(ticks_max, span_s / step); ++i) {
                out.push_back({.at = static_cast<double>(i * step) / span,
                               .label = fmt::format("{} {}", i * count, unit.name)});
            }
            return out;
        }
    }
    return out;
}

CountAxis count_axis(double high) {
    constexpr int ticks_max = 5;
    double step = 1;
    for (double scale = 1; step * ticks_max < high; scale *= 10) {
        for (const double of_ten : {1, 2, 5}) {
            step = scale * of_ten;
            if (step * ticks_max >= high) { break; }
        }
    }
    const int ticks = std::max(1, static_cast<int>(std::ceil(high / step)));
    CountAxis out{.ticks = {}, .top = step * ticks};
    for (int i = 0; i <= ticks; ++i) {
        out.ticks.push_back(
            {.at = static_cast<double>(i) / ticks, .label = grouped(std::llround(step * i))});
    }
    return out;
}

std::string grouped(std::int64_t number) {
    std::string out = fmt::format("{}", number);
    const std::size_t sign = number < 0 ? 1 : 0;
    for (std::size_t at = out.size(); at > sign + 3; at -= 3) { out.insert(at - 3, 1, ','); }
    return out;
}

}  // namespace muster::sim
