#include "sim/job_report.h"

#include "base/assert.h"
#include "sim/job_report_parts.h"
#include "sim/svg_plot.h"

#include <fmt/format.h>

namespace muster::sim {

namespace {

constexpr const char* style = R"(
:root { --page: #fcfcfb; --ink: #1f2328; --soft: #667079; --rule: #dfe3e6; --main: #2f6f9f;
  --fill: #2f6f9f40; --other: #c2571a; --c0: #eef0f1; --c1: #d3e2ec; --c2: #a9c8dc; --c3: #79a9c8;
  --c4: #4887b0; --c5: #1f5a86; }
@media (prefers-color-scheme: dark) { :root { --page: #16191c; --ink: #e4e7ea; --soft: #97a1a9;
  --rule: #31373c; --main: #6bb0dd; --fill: #6bb0dd38; --other: #e8935a; --c0: #20252a;
  --c1: #21394a; --c2: #285672; --c3: #34759b; --c4: #4a97c4; --c5: #85c4ec; } }
body { background: var(--page); color: var(--ink); font: 15px/1.45 system-ui, sans-serif;
  margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2rem 0 .2rem; }
p { color: var(--soft); margin: 0 0 .6rem; }
dl { display: grid; gap: .6rem; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr));
  margin: 1.2rem 0; }
dl div { border: 1px solid var(--rule); border-radius: 6px; padding: .5rem .7rem; }
dt { color: var(--soft); font-size: .8rem; }
dd { font-size: 1.25rem; font-variant-numeric: tabular-nums; margin: 0; }
figure { margin: 0; overflow-x: auto; }
svg { display: block; height: auto; min-width: 34rem; width: 100%; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.grid { fill: none; stroke: var(--rule); }
.area { fill: var(--fill); }
.line { fill: none; stroke: var(--main); stroke-width: 1.6; }
.thin { fill: none; stroke: var(--other); stroke-width: 1.2; }
.cell0 { fill: var(--c0); } .cell1 { fill: var(--c1); } .cell2 { fill: var(--c2); }
.cell3 { fill: var(--c3); } .cell4 { fill: var(--c4); } .cell5 { fill: var(--c5); }
.key { font-weight: 600; } .main { color: var(--main); } .other { color: var(--other); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th { color: var(--soft); font-size: .8rem; font-weight: 500; }
th, td { border-bottom: 1px solid var(--rule); padding: .25rem .5rem; text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
)";

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
    const std::string title = html_text(fmt::format("{} under {}", trace.name, run.policy));
    const std::string_view unit = trace.unit == JobUnit::gpu ? "GPUs" : "processors";
    const Gantt gantt = gantt_plot(trace, run, timeline);
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<title>{0}</title>\n<style>{1}</style>\n<h1>{0}</h1>\n<p>{2} jobs on {3} {4} over {5}; "
        "{6} skipped, {7} never started</p>\n",
        title, style, grouped(measures.jobs), grouped(run.machine.capacity()), unit,
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
