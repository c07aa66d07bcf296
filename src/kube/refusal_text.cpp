#include "kube/refusal_text.h"

#include "dialect/kubernetes_around.h"
#include "dialect/kubernetes_gpu.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace muster::kube {

namespace {

bool is_of_volumes(const TaskSpec& task) {
    const auto& all = task.request.extended;
    return !all.empty() && std::all_of(all.begin(), all.end(), [](const Amount& amount) {
        return amount.name.starts_with(dialect::attach_prefix);
    });
}

/// Which of them it is, the engine does not tell.
std::string selector_text(const TaskSpec& task) {
    std::vector<std::string> all;
    if (!task.required.empty() || !task.node_selector.empty()) {
        all.emplace_back("node(s) didn't match Pod's node affinity/selector");
    }
    bool has_vendor = false;
    bool has_volume = false;
    for (const NodeTerm& term : task.implied) {
        for (const LabelMatch& match : term.matches) {
            (match.key == dialect::vendor_label ? has_vendor : has_volume) = true;
        }
    }
    if (has_volume) { all.emplace_back("node(s) had volume node affinity conflict"); }
    if (has_vendor) {
        all.push_back(fmt::format("Insufficient {}", dialect::gpu_resource_of(task)));
    }
    return fmt::format("{}", fmt::join(all, ", or "));
}

std::string cause_text(Cause cause, const TaskSpec& task) {
    switch (cause) {
        case Cause::not_ready: return "node(s) were not ready";
        case Cause::cordoned: return "node(s) were unschedulable";
        case Cause::taint: return "node(s) had untolerated taint(s)";
        case Cause::selector: return selector_text(task);
        case Cause::pod_affinity: return "node(s) didn't match pod affinity/anti-affinity rules";
        case Cause::gpu_model: return "node(s) had no GPU of an allowed model";
        case Cause::gpu_total:
        case Cause::gpu_free:
        case Cause::gpu_share:
            return fmt::format("Insufficient {}", dialect::gpu_resource_of(task));
        case Cause::mig_profile:
        case Cause::mig_free:
            return fmt::format("Insufficient nvidia.com/mig-{}", task.gpu.profile);
        case Cause::cpu: return "Insufficient cpu";
        case Cause::memory: return "Insufficient memory";
        case Cause::pods: return "Too many pods";
        case Cause::extended:
            return is_of_volumes(task) ? "node(s) exceed max volume count"
                                       : "Insufficient extended resources";
        case Cause::numa: return "node(s) had no NUMA zone with room";
    }
    return {};
}

}  // namespace

std::string pod_refusal_text(const Reason& reason, const TaskSpec& task, bool is_alone) {
    const bool is_of_nodes = reason.why == Why::no_room || reason.why == Why::too_large;
    if (!is_alone || !is_of_nodes || reason.nodes == 0 || reason.causes.empty()) {
        return reason.text;
    }
    // One node counts once for each text.
    std::vector<std::pair<std::string, std::int64_t>> counts;
    for (const CauseCount& cause : reason.causes) {
        const std::string text = cause_text(cause.cause, task);
        const auto same = std::find_if(counts.begin(), counts.end(),
                                       [&](const auto& count) { return count.first == text; });
        if (same == counts.end()) {
            counts.emplace_back(text, cause.nodes);
        } else {
            same->second = std::min(same->second + cause.nodes, reason.nodes);
        }
    }
    std::string out = fmt::format("0/{} nodes are available:", reason.nodes);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        out += fmt::format("{} {} {}", i == 0 ? "" : ",", counts[i].second, counts[i].first);
    }
    return fmt::format("{}. {}", out, reason.text);
}

std::string gang_refusal_text(const Reason& reason, const GangCounts& gang) {
    const bool is_of_tasks =
        reason.why == Why::no_room || reason.why == Why::too_large || reason.why == Why::no_domain;
    const std::int64_t short_of = is_of_tasks ? reason.needed - reason.have : gang.pending;
    const std::int64_t none = std::clamp<std::int64_t>(short_of, 0, gang.pending);
    const std::int64_t running = gang.all - gang.pending - gang.finished;
    std::string out =
        fmt::format("{}/{} tasks in gang unschedulable: pod group is not ready", none, gang.all);
    if (running > 0) { out += fmt::format(", {} Running", running); }
    if (gang.finished > 0) { out += fmt::format(", {} Finished", gang.finished); }
    out += fmt::format(", {} Pending, {} minAvailable; Pending: {} Unschedulable", gang.pending,
                       gang.minimum, none);
    if (none < gang.pending) { out += fmt::format(", {} Schedulable", gang.pending - none); }
    return fmt::format("{}. {}", out, reason.text);
}

}  // namespace muster::kube
