#include "sim/what_if_figures.h"

#include "sim/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::sim {

namespace {

constexpr std::size_t queue_rows_max = 20;

/// How a number is told: as a whole one, with two decimals, or in percent.
enum class Kind : std::uint8_t { whole, decimal, share };

std::string number(Kind kind, double value) {
    switch (kind) {
        case Kind::whole: {
            const auto rounded = std::llround(value);
            return (rounded < 0 ? "-" : "") + grouped(std::abs(rounded));
        }
        case Kind::decimal: return fmt::format("{:.2f}", value);
        case Kind::share: return fmt::format("{:.2f} %", 100 * value);
    }
    return {};
}

std::string difference(Kind kind, double from, double to) {
    if (from == to) { return "–"; }
    std::string out = fmt::format("{}{}", to > from ? "+" : "", number(kind, to - from));
    if (kind == Kind::share || from == 0) { return out; }
    return out + fmt::format(" ({:+.1f} %)", 100 * (to - from) / from);
}

/// `value` of each course.
template <class Value>
Figure figure(const WhatIf& what, std::string name, Kind kind, const Value& value) {
    const double again = value(what.again);
    const double other = value(what.other);
    return {
        .name = std::move(name),
        .values = {number(kind, value(what.recorded)), number(kind, again), number(kind, other)},
        .difference = difference(kind, again, other)};
}

void add_spread(std::vector<Figure>& out, const WhatIf& what, std::string_view name,
                Spread JobMeasures::* spread) {
    const auto add = [&](std::string_view which, const auto& of) {
        out.push_back(figure(what, fmt::format("{}, {} s", name, which), Kind::whole,
                             [&](const Course& course) {
                                 return static_cast<double>(of(course.measures.*spread));
                             }));
    };
    add("mean", [](const Spread& one) { return one.mean; });
    add("p50", [](const Spread& one) { return one.p50; });
    add("p95", [](const Spread& one) { return one.p95; });
    add("p99", [](const Spread& one) { return one.p99; });
    add("max", [](const Spread& one) { return one.max; });
}

}  // namespace

std::vector<Figure> figures_of(const WhatIf& what) {
    std::vector<Figure> out;
    const auto add = [&](std::string name, Kind kind, double JobMeasures::* measure) {
        out.push_back(figure(what, std::move(name), kind,
                             [&](const Course& course) { return course.measures.*measure; }));
    };
    add_spread(out, what, "wait", &JobMeasures::wait_s);
    add_spread(out, what, "until it ended", &JobMeasures::jct_s);
    add("bounded slowdown", Kind::decimal, &JobMeasures::mean_bounded_slowdown);
    add("worst stretch", Kind::decimal, &JobMeasures::max_stretch);
    add("idle", Kind::share, &JobMeasures::idle_share);
    add("in pieces", Kind::share, &JobMeasures::fragmented_share);
    out.push_back(figure(what, "never started", Kind::whole, [](const Course& course) {
        return static_cast<double>(course.measures.unfinished);
    }));
    for (std::size_t i = 0; i < what.again.measures.classes.size(); ++i) {
        const std::string& name = what.again.measures.classes[i].name;
        out.push_back(figure(
            what, name.empty() ? "started in time" : fmt::format("started in time, {}", name),
            Kind::share,
            [&](const Course& course) { return course.measures.classes[i].in_target_share; }));
    }
    return out;
}

std::vector<Figure> queue_figures_of(const WhatIf& what) {
    std::vector<std::size_t> order(what.again.queues.size());
    for (std::size_t i = 0; i < order.size(); ++i) { order[i] = i; }
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        const auto key = [&](std::size_t i) { return std::pair(-what.again.queues[i].jobs, i); };
        return key(a) < key(b);
    });
    order.resize(std::min(order.size(), queue_rows_max));
    std::vector<Figure> out;
    for (const std::size_t i : order) {
        const std::string& name = what.again.queues[i].name;
        out.push_back(figure(what, name.empty() ? "–" : name, Kind::whole,
                             [&](const Course& course) { return course.queues[i].wait_s.mean; }));
    }
    return out;
}

}  // namespace muster::sim
