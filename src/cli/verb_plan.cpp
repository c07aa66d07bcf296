#include "cli/change.h"
#include "cli/cluster.h"
#include "cli/live_cluster.h"
#include "cli/reason_text.h"
#include "cli/remote.h"
#include "cli/slowdown.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "cli/verbs.h"
#include "cli/words.h"
#include "codec/json_writer.h"
#include "codec/plan_text.h"
#include "engine/world.h"
#include "kube/client.h"
#include "lab/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace muster::cli {

namespace {

struct Answer {
    WorkloadSpec workload;
    std::variant<Placement, Reason> answer;
    std::optional<Slowdown> slowdown;
    std::vector<Change> changes;
};

/// Everything is submitted in the order of the files, and each is told what one cycle decided.
Result<std::vector<Answer>> decide(Cluster& cluster, const dialect::JobInput& jobs,
                                   std::int32_t sensitivity_percent) {
    for (const Fact& fact : jobs.facts) { MUSTER_CHECK(cluster.engine.apply(fact)); }
    std::vector<Answer> answers;
    for (const WorkloadSpec& workload : jobs.workloads) {
        if (cluster.engine.world().find_workload(workload.name).is_valid()) {
            return fail(Code::conflict,
                        fmt::format("{} is in the cluster already; expected a new name, or ask "
                                    "muster why {}",
                                    workload.name, workload.name));
        }
    }
    for (const WorkloadSpec& workload : jobs.workloads) {
        MUSTER_CHECK(cluster.engine.apply(Fact(WorkloadSet{workload})));
    }
    const Plan plan = cluster.engine.cycle();
    for (const WorkloadSpec& workload : jobs.workloads) {
        Answer& answer = answers.emplace_back(Answer{workload, Reason{}, std::nullopt, {}});
        const auto placed = std::ranges::find(plan.placements, workload.name, &Placement::workload);
        if (placed != plan.placements.end()) {
            answer.answer = *placed;
            answer.slowdown = slowdown_of(*placed, cluster.engine.world(), sensitivity_percent);
            continue;
        }
        Reason reason = cluster.engine.why(workload.name).value_or(Reason{});
        answer.changes = changes_that_start(cluster.engine, workload, reason);
        answer.answer = std::move(reason);
    }
    return answers;
}

std::string slowdown_text(const Slowdown& slowdown) {
    return fmt::format("{}.{:02} × the time on one NVLink node: {}, {} GB/s per GPU instead of {}",
                       slowdown.percent / 100, slowdown.percent % 100, words_of(slowdown.reach),
                       slowdown.gbs, slowdown.best_gbs);
}

void print_placement(const Answer& answer, const Placement& placement, const Paint& paint,
                     std::ostream& out) {
    const std::int64_t asked = task_count(answer.workload);
    const auto placed = static_cast<std::int64_t>(placement.tasks.size());
    const std::string who = asked == 1 ? ""
                            : placed == asked
                                ? fmt::format(" all {}", plural(asked, "task"))
                                : fmt::format(" {} of {}", placed, plural(asked, "task"));
    out << fmt::format("{} {}{} {}\n", paint(Ink::bold, answer.workload.name),
                       paint(Ink::green, asked == 1 ? "starts now" : "starts now:"), who,
                       where_in_words(placement));
    out << fmt::format("  asks for  {}\n", workload_in_words(answer.workload));
    if (answer.slowdown && answer.slowdown->percent > 100) {
        out << fmt::format("  distance  {}\n", slowdown_text(*answer.slowdown));
    }
    Table table({{"rank", Align::right}, {"task"}, {"node"}, {"devices"}});
    constexpr std::size_t rows_max = 64;
    for (std::size_t rank = 0; rank < std::min(placement.tasks.size(), rows_max); ++rank) {
        const TaskPlace& place = placement.tasks[rank];
        table.add({fmt::format("{}", rank), task_in_words(answer.workload, place.task), place.node,
                   devices_in_words(place)});
    }
    out << '\n' << table.text(paint, "  ");
    if (placement.tasks.size() > rows_max) {
        out << fmt::format("  … {} more; -o json has them all\n",
                           placement.tasks.size() - rows_max);
    }
}

void print_reason(const Answer& answer, const Reason& reason, const Paint& paint,
                  std::ostream& out) {
    out << fmt::format("{} {}: {}\n", paint(Ink::bold, answer.workload.name),
                       paint(Ink::yellow, "waits and holds nothing"), reason.text);
    out << fmt::format("  asks for  {}\n", workload_in_words(answer.workload));
    out << reason_text(reason, paint);
    for (std::size_t i = 0; i < answer.changes.size(); ++i) {
        out << fmt::format("  {}{}\n", i == 0 ? "would start now with  " : "                  or  ",
                           answer.changes[i].text);
    }
}

void write(JsonWriter& out, const Answer& answer) {
    const auto* placement = std::get_if<Placement>(&answer.answer);
    out.begin_object()
        .member("workload", answer.workload.name)
        .member("starts", placement != nullptr)
        .member("tasks", task_count(answer.workload));
    out.key("placement");
    placement == nullptr ? static_cast<void>(out.null()) : muster::write(out, *placement);
    out.key("slowdown");
    if (answer.slowdown) {
        out.begin_object()
            .member("percent", answer.slowdown->percent)
            .member("reach", words_of(answer.slowdown->reach))
            .member("gb_per_second", answer.slowdown->gbs)
            .member("best_gb_per_second", answer.slowdown->best_gbs)
            .end_object();
    } else {
        out.null();
    }
    out.key("reason");
    placement != nullptr ? static_cast<void>(out.null())
                         : muster::write(out, std::get<Reason>(answer.answer));
    out.key("changes").begin_list();
    for (const Change& change : answer.changes) {
        out.begin_object().member("kind", change.kind).member("text", change.text).end_object();
    }
    out.end_list().end_object();
}

Result<> check_namespace(const std::string& name) {
    if (lab::check_dns_label(name).empty()) { return {}; }
    return fail(Code::invalid, "the namespace: expected at most 63 of a-z, 0-9 and '-' in between");
}

}  // namespace

Result<int> tell_plan(Cluster& cluster, std::span<const SourceText> sources,
                      std::int32_t sensitivity_percent, Format format, Terminal& terminal) {
    for (const SourceText& source : sources) { MUSTER_CHECK(check_namespace(source.name_space)); }
    MUSTER_TRY(jobs, dialect::read_jobs(sources, cluster.context));
    if (jobs.workloads.empty()) {
        return fail(Code::invalid,
                    fmt::format("{}: no job; expected a Pod, a Job or another workload",
                                sources.empty() ? "nothing" : sources.front().name));
    }
    MUSTER_TRY(answers, decide(cluster, jobs, sensitivity_percent));
    const bool all_start = std::ranges::all_of(answers, [](const Answer& answer) {
        return std::holds_alternative<Placement>(answer.answer);
    });
    const int code = all_start ? exit_good : exit_waits;
    if (format == Format::json) {
        JsonWriter out;
        out.begin_object().member("starts", all_start).key("workloads").begin_list();
        for (const Answer& answer : answers) { write(out, answer); }
        out.end_list().key("warnings").begin_list();
        for (const dialect::Warning& warning : jobs.warnings) { out.value(warning.message()); }
        out.end_list().end_object();
        terminal.out << out.text() << '\n';
        return code;
    }
    const Paint paint(terminal.has_colour);
    for (const dialect::Warning& warning : cluster.warnings) {
        terminal.err << paint(Ink::yellow, "note: ") << warning.message() << '\n';
    }
    for (const dialect::Warning& warning : jobs.warnings) {
        terminal.err << paint(Ink::yellow, "note: ") << warning.message() << '\n';
    }
    bool is_first = true;
    for (const Answer& answer : answers) {
        if (!is_first) { terminal.out << '\n'; }
        is_first = false;
        if (const auto* placement = std::get_if<Placement>(&answer.answer)) {
            print_placement(answer, *placement, paint, terminal.out);
        } else {
            print_reason(answer, std::get<Reason>(answer.answer), paint, terminal.out);
        }
    }
    return code;
}

namespace {

/// As kubectl has it. Of a cluster in files, and of a server at a URL, nobody knows a context.
std::string space_of(const PlanOptions& options) {
    if (!options.space.empty()) { return options.space; }
    const bool has_context =
        options.cluster.files.empty() &&
        (!asks_remote(options.cluster) || !options.cluster.remote.service.empty());
    return has_context ? namespace_of_context(options.cluster.live) : "default";
}

}  // namespace

Result<int> run_verb(const PlanOptions& options, Terminal& terminal) {
    MUSTER_TRY(sources, read_sources(options.jobs));
    const std::string space = space_of(options);
    for (SourceText& source : sources) { source.name_space = space; }
    // Schedulers that are older know no other.
    const std::string of_space =
        space == "default" ? "" : "&namespace=" + kube::escape_query(space);
    if (asks_remote(options.cluster)) {
        return tell_remote(
            options.cluster,
            {.path = "plan",
             .query = fmt::format("&sensitivity={}&name={}{}", options.sensitivity_percent,
                                  kube::escape_query(sources.front().name), of_space),
             .body = one_text(sources)},
            options.format, terminal);
    }
    MUSTER_TRY(cluster, load_cluster(options.cluster));
    return tell_plan(cluster, sources, options.sensitivity_percent, options.format, terminal);
}

}  // namespace muster::cli
