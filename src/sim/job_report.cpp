#include "sim/job_report.h"

#include "base/assert.h"
#include "sim/job_report_parts.h"
#include "sim/svg_plot.h"

#include <fmt/format.h>

namespace muster::sim {

namespace {

void add_figure(std::string& out, std::string_view name, std::string_view value) {
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, value);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string figures(const JobRun& run, const JobMeasures& measures) {
    std::string out = "<dl>\n";
    add_figure(out, "mean wait", short_time(measures.wait_s.mean));
    add_figure(out, "99 % wait at most", short_time(static_cast<double>(measures.wait_s.p99)));
    add_figure(out, "longest wait", short_time(static_cast<double>(measures.wait_s.max)));
    add_figure(out, "mean until it ended", short_time(measures.jct_s.mean));
    add_figure(out, "bounded slowdown", fmt::format("{:.2f}", measures.mean_bounded_slowdown));
    add_figure(out, "worst stretch", fmt::format("{:.2f}", measures.max_stretch));
    add_figure(out, "in use", percent(measures.utilization));
    add_figure(out, "idle", percent(measures.idle_share));
    if (run.machine.nodes > 1) {
        add_figure(out, "free in pieces", percent(measures.fragmented_share));
    }
    return out + "</dl>\n";
}

std::string class_table(const JobMeasures& measures) {
    if (measures.classes.size() < 2) { return {}; }
    std::string out =
        "<h2>Priority classes</h2>\n<figure><table><tr><th>class</th><th>jobs</th>"
        "<th>target</th><th>started in it</th></tr>\n";
    constexpr std::size_t rows_max = 20;
    for (std::size_t i = 0; i < std::min(rows_max, measures.classes.size()); ++i) {
        const ClassMeasure& one = measures.classes[i];
        out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                           html_text(one.name.empty() ? "–" : one.name.substr(0, 60)),
                           grouped(one.jobs), short_time(static_cast<double>(one.target_s)),
                           percent(one.in_target_share));
    }
    return out + "</table></figure>\n";
}

}  // namespace

std::string job_report(const JobTrace& trace, const JobRun& run, const JobMeasures& measures) {
    const JobTimeline timeline = timeline_of(trace, run);
    const std::string_view unit = trace.unit == JobUnit::gpu ? "GPUs" : "processors";
    const Gantt gantt = gantt_plot(trace, run, timeline);
    std::string out = page_head(fmt::format("{} under {}", trace.name, run.policy));
    out += fmt::format("<p>{} jobs on {} {} over {}; {} skipped, {} never started</p>\n",
                       grouped(measures.jobs), grouped(run.machine.capacity()), unit,
                       short_time(static_cast<double>(measures.span_s)), grouped(measures.skipped),
                       grouped(measures.unfinished));
    out += figures(run, measures);
    out += "<h2>In use</h2>\n<p><span class=\"key main\">Share of the capacity</span>";
    if (run.machine.nodes > 1) {
        out +=
            ", and <span class=\"key other\">what is free on nodes that are partly in use</span>";
    }
    out += "</p>\n" + utilisation_plot(timeline, run.machine);
    out +=
        "<h2>Waiting jobs</h2>\n<p><span class=\"key main\">Mean</span> and shaded the most at "
        "any moment</p>\n" +
        queue_plot(timeline);
    out +=
        "<h2>Waits</h2>\n<p>Share of the jobs that waited no longer</p>\n" + wait_plot(trace, run);
    out += fmt::format("<h2>Where and when</h2>\n<p>{}</p>\n{}", gantt.caption, gantt.svg);
    out += class_table(measures);
    out += use_table(trace, run, &Job::queue, "Queues");
    out += use_table(trace, run, &Job::user, "Users");
    MUSTER_ASSERT(out.size() <= report_bytes_max);
    return out + "</html>\n";
}

}  // namespace muster::sim
