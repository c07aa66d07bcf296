#include "dialect/lint.h"

#include "dialect/lint_pod.h"
#include "model/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace muster::dialect {

namespace {

/// What of the cluster the checks need.
struct Shapes {
    std::vector<NodeSpec> nodes;
    std::set<std::string> queues{"default"};
    std::vector<Level> levels;
    bool has_levels = false;

    void add(const std::vector<Fact>& facts) {
        for (const Fact& fact : facts) {
            if (const auto* node = std::get_if<NodeSet>(&fact)) { nodes.push_back(node->node); }
            if (const auto* queue = std::get_if<QueueSet>(&fact)) {
                queues.insert(queue->queue.name);
            }
            if (const auto* topology = std::get_if<TopologySet>(&fact)) {
                levels = topology->levels;
            }
        }
    }
};

template <class List, class Name>
std::string join(const List& list, Name name_of) {
    constexpr std::size_t shown_max = 8;
    std::string out;
    std::size_t shown = 0;
    for (const auto& entry : list) {
        if (shown++ == shown_max) { return out + " …"; }
        out += fmt::format("{}{}", out.empty() ? "" : ", ", name_of(entry));
    }
    return out.empty() ? "none" : out;
}

bool is_level(const Shapes& shapes, const std::string& name) {
    if (name.empty() || name == "node" || name == "kubernetes.io/hostname") { return true; }
    return std::any_of(shapes.levels.begin(), shapes.levels.end(),
                       [&](const Level& level) { return level.name == name || level.key == name; });
}

bool holds(const NodeSpec& node, const TaskSpec& task) {
    const Resources& has = node.allocatable;
    const bool is_fractional = task.gpu.kind == GpuKind::mig || task.gpu.kind == GpuKind::none;
    const auto gpus = static_cast<std::int64_t>(node.gpus.size());
    if (!is_fractional && gpus < task.gpu.count) { return false; }
    if (task.gpu.kind == GpuKind::mig && gpus == 0) { return false; }
    for (const Amount& amount : task.request.extended) {
        const auto found =
            std::find_if(has.extended.begin(), has.extended.end(),
                         [&](const Amount& known) { return known.name == amount.name; });
        if (amount.count > 0 && (found == has.extended.end() || found->count < amount.count)) {
            return false;
        }
    }
    return has.milli_cpu >= task.request.milli_cpu && has.memory >= task.request.memory;
}

std::string describe(const TaskSpec& task) {
    std::string out;
    const auto add = [&](std::string part) { out += (out.empty() ? "" : ", ") + std::move(part); };
    if (task.gpu.kind == GpuKind::mig) {
        add(fmt::format("{} × MIG {}", task.gpu.count, task.gpu.profile));
    }
    if (task.gpu.kind == GpuKind::whole) { add(fmt::format("{} GPU", task.gpu.count)); }
    if (task.gpu.kind == GpuKind::share) { add(fmt::format("a share of {} GPU", task.gpu.count)); }
    if (task.request.milli_cpu > 0) { add(fmt::format("{} milli-CPU", task.request.milli_cpu)); }
    if (task.request.memory > 0) { add(fmt::format("{} MiB", task.request.memory >> 20)); }
    for (const Amount& amount : task.request.extended) {
        add(fmt::format("{} {}", amount.count, amount.name));
    }
    return out;
}

std::string largest(const Shapes& shapes) {
    std::int64_t gpus = 0;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    for (const NodeSpec& node : shapes.nodes) {
        gpus = std::max(gpus, static_cast<std::int64_t>(node.gpus.size()));
        cpu = std::max(cpu, node.allocatable.milli_cpu);
        memory = std::max(memory, node.allocatable.memory);
    }
    return fmt::format("the most of each that any node has is {} GPU, {} milli-CPU, {} MiB", gpus,
                       cpu, memory >> 20);
}

void lint_shapes(const WorkloadSpec& workload, const Place& place, const Shapes& shapes,
                 std::vector<Finding>& findings) {
    std::int64_t gpus_needed = 0;
    std::set<std::int32_t> parents;
    for (const GroupSpec& group : workload.groups) { parents.insert(group.parent); }
    for (std::size_t i = 0; i < workload.groups.size(); ++i) {
        const GroupSpec& group = workload.groups[i];
        if (parents.contains(static_cast<std::int32_t>(i))) { continue; }
        if (group.task.gpu.kind == GpuKind::whole) {
            gpus_needed += std::int64_t{group.minimum} * group.task.gpu.count;
        }
        const bool has_home =
            std::any_of(shapes.nodes.begin(), shapes.nodes.end(),
                        [&](const NodeSpec& node) { return holds(node, group.task); });
        if (has_home) { continue; }
        findings.push_back({Severity::error, place,
                            fmt::format("no node can hold one task of {}: it asks for {}; {}",
                                        group.name, describe(group.task), largest(shapes)),
                            "split the task into smaller ones, or add such a node"});
        return;
    }
    std::int64_t gpus = 0;
    for (const NodeSpec& node : shapes.nodes) {
        gpus += static_cast<std::int64_t>(node.gpus.size());
    }
    // With parts that need not all run, the sum says too much.
    const bool all_must =
        std::all_of(workload.groups.begin(), workload.groups.end(), [&](const GroupSpec& group) {
            const auto index = static_cast<std::int32_t>(&group - workload.groups.data());
            const auto children =
                std::count_if(workload.groups.begin(), workload.groups.end(),
                              [&](const GroupSpec& child) { return child.parent == index; });
            return children == 0 || group.minimum >= children;
        });
    if (all_must && gpus_needed > gpus) {
        findings.push_back(
            {Severity::error, place,
             fmt::format("the gang's minimum asks for {} GPU, the whole cluster has {}",
                         gpus_needed, gpus),
             "lower the minimum, or add nodes"});
    }
}

void lint_references(const WorkloadSpec& workload, const Place& place, const Shapes& shapes,
                     std::vector<Finding>& findings) {
    if (!shapes.queues.contains(workload.queue)) {
        findings.push_back(
            {Severity::error, place, fmt::format("queue \"{}\" is not known", workload.queue),
             fmt::format("known queues: {}",
                         join(shapes.queues, [](const std::string& q) { return q; }))});
    }
    std::set<std::string> told;
    for (const GroupSpec& group : workload.groups) {
        for (const std::string& level : {group.topology.required, group.topology.preferred}) {
            if (is_level(shapes, level) || !told.insert(level).second) { continue; }
            findings.push_back(
                {Severity::error, place, fmt::format("topology level \"{}\" is not known", level),
                 fmt::format("known levels: {}",
                             join(shapes.levels, [](const Level& l) { return l.name; }))});
        }
    }
}

/// HAMi's resources on a cluster where no node has its driver.
void lint_shares(const WorkloadSpec& workload, const Place& place, const KubernetesContext& context,
                 std::vector<Finding>& findings) {
    const bool is_shared =
        std::any_of(workload.groups.begin(), workload.groups.end(),
                    [](const GroupSpec& group) { return group.task.gpu.kind == GpuKind::share; });
    if (!is_shared || context.has_share_driver) { return; }
    findings.push_back({Severity::warning, place,
                        "asks for a share of a GPU, and no node has a driver that enforces one",
                        "install HAMi on the nodes, or use MIG instances"});
}

}  // namespace

Result<std::vector<Finding>> lint(std::span<const SourceText> jobs, const ClusterInput* cluster) {
    MUSTER_TRY(documents, read_documents(jobs));
    std::vector<Finding> findings;
    for (const Document& document : documents.all()) { lint_object(document, findings); }
    lint_groups(documents, findings);

    JobReading reading =
        inspect_jobs(documents, cluster != nullptr ? cluster->context : KubernetesContext{});
    for (const Fault& fault : reading.faults) {
        // What a check above has said better is said once.
        const bool is_told =
            std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
                return finding.severity == Severity::error && finding.place == fault.place;
            });
        if (!is_told) { findings.push_back({Severity::error, fault.place, fault.text, ""}); }
    }
    for (const Warning& warning : reading.input.warnings) {
        findings.push_back({Severity::warning, warning.place, warning.text, ""});
    }
    if (cluster == nullptr) { return findings; }
    Shapes shapes;
    shapes.add(cluster->facts);
    shapes.add(reading.input.facts);
    for (std::size_t i = 0; i < reading.input.workloads.size(); ++i) {
        const WorkloadSpec& workload = reading.input.workloads[i];
        const Place& place = reading.places[i];
        lint_references(workload, place, shapes, findings);
        lint_shapes(workload, place, shapes, findings);
        lint_shares(workload, place, cluster->context, findings);
    }
    return findings;
}

}  // namespace muster::dialect
