#include "cli/chain.h"
#include "cli/change.h"
#include "cli/cluster.h"
#include "cli/live_cluster.h"
#include "cli/reason_text.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"
#include "codec/plan_names.h"
#include "codec/plan_text.h"
#include "engine/world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

namespace muster::cli {

namespace {

struct Found {
    WorkloadSpec workload;
    const dialect::RefusedWorkload* aside = nullptr;  // it never reaches the engine
};

/// Full name, or the only one that ends with "/name".
Result<Found> find_job(const Cluster& cluster, const std::string& name) {
    std::map<std::string_view, const WorkloadSpec*> known;  // null: set aside
    const Snapshot snapshot = cluster.engine.snapshot();
    for (const auto& refused : cluster.refused) { known[refused.workload] = nullptr; }
    for (const WorkloadStatus& status : snapshot.workloads) {
        known[status.spec.name] = &status.spec;
    }
    const auto found = [&](std::string_view full) {
        if (const WorkloadSpec* spec = known.at(full)) { return Found{*spec, nullptr}; }
        Found out;
        out.workload.name = full;
        out.aside = &*std::ranges::find(cluster.refused, full, &dialect::RefusedWorkload::workload);
        return out;
    };
    if (known.contains(name)) { return found(name); }
    std::vector<std::string_view> matches;
    for (const auto& [full, spec] : known) {
        if (full.ends_with("/" + name)) { matches.push_back(full); }
    }
    if (matches.size() == 1) { return found(matches[0]); }
    if (matches.size() > 1) {
        return fail(Code::invalid,
                    fmt::format("'{}' is {}; expected one of them with its namespace", name,
                                fmt::join(matches, " and ")));
    }
    constexpr std::size_t shown_max = 10;
    std::vector<std::string_view> some;
    for (const auto& [full, spec] : known) {
        if (some.size() < shown_max) { some.push_back(full); }
    }
    return fail(
        Code::not_found,
        fmt::format("no job '{}' in the cluster; it has {}{}", name,
                    some.empty() ? std::string("none") : fmt::format("{}", fmt::join(some, ", ")),
                    known.size() > shown_max ? ", …" : ""));
}

void print(const WorkloadSpec& workload, const std::vector<LinkDecision>& chain,
           const std::optional<Reason>& reason, const std::vector<Change>& changes,
           const std::vector<std::string>& notes, const Paint& paint, std::ostream& out) {
    out << fmt::format("{} {}\n\n", paint(Ink::bold, workload.name),
                       reason ? paint(Ink::yellow, "waits") : paint(Ink::green, "runs"));
    for (const LinkDecision& decision : chain) {
        const bool is_stop = decision.verdict == Verdict::stopped;
        const bool is_passed = decision.verdict == Verdict::passed;
        const std::string mark = is_passed ? paint(Ink::green, "ok  ")
                                 : is_stop ? paint(Ink::yellow, "stop")
                                           : paint(Ink::dim, "–   ");
        out << fmt::format("  {} {:7} {}\n", mark, name_of(decision.link),
                           is_passed || is_stop ? decision.text : paint(Ink::dim, decision.text));
    }
    for (const std::string& note : notes) {
        out << fmt::format("  {} {}\n", paint(Ink::yellow, "note"), note);
    }
    if (!reason) { return; }
    out << '\n' << reason_text(*reason, paint);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        out << fmt::format("  {}{}\n", i == 0 ? "would start now with  " : "                  or  ",
                           changes[i].text);
    }
}

std::string write_json(const WorkloadSpec& workload, const std::vector<LinkDecision>& chain,
                       const std::optional<Reason>& reason, const std::vector<Change>& changes,
                       const std::vector<std::string>& notes) {
    JsonWriter out;
    out.begin_object()
        .member("workload", workload.name)
        .member("state", reason ? "waits" : "runs")
        .key("chain");
    write(out, chain);
    out.key("reason");
    reason ? muster::write(out, *reason) : static_cast<void>(out.null());
    out.key("changes").begin_list();
    for (const Change& change : changes) {
        out.begin_object().member("kind", change.kind).member("text", change.text).end_object();
    }
    out.end_list();
    out.key("notes").begin_list();
    for (const std::string& note : notes) { out.value(note); }
    out.end_list().end_object();
    return out.take() + '\n';
}

}  // namespace

Result<int> tell_why(Cluster& cluster, const std::string& job, Format format, Terminal& terminal,
                     const Notes& notes_of) {
    MUSTER_TRY(found, find_job(cluster, job));
    const auto& [workload, aside] = found;
    std::vector<LinkDecision> chain;
    std::optional<Reason> reason;
    std::vector<Change> changes;
    std::vector<std::string> notes;
    if (aside != nullptr) {
        reason.emplace();
        reason->link = ChainLink::submit;
        reason->why = aside->why;
        const std::string where = aside->place.text();
        reason->text = where.empty() ? aside->text : fmt::format("{}: {}", where, aside->text);
        if (aside->why != Why::pods_missing) { reason->wakes = {Wake::never}; }
        chain = refused_chain(reason->text);
    } else {
        reason = cluster.engine.why(workload.name);
        chain = chain_of(cluster.engine.world(), workload, reason);
        if (reason) { changes = changes_that_start(cluster.engine, workload, *reason); }
        if (notes_of) { notes = notes_of(workload.name); }
    }
    if (format == Format::json) {
        terminal.out << write_json(workload, chain, reason, changes, notes);
    } else {
        print(workload, chain, reason, changes, notes, Paint(terminal.has_colour), terminal.out);
    }
    return reason ? exit_waits : exit_good;
}

Result<int> run_verb(const WhyOptions& options, Terminal& terminal) {
    const std::string job = options.space.empty() || options.job.find('/') != std::string::npos
                                ? options.job
                                : options.space + "/" + options.job;
    if (asks_remote(options.cluster)) {
        return tell_remote(options.cluster, {.path = "why/" + escape_path(job)}, options.format,
                           terminal);
    }
    MUSTER_TRY(cluster, load_cluster(options.cluster));
    Notes notes;
    if (options.cluster.files.empty()) {
        notes = [&](const std::string& workload) {
            return read_notes(options.cluster.live, workload);
        };
    }
    return tell_why(cluster, job, options.format, terminal, notes);
}

}  // namespace muster::cli
