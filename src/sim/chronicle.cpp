#include "sim/chronicle.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace muster::sim {

namespace {

constexpr std::int64_t milli = 1'000;
constexpr std::int64_t mig_slices = 7;

std::int64_t units(std::int64_t in_milli) { return (in_milli + milli - 1) / milli; }

/// A share by memory alone counts as the whole GPU, a MIG profile "2g.20gb" as so many sevenths.
std::int64_t gpu_milli_of(const GpuNeed& need) {
    switch (need.kind) {
        case GpuKind::none: return 0;
        case GpuKind::whole: return need.count * milli;
        case GpuKind::share: return need.count * (need.milli > 0 ? need.milli : milli);
        case GpuKind::mig: {
            const char first = need.profile.empty() ? '7' : need.profile.front();
            return need.count * (first >= '1' && first <= '7' ? first - '0' : mig_slices) * milli /
                   mig_slices;
        }
    }
    return 0;
}

}  // namespace

void Chronicle::set_node(std::int64_t at, const NodeSpec& node) {
    const auto [found, is_new] =
        node_numbers_.emplace(node.name, static_cast<std::int32_t>(nodes_.size()));
    if (is_new) { nodes_.emplace_back(); }
    const auto number = static_cast<std::size_t>(found->second);
    const std::int64_t sizes[] = {static_cast<std::int64_t>(node.gpus.size()) * milli,
                                  node.allocatable.milli_cpu};
    gpus_.set_size(at, number, sizes[0]);
    cpus_.set_size(at, number, sizes[1]);
    for (std::size_t i = 0; i < 2; ++i) {
        nodes_[number].units_max[i] = std::max(nodes_[number].units_max[i], units(sizes[i]));
    }
}

std::vector<std::uint32_t> Chronicle::drop_node(std::int64_t at, const std::string& node) {
    std::vector<std::uint32_t> out;
    const auto found = node_numbers_.find(node);
    if (found == node_numbers_.end()) { return out; }
    const auto number = static_cast<std::size_t>(found->second);
    const auto lost = nodes_[number].tasks;
    for (const auto& [work, task] : lost) {
        let_go(at, work, task);
        const bool holds_more = std::ranges::any_of(
            works_[work].tasks, [](const TaskUse& use) { return use.node >= 0; });
        if (holds_more) { continue; }
        release(work);
        out.push_back(work);
    }
    gpus_.set_size(at, number, 0);
    cpus_.set_size(at, number, 0);
    return out;
}

std::uint32_t Chronicle::add(std::int64_t at, const WorkloadSpec& spec) {
    Work& work = works_.emplace_back();
    work.job.name = spec.name;
    work.job.user = spec.user;
    work.job.queue = spec.queue;
    if (spec.priority != 0) { work.job.priority_class = fmt::format("priority {}", spec.priority); }
    if (spec.runtime_estimate_s > 0) { work.job.requested_s = spec.runtime_estimate_s; }
    for (std::size_t i = 0; i < spec.groups.size(); ++i) {
        const GroupSpec& group = spec.groups[i];
        const bool is_leaf = std::ranges::none_of(spec.groups, [&](const GroupSpec& other) {
            return other.parent == static_cast<std::int32_t>(i);
        });
        if (!is_leaf) { continue; }
        work.tasks.insert(work.tasks.end(), static_cast<std::size_t>(group.count),
                          TaskUse{.gpu_milli = gpu_milli_of(group.task.gpu),
                                  .milli_cpu = group.task.request.milli_cpu});
    }
    lives_.push_back({.submitted = at});
    return static_cast<std::uint32_t>(works_.size() - 1);
}

void Chronicle::hold(std::int64_t at, std::uint32_t work, std::uint32_t task,
                     const std::string& node) {
    const auto found = node_numbers_.find(node);
    if (found == node_numbers_.end() || task >= works_[work].tasks.size()) { return; }
    let_go(at, work, task);
    TaskUse& use = works_[work].tasks[task];
    use.node = use.last_node = found->second;
    const auto number = static_cast<std::size_t>(use.node);
    nodes_[number].tasks.emplace(work, task);
    gpus_.use(at, number, use.gpu_milli);
    cpus_.use(at, number, use.milli_cpu);
    if (lives_[work].start < 0) { lives_[work].start = at; }
}

void Chronicle::release(std::uint32_t work) {
    lives_[work].start = -1;
    for (TaskUse& task : works_[work].tasks) { task.last_node = -1; }
}

void Chronicle::let_go(std::int64_t at, std::uint32_t work, std::uint32_t task) {
    if (task >= works_[work].tasks.size()) { return; }
    TaskUse& use = works_[work].tasks[task];
    if (use.node < 0) { return; }
    const auto number = static_cast<std::size_t>(use.node);
    gpus_.use(at, number, -use.gpu_milli);
    cpus_.use(at, number, -use.milli_cpu);
    nodes_[number].tasks.erase({work, task});
    use.node = -1;
}

void Chronicle::end(std::int64_t at, std::uint32_t work) {
    for (std::uint32_t i = 0; i < works_[work].tasks.size(); ++i) { let_go(at, work, i); }
    if (lives_[work].is_running()) { lives_[work].end = at; }
}

bool Chronicle::is_held(std::uint32_t work, std::uint32_t task, const std::string& node) const {
    const auto found = node_numbers_.find(node);
    return found != node_numbers_.end() && task < works_[work].tasks.size() &&
           works_[work].tasks[task].node == found->second;
}

std::size_t Chronicle::task_count(std::uint32_t work) const { return works_[work].tasks.size(); }

JobUnit Chronicle::unit() const {
    const bool has_gpus =
        std::ranges::any_of(nodes_, [](const Node& node) { return node.units_max[0] > 0; });
    return has_gpus ? JobUnit::gpu : JobUnit::processor;
}

JobTrace Chronicle::trace(std::string name) const {
    JobTrace out{.name = std::move(name), .unit = unit()};
    for (std::size_t i = 0; i < works_.size(); ++i) {
        Job& job = out.jobs.emplace_back(works_[i].job);
        job.submit_s = lives_[i].submitted / milli;
        std::int64_t sum = 0;
        for (const TaskUse& task : works_[i].tasks) {
            sum += out.unit == JobUnit::gpu ? task.gpu_milli : task.milli_cpu;
        }
        job.size = units(sum);
    }
    return out;
}

JobRun Chronicle::run(std::string policy) const {
    const std::size_t which = unit() == JobUnit::gpu ? 0 : 1;
    JobRun out{.policy = std::move(policy), .machine = {.nodes = 0}};
    for (const Node& node : nodes_) {
        ++out.machine.nodes;
        out.machine.per_node = std::max(out.machine.per_node, node.units_max[which]);
    }
    for (std::size_t i = 0; i < works_.size(); ++i) {
        JobOutcome& outcome = out.outcomes.emplace_back();
        outcome.is_skipped = lives_[i].was_running;
        if (lives_[i].start < 0) { continue; }
        outcome.start_s = lives_[i].start / milli;
        outcome.end_s = std::max(lives_[i].start, lives_[i].end) / milli;
        std::map<std::int32_t, std::int64_t> by_node;
        for (const TaskUse& use : works_[i].tasks) {
            if (use.last_node < 0) { continue; }
            by_node[use.last_node] += which == 0 ? use.gpu_milli : use.milli_cpu;
        }
        outcome.first_part = static_cast<std::uint32_t>(out.parts.size());
        outcome.part_count = static_cast<std::uint32_t>(by_node.size());
        for (const auto& [node, sum] : by_node) { out.parts.push_back({node, units(sum)}); }
    }
    return out;
}

}  // namespace muster::sim
