#include "sim/what_if_report.h"

#include "base/assert.h"
#include "sim/job_report.h"
#include "sim/job_report_parts.h"
#include "sim/svg_plot.h"
#include "sim/what_if_figures.h"

#include <fmt/format.h>

#include <vector>

namespace muster::sim {

namespace {

std::string table(const WhatIf& what, std::string_view first, const std::vector<Figure>& figures) {
    std::string out = fmt::format(
        "<figure><table><tr><th>{}</th><th>{}</th><th>{}</th><th>{}</th><th>difference</th></tr>\n",
        first, html_text(what.recorded.run.policy), html_text(what.again.run.policy),
        html_text(what.other.run.policy));
    for (const Figure& figure : figures) {
        out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                           html_text(figure.name), figure.values[0], figure.values[1],
                           figure.values[2], figure.difference);
    }
    return out + "</table></figure>\n";
}

std::string plots(const JobTrace& trace, const Course& course) {
    const JobTimeline timeline = timeline_of(trace, course.run);
    return fmt::format(
        "<div><h2>{}</h2>\n<p>In use: <span class=\"key main\">share of the capacity</span>, "
        "<span class=\"key other\">free on nodes that are partly in use</span></p>\n{}"
        "<p>Waiting: <span class=\"key main\">mean</span> and shaded the most at any moment</p>\n{}"
        "<p>Waits: share of the workloads that waited no longer</p>\n{}</div>\n",
        html_text(course.run.policy), utilisation_plot(timeline, course.run.machine),
        queue_plot(timeline), wait_plot(trace, course.run));
}

}  // namespace

std::string what_if_report(const WhatIf& what) {
    std::string out = page_head(
        fmt::format("{}: {} instead of its policy", what.trace.name, what.other.run.policy),
        PageWidth::wide);
    out += fmt::format(
        "<p>{} workloads; {} of {} start when they did in the log, under its policy again</p>\n",
        grouped(what.again.measures.jobs), grouped(what.same_starts), grouped(what.started));
    out += table(what, "measure", figures_of(what));
    if (what.again.queues.size() > 1) {
        out += "<h2>Mean wait in seconds, by queue</h2>\n" +
               table(what, "queue", queue_figures_of(what));
    }
    out += "<div class=\"pair\">\n" + plots(what.trace, what.again) +
           plots(what.trace, what.other) + "</div>\n";
    MUSTER_ASSERT(out.size() <= report_bytes_max);
    return out + "</html>\n";
}

}  // namespace muster::sim
