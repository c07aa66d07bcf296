#include "cli/table.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"
#include "sim/engine_replay.h"
#include "sim/openb_study.h"
#include "sim/reference/bestfit.h"
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
    sim::EngineReplayOptions replay{.seed = options.seed,
                                    .is_mix_declared = !options.is_mix_learned,
                                    .measure_fragments = false};
    MUSTER_TRY(timed, sim::replay_with_engine(study, replay));
    replay.measure_fragments = true;
    MUSTER_TRY(measured, sim::replay_with_engine(study, replay));
    return Outcome{measured.measure, measured.arrived, measured.placed, timed.cpu_ns};
}

Result<Outcome> run_reference(const sim::OpenbStudy& study, const SimPlacementOptions& options) {
    sim::Fgd fgd(sim::FragmentMeasure(study.common_classes(), study.models.size()));
    sim::ReplayPolicy policy;
    if (options.policy == "fgd") {
        policy.score = [&](const sim::ReferenceNode& node, const sim::Request& request) {
            return fgd(node, request);
        };
    } else {
        policy.score = sim::best_fit;
    }
    MUSTER_TRY(result,
               sim::replay(study, policy, {.seed = options.seed, .measure_fragments = true}));
    constexpr double nanoseconds = 1e9;
    return Outcome{result.measure, result.arrived, result.placed,
                   static_cast<std::int64_t>(result.cpu_seconds * nanoseconds)};
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

}  // namespace

Result<int> run_verb(const SimPlacementOptions& options, Terminal& terminal) {
    MUSTER_TRY(study, sim::load_openb_files({.nodes = options.nodes,
                                             .pods = options.pods,
                                             .arrivals = options.arrivals,
                                             .ranks = options.node_ranks},
                                            std::filesystem::path(options.pods).stem().string()));
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

Result<int> run_verb(const SimRandomOptions&, Terminal&) {
    return fail(Code::unavailable, "sim random is not built yet");
}

}  // namespace muster::cli
