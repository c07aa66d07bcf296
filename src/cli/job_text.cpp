#include "cli/job_text.h"

#include "codec/json_writer.h"

#include <fmt/format.h>

#include <cmath>

namespace muster::cli {

namespace {

std::vector<std::string> cells(std::string_view what, const sim::Spread& spread) {
    return {std::string(what),       with_commas(std::llround(spread.mean)),
            with_commas(spread.p50), with_commas(spread.p95),
            with_commas(spread.p99), with_commas(spread.max)};
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string_view unit_of(const sim::JobTrace& trace) {
    return trace.unit == sim::JobUnit::gpu ? "GPU" : "processor";
}

}  // namespace

void write_decimal(JsonWriter& out, std::string_view name, double number) {
    out.key(name).raw(fmt::format("{:.6f}", number));
}

void write_spread(JsonWriter& out, std::string_view what, const sim::Spread& spread) {
    write_decimal(out, fmt::format("mean_{}", what), spread.mean);
    out.member(fmt::format("p50_{}", what), spread.p50);
    out.member(fmt::format("p95_{}", what), spread.p95);
    out.member(fmt::format("p99_{}", what), spread.p99);
    out.member(fmt::format("max_{}", what), spread.max);
}

void write_measures(JsonWriter& out, const sim::JobRun& run, const sim::JobMeasures& measures) {
    out.member("policy", run.policy)
        .member("capacity", run.machine.capacity())
        .member("jobs", measures.jobs)
        .member("skipped", measures.skipped)
        .member("unfinished", measures.unfinished)
        .member("span_s", measures.span_s);
    write_spread(out, "wait_s", measures.wait_s);
    write_spread(out, "jct_s", measures.jct_s);
    write_decimal(out, "mean_bounded_slowdown", measures.mean_bounded_slowdown);
    write_decimal(out, "max_bounded_slowdown", measures.max_bounded_slowdown);
    write_decimal(out, "max_stretch", measures.max_stretch);
    write_decimal(out, "utilization", measures.utilization);
    write_decimal(out, "idle_share", measures.idle_share);
    write_decimal(out, "fragmented_share", measures.fragmented_share);
    out.key("classes").begin_list();
    for (const sim::ClassMeasure& one : measures.classes) {
        out.begin_object()
            .member("class", one.name)
            .member("jobs", one.jobs)
            .member("target_s", one.target_s);
        write_decimal(out, "started_in_target_share", one.in_target_share);
        out.end_object();
    }
    constexpr double nanoseconds = 1e9;
    out.end_list();
    write_decimal(out, "cpu_s", static_cast<double>(run.cpu_ns) / nanoseconds);
}

std::string job_json(const sim::JobTrace& trace, const sim::JobRun& run,
                     const sim::JobMeasures& measures) {
    JsonWriter out;
    out.begin_object().member("trace", trace.name);
    write_measures(out, run, measures);
    return out.end_object().take() + '\n';
}

std::string job_table(const sim::JobTrace& trace, const sim::JobRun& run,
                      const sim::JobMeasures& measures, const Paint& paint) {
    std::string out = fmt::format("{} on {} under {}: {}, {} skipped, {} never started\n\n",
                                  trace.name, plural(run.machine.capacity(), unit_of(trace)),
                                  run.policy, plural(measures.jobs, "job"),
                                  with_commas(measures.skipped), with_commas(measures.unfinished));
    Table spreads({{"seconds"},
                   {"mean", Align::right},
                   {"p50", Align::right},
                   {"p95", Align::right},
                   {"p99", Align::right},
                   {"max", Align::right}});
    spreads.add(cells("wait", measures.wait_s));
    spreads.add(cells("until it ended", measures.jct_s));
    out += spreads.text(paint);
    Table figures({{"measure"}, {"value", Align::right}, {"", Align::left}});
    figures.add({"bounded slowdown", fmt::format("{:.2f}", measures.mean_bounded_slowdown),
                 fmt::format("worst {:.0f}", measures.max_bounded_slowdown)});
    figures.add({"worst stretch", fmt::format("{:.2f}", measures.max_stretch),
                 "wait ÷ (run time + 1 day)"});
    figures.add({"in use", percent(measures.utilization),
                 fmt::format("over {} s", with_commas(measures.span_s))});
    figures.add({"idle", percent(measures.idle_share), ""});
    if (run.machine.nodes > 1) {
        figures.add({"in pieces", percent(measures.fragmented_share),
                     "free on nodes that are partly in use"});
    }
    out += '\n' + figures.text(paint);
    Table classes({{"priority class"},
                   {"jobs", Align::right},
                   {"started in time", Align::right},
                   {"target s", Align::right}});
    for (const sim::ClassMeasure& one : measures.classes) {
        classes.add({one.name.empty() ? "–" : one.name, with_commas(one.jobs),
                     percent(one.in_target_share), with_commas(one.target_s)});
    }
    constexpr double milliseconds = 1e6;
    return out + '\n' + classes.text(paint) +
           fmt::format("\n{:.0f} ms of CPU\n", static_cast<double>(run.cpu_ns) / milliseconds);
}

}  // namespace muster::cli
