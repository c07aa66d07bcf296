#include "cli/ledger_file.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"
#include "sim/departures.h"
#include "sim/engine_replay.h"
#include "sim/loop_random.h"
#include "sim/openb_study.h"
#include "sim/random.h"
#include "sim/reference/bestfit.h"
#include "sim/reference/departures.h"
#include "sim/reference/fgd.h"
#include "sim/reference/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace muster::cli {

namespace {

constexpr std::size_t told_percents[] = {50, 95, 100, 130};

struct Outcome {
    sim::PlacementMeasure measure;
    std::int64_t arrived = 0;
    std::int64_t placed = 0;
    std::int64_t cpu_ns = 0;

    [[nodiscard]] std::int64_t decisions_per_second() const {
        constexpr std::int64_t second = 1'000'000'000;
        return arrived * second / std::max<std::int64_t>(1, cpu_ns);
    }
};

/// Timed without the measure of fragments, which is none of the decision.
Result<Outcome> run_engine(const sim::OpenbStudy& study, const SimPlacementOptions& options) {
    const bool is_declared = !options.is_mix_learned;
    MUSTER_TRY(store, make_ledger(options.ledger));
    MUSTER_TRY(timed, sim::replay_with_engine(
                          study, {.seed = options.seed, .is_mix_declared = is_declared}));
    MUSTER_TRY(measured,
               sim::replay_with_engine(study, {.seed = options.seed,
                                               .is_mix_declared = is_declared,
                                               .measure_fragments = true,
                                               .record = {.store = std::move(store),
                                                          .engine_version = MUSTER_VERSION}}));
    return Outcome{measured.measure, measured.arrived, measured.placed, timed.cpu_ns};
}

sim::ReplayPolicy reference_policy(const sim::OpenbStudy& study, std::string_view name) {
    if (name != "fgd") { return {.score = sim::best_fit}; }
    return {.score = sim::Fgd(sim::FragmentMeasure(study.common_classes(), study.models.size()))};
}

Result<Outcome> run_reference(const sim::OpenbStudy& study, const SimPlacementOptions& options) {
    MUSTER_TRY(result, sim::replay(study, reference_policy(study, options.policy),
                                   {.seed = options.seed, .measure_fragments = true}));
    constexpr double nanoseconds = 1e9;
    return Outcome{result.measure, result.arrived, result.placed,
                   static_cast<std::int64_t>(result.cpu_seconds * nanoseconds)};
}

/// Pods that come and go: what share of the GPU-hours asked for is refused.
Result<int> run_departures(const sim::OpenbStudy& study, const SimPlacementOptions& options,
                           Terminal& terminal) {
    MUSTER_TRY(trace, sim::make_departures(
                          study, {.load_percent = options.offered_load, .seed = options.seed}));
    MUSTER_TRY(store, make_ledger(options.ledger));
    MUSTER_TRY(result,
               options.policy == "muster"
                   ? sim::replay_departures_with_engine(
                         study, trace,
                         {.seed = options.seed,
                          .is_mix_declared = !options.is_mix_learned,
                          .record = {.store = std::move(store), .engine_version = MUSTER_VERSION}})
                   : sim::replay_departures(study, trace, reference_policy(study, options.policy),
                                            options.seed));
    constexpr std::int64_t milli_hour = 3'600'000;
    const std::int64_t offered = result.offered_milli_seconds / milli_hour;
    const std::int64_t refused = result.refused_milli_seconds / milli_hour;
    if (options.format == Format::json) {
        JsonWriter out;
        out.begin_object()
            .member("offered_load_percent", std::int64_t{options.offered_load})
            .member("offered_gpu_hours", offered)
            .member("refused_gpu_hours", refused)
            .key("refused_percent")
            .raw(fmt::format("{:.4f}", result.refused_percent()));
        out.member("arrived", static_cast<std::int64_t>(trace.stays.size()))
            .member("refused_pods", result.refused_pods)
            .end_object();
        terminal.out << out.take() << '\n';
        return exit_good;
    }
    terminal.out << fmt::format(
        "{} on {}, seed {}, pods come and go at {} % load: {} of {} GPU-hours refused ({:.2f} %)\n",
        options.policy, study.list, options.seed, options.offered_load, with_commas(refused),
        with_commas(offered), result.refused_percent());
    return exit_good;
}

/// Millionths as percent: 961234 → "96.1234".
std::string as_percent(std::int64_t ppm) {
    return fmt::format("{}.{:04}", ppm / 10'000, ppm % 10'000);
}

std::string write_json(const Outcome& outcome) {
    JsonWriter out;
    out.begin_object();
    const auto add = [&](std::string_view key, auto of) {
        out.key(key).begin_object();
        for (const std::size_t percent : told_percents) {
            const std::optional<std::int64_t> value = of(percent);
            out.key(std::to_string(percent));
            value ? out.raw(as_percent(*value)) : out.null();
        }
        out.end_object();
    };
    add("allocated_percent", [&](std::size_t at) { return outcome.measure.allocated_ppm(at); });
    add("fragmented_percent", [&](std::size_t at) { return outcome.measure.fragmented_ppm(at); });
    out.member("arrived", outcome.arrived).member("placed", outcome.placed);
    out.member("decisions_per_cpu_second", outcome.decisions_per_second()).end_object();
    return out.take() + '\n';
}

void write_broken_laws(JsonWriter& out, const std::vector<std::string>& broken) {
    out.key("broken_laws").begin_list();
    for (const std::string& law : broken) { out.value(law); }
    out.end_list().end_object();
}

int tell_laws(const std::vector<std::string>& broken, std::string_view again, Terminal& terminal) {
    if (broken.empty()) {
        terminal.out << "every law held after every step\n";
        return exit_good;
    }
    for (const std::string& law : broken) { terminal.out << "broken: " << law << '\n'; }
    terminal.out << "again: " << again << '\n';
    return exit_waits;
}

Result<int> run_loop(const SimRandomOptions& options, Terminal& terminal) {
    MUSTER_TRY(outcome, run_loop_random({.seed = options.seed, .steps = options.steps}));
    if (options.format == Format::json) {
        JsonWriter out;
        out.begin_object()
            .member("seed", static_cast<std::int64_t>(outcome.seed))
            .member("steps", outcome.steps)
            .member("cycles", outcome.cycles)
            .member("leaders", outcome.leaders)
            .member("crashes", outcome.crashes)
            .member("fenced_leaders", outcome.fenced)
            .member("binds", outcome.binds)
            .member("evictions", outcome.evictions)
            .member("quiet_phases", outcome.quiets);
        write_broken_laws(out, outcome.broken);
        terminal.out << out.take() << '\n';
        return outcome.broken.empty() ? exit_good : exit_waits;
    }
    terminal.out << fmt::format(
        "seed {}: {} steps, {} cycles on record by {} leaders, {} crashes, {} fenced, {} binds, {} "
        "evictions, all agreed in {} quiet phases\n",
        outcome.seed, with_commas(outcome.steps), with_commas(outcome.cycles),
        with_commas(outcome.leaders), with_commas(outcome.crashes), with_commas(outcome.fenced),
        with_commas(outcome.binds), with_commas(outcome.evictions), with_commas(outcome.quiets));
    return tell_laws(
        outcome.broken,
        fmt::format("muster sim random --loop --seed {} --steps {}", outcome.seed, outcome.steps),
        terminal);
}

}  // namespace

Result<int> run_verb(const SimPlacementOptions& options, Terminal& terminal) {
    MUSTER_CHECK(check_recorded(options.policy, options.ledger));
    MUSTER_TRY(study, sim::load_openb_files({.nodes = options.nodes,
                                             .pods = options.pods,
                                             .arrivals = options.arrivals,
                                             .ranks = options.node_ranks},
                                            std::filesystem::path(options.pods).stem().string()));
    if (options.offered_load > 0) { return run_departures(study, options, terminal); }
    MUSTER_TRY(outcome, options.policy == "muster" ? run_engine(study, options)
                                                   : run_reference(study, options));
    if (options.format == Format::json) {
        terminal.out << write_json(outcome);
        return exit_good;
    }
    Table table({{"asked for, % of the GPUs", Align::right},
                 {"allocated %", Align::right},
                 {"fragmented %", Align::right}});
    for (const std::size_t percent : told_percents) {
        const auto allocated = outcome.measure.allocated_ppm(percent);
        const auto fragmented = outcome.measure.fragmented_ppm(percent);
        table.add({fmt::format("{}", percent), allocated ? as_percent(*allocated) : "–",
                   fragmented ? as_percent(*fragmented) : "–"});
    }
    terminal.out << fmt::format(
        "{} on {}, seed {}: {} of {} placed, {} decisions per CPU second\n\n", options.policy,
        study.list, options.seed, with_commas(outcome.placed), plural(outcome.arrived, "pod"),
        with_commas(outcome.decisions_per_second()));
    terminal.out << table.text(Paint(terminal.has_colour));
    return exit_good;
}

Result<int> run_verb(const SimRandomOptions& options, Terminal& terminal) {
    if (options.is_loop) { return run_loop(options, terminal); }
    MUSTER_TRY(store, make_ledger(options.ledger));
    MUSTER_TRY(outcome, run_random({.seed = options.seed, .steps = options.steps},
                                   {.store = std::move(store), .engine_version = MUSTER_VERSION}));
    if (options.format == Format::json) {
        JsonWriter out;
        out.begin_object()
            .member("seed", static_cast<std::int64_t>(outcome.seed))
            .member("steps", outcome.steps)
            .member("facts", outcome.facts)
            .member("refused_facts", outcome.refused)
            .member("tasks_placed", outcome.placed)
            .member("gangs_released", outcome.released)
            .member("refusals", outcome.refusals)
            .member("digest", fmt::format("{:016x}", outcome.digest));
        write_broken_laws(out, outcome.broken);
        terminal.out << out.take() << '\n';
        return outcome.broken.empty() ? exit_good : exit_waits;
    }
    terminal.out << fmt::format(
        "seed {}: {} steps, {} facts ({} refused as nonsense), {} tasks placed, {} gangs released, "
        "{} reasons given\nplans {:016x}\n",
        outcome.seed, with_commas(outcome.steps), with_commas(outcome.facts),
        with_commas(outcome.refused), with_commas(outcome.placed), with_commas(outcome.released),
        with_commas(outcome.refusals), outcome.digest);
    return tell_laws(
        outcome.broken,
        fmt::format("muster sim random --seed {} --steps {}", outcome.seed, outcome.steps),
        terminal);
}

}  // namespace muster::cli
