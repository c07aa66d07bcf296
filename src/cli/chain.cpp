#include "cli/chain.h"

#include "cli/table.h"
#include "cli/words.h"
#include "codec/plan_names.h"
#include "sim/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace muster::cli {

namespace {

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

}  // namespace

std::vector<LinkDecision> chain_of(const World& world, const WorkloadSpec& spec,
                                   const std::optional<Reason>& reason) {
    const Workload& workload = world.workloads[world.find_workload(spec.name).value];
    const bool is_new = std::ranges::any_of(workload.tasks, [](const Task& task) {
        return task.state == TaskState::placed && !task.is_confirmed;
    });
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

std::vector<LinkDecision> refused_chain(std::string_view text) {
    std::vector<LinkDecision> chain = {{ChainLink::submit, Verdict::stopped, std::string(text)}};
    for (const ChainLink link :
         {ChainLink::admit, ChainLink::gang, ChainLink::place, ChainLink::bind}) {
        chain.push_back({link, Verdict::not_reached, "not reached"});
    }
    return chain;
}

void write(JsonWriter& out, const std::vector<LinkDecision>& chain) {
    out.begin_list();
    for (const LinkDecision& decision : chain) {
        out.begin_object()
            .member("link", name_of(decision.link))
            .member("verdict", name_of(decision.verdict))
            .member("text", decision.text)
            .end_object();
    }
    out.end_list();
}

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::passed: return "passed";
        case Verdict::stopped: return "stopped";
        case Verdict::not_reached: return "not_reached";
    }
    return "";
}

}  // namespace muster::cli
