#include "cli/what_if_text.h"

#include "cli/job_text.h"
#include "codec/json_writer.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace muster::cli {

namespace {

void write_course(JsonWriter& out, const sim::Course& course) {
    out.begin_object();
    write_measures(out, course.run, course.measures);
    out.member("refused_facts", static_cast<std::int64_t>(course.refused_facts));
    out.key("queues").begin_list();
    for (const sim::QueueMeasure& queue : course.queues) {
        out.begin_object().member("queue", queue.name).member("jobs", queue.jobs);
        write_spread(out, "wait_s", queue.wait_s);
        write_spread(out, "jct_s", queue.jct_s);
        write_decimal(out, "mean_bounded_slowdown", queue.mean_bounded_slowdown);
        write_decimal(out, "started_in_target_share", queue.in_target_share);
        out.end_object();
    }
    out.end_list().end_object();
}

}  // namespace

Table figure_table(const sim::WhatIf& what, std::string first, std::vector<sim::Figure> figures) {
    Table table({{std::move(first)},
                 {what.recorded.run.policy, Align::right},
                 {what.again.run.policy, Align::right},
                 {what.other.run.policy, Align::right},
                 {"difference", Align::right}});
    for (sim::Figure& figure : figures) {
        table.add({std::move(figure.name), std::move(figure.values[0]), std::move(figure.values[1]),
                   std::move(figure.values[2]), std::move(figure.difference)});
    }
    return table;
}

std::string what_if_table(const sim::WhatIf& what, const Paint& paint) {
    const std::string_view unit = what.trace.unit == sim::JobUnit::gpu ? "GPU" : "processor";
    std::string out = fmt::format(
        "{} from entry {}: {}, {} on {} of up to {}\n\n", what.trace.name, what.first,
        plural(static_cast<std::int64_t>(what.cycles), "cycle"),
        plural(what.again.measures.jobs, "workload"), plural(what.again.run.machine.nodes, "node"),
        plural(what.again.run.machine.per_node, unit));
    out += figure_table(what, "measure", sim::figures_of(what)).text(paint);
    if (what.again.queues.size() > 1) {
        out += '\n' +
               figure_table(what, "mean wait s, by queue", sim::queue_figures_of(what)).text(paint);
    }
    out += fmt::format("\n{} of {} start when they did in the log, under its policy again\n",
                       with_commas(what.same_starts), plural(what.started, "workload"));
    if (what.other.refused_facts > 0) {
        out += fmt::format("{} of the log made no sense under {}\n",
                           plural(static_cast<std::int64_t>(what.other.refused_facts), "fact"),
                           what.other.run.policy);
    }
    constexpr std::int64_t milliseconds = 1'000'000;
    return out +
           fmt::format("{} ms of CPU\n",
                       with_commas((what.again.run.cpu_ns + what.other.run.cpu_ns) / milliseconds));
}

std::string what_if_json(const sim::WhatIf& what) {
    JsonWriter out;
    out.begin_object()
        .member("first", static_cast<std::int64_t>(what.first))
        .member("cycles", static_cast<std::int64_t>(what.cycles))
        .member("started", what.started)
        .member("same_starts", what.same_starts);
    out.key("recorded");
    write_course(out, what.recorded);
    out.key("again");
    write_course(out, what.again);
    out.key("other");
    write_course(out, what.other);
    return out.end_object().take() + '\n';
}

}  // namespace muster::cli
