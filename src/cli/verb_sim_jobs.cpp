#include "base/text.h"
#include "cli/job_text.h"
#include "cli/ledger_file.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "dialect/trace_time.h"
#include "sim/engine_jobs.h"
#include "sim/file.h"
#include "sim/job_generate.h"
#include "sim/job_measures.h"
#include "sim/job_report.h"
#include "sim/reference/job_replay.h"

#include <fmt/format.h>

#include <optional>

namespace muster::cli {

namespace {

constexpr std::int64_t nodes_max = 100'000;
constexpr std::int64_t per_node_max = 1'000'000;

/// A time, or seconds for traces that count from their own beginning.
Result<std::optional<std::int64_t>> parse_time(std::string_view option, std::string_view text) {
    if (text.empty()) { return std::optional<std::int64_t>(); }
    if (const auto seconds = parse_int(text)) { return std::optional(*seconds); }
    auto time = dialect::parse_civil_time(text);
    if (!time) { return tl::unexpected(std::move(time).error().wrap(option)); }
    return std::optional(*time);
}

Result<std::optional<sim::TraceWindow>> parse_window(std::string_view text) {
    if (text.empty()) { return std::optional<sim::TraceWindow>(); }
    const auto parts = split(text, ':');
    if (parts.size() != 2) {
        return fail(Code::invalid,
                    fmt::format("--window: found '{:.40}'; expected START:COUNT", text));
    }
    constexpr auto most = static_cast<std::int64_t>(dialect::trace_jobs_max);
    MUSTER_TRY(start, parse_int("--window: start", parts[0], 0, most));
    MUSTER_TRY(count, parse_int("--window: count", parts[1], 1, most));
    return std::optional(sim::TraceWindow{.start = static_cast<std::size_t>(start),
                                          .count = static_cast<std::size_t>(count)});
}

/// "64x8"; of `sim queue` one node of all processors, 0 when only the trace knows.
Result<sim::Machine> parse_machine(const SimJobsOptions& options) {
    if (options.nodes.empty()) { return sim::Machine{.nodes = 1, .per_node = options.processors}; }
    const auto parts = split(options.nodes, 'x');
    if (parts.size() != 2) {
        return fail(Code::invalid,
                    fmt::format("--nodes: found '{:.40}'; expected nodes and GPUs of each, such "
                                "as 64x8",
                                options.nodes));
    }
    MUSTER_TRY(nodes, parse_int("--nodes", parts[0], 1, nodes_max));
    MUSTER_TRY(gpus, parse_int("--nodes: GPUs", parts[1], 1, per_node_max));
    return sim::Machine{.nodes = static_cast<std::int32_t>(nodes), .per_node = gpus};
}

/// "high=600", "3600"
Result<std::vector<sim::StartTarget>> parse_targets(const std::vector<std::string>& texts) {
    std::vector<sim::StartTarget> out;
    for (const std::string_view text : texts) {
        const std::size_t equals = text.rfind('=');
        const bool has_class = equals != std::string_view::npos;
        MUSTER_TRY(seconds, parse_int("--target", has_class ? text.substr(equals + 1) : text, 0,
                                      dialect::trace_seconds_max));
        out.push_back({.priority_class = std::string(has_class ? text.substr(0, equals) : ""),
                       .seconds = seconds});
    }
    return out;
}

/// The machine is completed by what the trace says of it.
Result<sim::JobTrace> make_trace(const SimJobsOptions& options, sim::Machine& machine) {
    const auto unit = options.nodes.empty() ? sim::JobUnit::processor : sim::JobUnit::gpu;
    MUSTER_TRY(from, parse_time("--from", options.from));
    MUSTER_TRY(to, parse_time("--to", options.to));
    MUSTER_TRY(window, parse_window(options.window));
    const sim::TraceSpan span{.from_s = from, .to_s = to};
    if (options.is_generated) {
        MUSTER_TRY(generator, sim::parse_generator(options.generate));
        if (machine.per_node == 0) {
            return fail(Code::invalid, "--generate: expected --processors beside it");
        }
        sim::JobTrace trace = sim::generate_jobs(generator, machine.capacity());
        trace.unit = unit;
        MUSTER_CHECK(sim::prepare(trace, span, window));
        return trace;
    }
    if (options.trace.empty()) {
        return fail(Code::invalid, "found no jobs; expected --trace FILE or --generate KEY=N,…");
    }
    MUSTER_TRY(trace, sim::load_job_trace({.file = options.trace,
                                           .format = options.trace_format,
                                           .speeds_file = options.speeds,
                                           .gpu = options.speeds_gpu,
                                           .span = span,
                                           .window = window}));
    if (machine.per_node == 0) { machine.per_node = trace.processors; }
    if (machine.per_node == 0) {
        return fail(
            Code::invalid,
            fmt::format("{}: does not tell its processors; expected --processors", trace.name));
    }
    trace.unit = unit;
    return std::move(trace);
}

Result<sim::Stretch> make_stretch(const SimJobsOptions& options) {
    const GpuProduct* product = find_gpu_product(options.product);
    if (product == nullptr) {
        return fail(
            Code::not_found,
            fmt::format("--product: found '{:.40}'; expected a GPU such as H100", options.product));
    }
    return sim::Stretch{.sensitivity_percent = options.sensitivity_percent,
                        .product = product,
                        .nodes_per_leaf = options.nodes_per_leaf};
}

Result<sim::JobRun> run_policy(const sim::JobTrace& trace, const sim::Machine& machine,
                               const SimJobsOptions& options, Terminal& terminal) {
    MUSTER_TRY(stretch, make_stretch(options));
    ProgressBar bar(terminal, options.policy);
    const auto progress = [&](std::size_t done, std::size_t all) { bar.show(done, all); };
    if (options.policy == "muster") {
        sim::EngineJobsOptions engine{
            .cluster = {.machine = machine, .stretch = stretch, .progress = progress},
            .engine_version = MUSTER_VERSION};
        MUSTER_TRY(store, make_ledger(options.ledger));
        engine.store = std::move(store);
        return sim::run_jobs_with_engine(trace, std::move(engine));
    }
    return sim::replay_jobs(trace, {.machine = machine,
                                    .policy = options.policy,
                                    .has_window_backfill = options.backfill == "window",
                                    .stretch = stretch,
                                    .progress = progress});
}

}  // namespace

Result<int> run_verb(const SimJobsOptions& options, Terminal& terminal) {
    MUSTER_CHECK(check_recorded(options.policy, options.ledger));
    MUSTER_TRY(targets, parse_targets(options.targets));
    MUSTER_TRY(machine, parse_machine(options));
    MUSTER_TRY(trace, make_trace(options, machine));
    MUSTER_TRY(run, run_policy(trace, machine, options, terminal));
    const sim::JobMeasures measures = sim::measure(trace, run, targets);
    if (!options.report.empty()) {
        MUSTER_CHECK(sim::write_file(options.report, sim::job_report(trace, run, measures)));
    }
    terminal.out << (options.format == Format::json
                         ? job_json(trace, run, measures)
                         : job_table(trace, run, measures, Paint(terminal.has_colour)));
    return exit_good;
}

}  // namespace muster::cli
