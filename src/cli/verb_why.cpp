#include "cli/change.h"
#include "cli/cluster.h"
#include "cli/reason_text.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/words.h"
#include "codec/json_writer.h"
#include "codec/plan_names.h"
#include "codec/plan_text.h"
#include "engine/world.h"
#include "sim/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace muster::cli {

namespace {

enum class Verdict : std::uint8_t { passed, stopped, not_reached };

/// One link of the chain and what it decided.
struct LinkDecision {
    ChainLink link = ChainLink::submit;
    Verdict verdict = Verdict::not_reached;
    std::string text;
};

/// Full name, or the only one that ends with "/name".
Result<const WorkloadSpec*> find_job(const Cluster& cluster, const std::string& name) {
    std::map<std::string_view, const WorkloadSpec*> known;
    for (const Fact& fact : cluster.facts) {
        if (const auto* set = std::get_if<WorkloadSet>(&fact)) {
            known[set->workload.name] = &set->workload;
        }
        if (const auto* gone = std::get_if<WorkloadGone>(&fact)) { known.erase(gone->workload); }
    }
    if (const auto exact = known.find(name); exact != known.end()) { return exact->second; }
    std::vector<std::string_view> matches;
    for (const auto& [full, spec] : known) {
        if (full.ends_with("/" + name)) { matches.push_back(full); }
    }
    if (matches.size() == 1) { return known.at(matches[0]); }
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

std::string submit_text(const WorkloadSpec& workload) {
    return fmt::format("{}; queue {}, priority {}", workload_in_words(workload), workload.queue,
                       workload.priority);
}

/// The queue and the caps above it, with what is used of them.
std::string admit_text(const World& world, const WorkloadSpec& workload) {
    std::string out = "queue " + workload.queue;
    bool has_cap = false;
    for (QueueId id = world.queues.find(workload.queue); id.is_valid();
         id = world.queues.at(id).parent) {
        const Queue& queue = world.queues.at(id);
        for (const Amount& amount : queue.spec.cap.amounts) {
            if (amount.name != "gpu") { continue; }
            has_cap = true;
            out += fmt::format(", {} of {} GPU used in {}",
                               sim::write_thousandths(queue.usage.gpu_milli),
                               sim::write_thousandths(amount.count), queue.spec.name);
        }
    }
    return has_cap ? out : out + ", which has no cap on GPUs";
}

std::string gang_text(const WorkloadSpec& workload) {
    std::vector<std::string> parts;
    for (const GroupSpec* leaf : leaves_of(workload)) {
        parts.push_back(fmt::format("{}{} of {} together",
                                    leaf->parent >= 0 ? leaf->name + ": " : std::string(),
                                    leaf->minimum, leaf->count));
    }
    for (const GroupSpec& group : workload.groups) {
        const std::string who = group.parent >= 0 ? " for " + group.name : "";
        if (!group.topology.required.empty()) {
            parts.push_back(fmt::format("in one {}{}", group.topology.required, who));
        }
        if (!group.topology.preferred.empty()) {
            parts.push_back(fmt::format("better in one {}{}", group.topology.preferred, who));
        }
    }
    if (!workload.linked.empty()) {
        parts.push_back(fmt::format("linked: {}", fmt::join(workload.linked, ", ")));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string place_text(const World& world, const Workload& workload) {
    std::set<std::string> nodes;
    std::int64_t tasks = 0;
    for (const Task& task : workload.tasks) {
        if (task.state != TaskState::placed) { continue; }
        nodes.insert(world.machines[task.node.value].spec.name);
        ++tasks;
    }
    constexpr std::size_t shown_max = 8;
    const std::size_t shown = std::min(shown_max, nodes.size());
    return fmt::format(
        "{} on {}: {}{}", plural(tasks, "task"),
        plural(static_cast<std::int64_t>(nodes.size()), "node"),
        fmt::join(nodes.begin(), std::next(nodes.begin(), static_cast<std::ptrdiff_t>(shown)),
                  ", "),
        shown < nodes.size() ? ", …" : "");
}

std::vector<LinkDecision> chain_of(const World& world, const WorkloadSpec& spec,
                                   const Workload& workload, const std::optional<Reason>& reason,
                                   bool is_new) {
    std::vector<LinkDecision> chain = {
        {ChainLink::submit, Verdict::passed, submit_text(spec)},
        {ChainLink::admit, Verdict::passed, admit_text(world, spec)},
        {ChainLink::gang, Verdict::passed, gang_text(spec)},
        {ChainLink::place, Verdict::passed, place_text(world, workload)},
        {ChainLink::bind, Verdict::passed,
         is_new ? "starts in this cycle" : "runs, as the cluster says"},
    };
    if (!reason) { return chain; }
    for (LinkDecision& decision : chain) {
        if (decision.link < reason->link) { continue; }
        const bool is_here = decision.link == reason->link;
        decision.verdict = is_here ? Verdict::stopped : Verdict::not_reached;
        decision.text = is_here ? reason->text : "not reached";
    }
    return chain;
}

std::string_view name_of_verdict(Verdict verdict) {
    switch (verdict) {
        case Verdict::passed: return "passed";
        case Verdict::stopped: return "stopped";
        case Verdict::not_reached: return "not_reached";
    }
    return "";
}

void print(const WorkloadSpec& workload, const std::vector<LinkDecision>& chain,
           const std::optional<Reason>& reason, const std::vector<Change>& changes,
           const Paint& paint, std::ostream& out) {
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
    if (!reason) { return; }
    out << '\n' << reason_text(*reason, paint);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        out << fmt::format("  {}{}\n", i == 0 ? "would start now with  " : "                  or  ",
                           changes[i].text);
    }
}

std::string write_json(const WorkloadSpec& workload, const std::vector<LinkDecision>& chain,
                       const std::optional<Reason>& reason, const std::vector<Change>& changes) {
    JsonWriter out;
    out.begin_object()
        .member("workload", workload.name)
        .member("state", reason ? "waits" : "runs")
        .key("chain")
        .begin_list();
    for (const LinkDecision& decision : chain) {
        out.begin_object()
            .member("link", name_of(decision.link))
            .member("verdict", name_of_verdict(decision.verdict))
            .member("text", decision.text)
            .end_object();
    }
    out.end_list().key("reason");
    reason ? write(out, *reason) : static_cast<void>(out.null());
    out.key("changes").begin_list();
    for (const Change& change : changes) {
        out.begin_object().member("kind", change.kind).member("text", change.text).end_object();
    }
    out.end_list().end_object();
    return out.take() + '\n';
}

/// A job that asks for what Muster can't keep never reaches the engine.
bool is_set_aside(const dialect::RefusedWorkload& refused, const std::string& name) {
    return refused.workload == name || refused.workload.ends_with("/" + name);
}

}  // namespace

Result<int> run_verb(const WhyOptions& options, Terminal& terminal) {
    MUSTER_TRY(cluster, load_cluster(options.cluster));
    const auto aside =
        std::ranges::find_if(cluster.refused, [&](const dialect::RefusedWorkload& refused) {
            return is_set_aside(refused, options.job);
        });
    if (aside != cluster.refused.end()) {
        Reason reason;
        reason.link = ChainLink::submit;
        reason.why = Why::unknown_constraint;
        reason.text = fmt::format("{}: {}", aside->place.text(), aside->text);
        reason.wakes = {Wake::never};
        WorkloadSpec workload;
        workload.name = aside->workload;
        std::vector<LinkDecision> chain = {{ChainLink::submit, Verdict::stopped, reason.text}};
        for (const ChainLink link :
             {ChainLink::admit, ChainLink::gang, ChainLink::place, ChainLink::bind}) {
            chain.push_back({link, Verdict::not_reached, "not reached"});
        }
        if (options.format == Format::json) {
            terminal.out << write_json(workload, chain, reason, {});
        } else {
            print(workload, chain, reason, {}, Paint(terminal.has_colour), terminal.out);
        }
        return exit_waits;
    }
    MUSTER_TRY(workload, find_job(cluster, options.job));
    const World& world = cluster.engine.world();
    const WorkloadId id = world.find_workload(workload->name);
    if (!id.is_valid()) { return fail(Code::not_found, workload->name + " is gone"); }
    const std::optional<Reason> reason = cluster.engine.why(workload->name);
    const bool is_new = std::ranges::find(cluster.plan.placements, workload->name,
                                          &Placement::workload) != cluster.plan.placements.end();
    const std::vector<LinkDecision> chain =
        chain_of(world, *workload, world.workloads[world.find_workload(workload->name).value],
                 reason, is_new);
    std::vector<Change> changes;
    if (reason) { changes = changes_that_start(cluster.engine, *workload, *reason); }
    if (options.format == Format::json) {
        terminal.out << write_json(*workload, chain, reason, changes);
    } else {
        print(*workload, chain, reason, changes, Paint(terminal.has_colour), terminal.out);
    }
    return reason ? exit_waits : exit_good;
}

}  // namespace muster::cli
