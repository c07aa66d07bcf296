#include "cli/cluster.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"
#include "codec/plan_text.h"
#include "codec/scenario.h"
#include "sim/scenario.h"

#include <fmt/format.h>

#include <fstream>

namespace muster::cli {

namespace {

struct Ran {
    std::string file;
    std::string text;
    sim::ScenarioRun run;
};

std::string write_json(const std::vector<Ran>& all, bool is_good) {
    JsonWriter out;
    out.begin_object().member("ok", is_good).key("scenarios").begin_list();
    for (const auto& [file, text, run] : all) {
        out.begin_object()
            .member("file", file)
            .member("ok", run.mismatches.empty())
            .member("expectations", static_cast<std::int64_t>(run.expectations));
        out.key("mismatches").begin_list();
        for (const sim::Mismatch& mismatch : run.mismatches) {
            out.begin_object()
                .member("line", static_cast<std::int64_t>(mismatch.line))
                .member("text", mismatch.text)
                .end_object();
        }
        out.end_list().key("plans").begin_list();
        for (const Plan& plan : run.plans) { out.raw(write_plan(plan)); }
        out.end_list().end_object();
    }
    out.end_list().end_object();
    return out.take() + '\n';
}

Result<> write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) { return fail(Code::unavailable, path + ": can't be written"); }
    return {};
}

/// Rewrites the blocks of those that changed; what still does not hold is told as ever.
Result<> update(std::vector<Ran>& all, Terminal& terminal) {
    for (Ran& ran : all) {
        if (ran.run.updated == ran.text) { continue; }
        MUSTER_CHECK(write_file(ran.file, ran.run.updated));
        terminal.err << ran.file << ": rewritten\n";
        ran.text = ran.run.updated;
        MUSTER_TRY(again, sim::run_scenario(ran.file, ran.text));
        ran.run = std::move(again);
    }
    return {};
}

/// The cluster's facts, a cycle and what came of it, as text that runs.
Result<int> record(const ScenarioOptions& options, Terminal& terminal) {
    if (!options.files.empty()) {
        return fail(Code::invalid, "scenario files beside --cluster; expected one of the two");
    }
    MUSTER_TRY(cluster, load_cluster(options.cluster));
    Scenario scenario;
    for (Fact& fact : cluster.facts) {
        scenario.commands.push_back({.line = 0, .action = std::move(fact)});
    }
    scenario.commands.push_back({.line = 0, .action = RunCycles{}});
    for (const Shown what : {Shown::plan, Shown::waiting, Shown::topology}) {
        scenario.commands.push_back({.line = 0, .action = Show{.what = what, .golden = {}}});
    }
    MUSTER_TRY(run, sim::run_scenario("recorded", write_scenario(scenario)));
    terminal.out << run.updated;
    return exit_good;
}

}  // namespace

Result<int> run_verb(const ScenarioOptions& options, Terminal& terminal) {
    const bool is_recorded = !options.cluster.files.empty() || options.cluster.live.is_told();
    if (is_recorded) { return record(options, terminal); }
    if (options.files.empty()) {
        return fail(Code::invalid, "no scenario files; expected some, or --cluster");
    }
    std::vector<Ran> all;
    for (const std::string& file : options.files) {
        MUSTER_TRY(source, read_source(file));
        MUSTER_TRY(run, sim::run_scenario(source.name, source.text));
        all.push_back({file, std::move(source.text), std::move(run)});
    }
    if (options.is_updating) { MUSTER_CHECK(update(all, terminal)); }

    std::size_t failed = 0;
    std::size_t expectations = 0;
    for (const Ran& ran : all) {
        failed += !ran.run.mismatches.empty();
        expectations += ran.run.expectations;
    }
    const int code = failed == 0 ? exit_good : exit_waits;
    if (options.format == Format::json) {
        terminal.out << write_json(all, failed == 0);
        return code;
    }
    const Paint paint(terminal.has_colour);
    for (const Ran& ran : all) { terminal.out << sim::describe(ran.file, ran.run); }
    const std::string line =
        fmt::format("{}, {}, {} failed", plural(static_cast<std::int64_t>(all.size()), "scenario"),
                    plural(static_cast<std::int64_t>(expectations), "expectation"), failed);
    terminal.out << paint(failed == 0 ? Ink::green : Ink::red, line) << '\n';
    return code;
}

}  // namespace muster::cli
