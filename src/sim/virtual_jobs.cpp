#include "sim/virtual_jobs.h"

#include "base/text.h"
#include "model/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace muster::sim {

namespace {

constexpr std::string_view leaf = "leaf";

std::uint32_t number_of(std::string_view name) {
    std::uint32_t number = 0;
    for (const char digit : name.substr(1)) {
        number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return number;
}

}  // namespace

VirtualJobs::VirtualJobs(const JobTrace& trace, VirtualJobsOptions options)
    : trace_(trace),
      options_(std::move(options)) {
    run_.policy = "muster";
    run_.machine = options_.machine;
    run_.outcomes.resize(trace.jobs.size());
    ordered_.resize(trace.jobs.size());
    parts_.resize(trace.jobs.size());
    if (!trace.jobs.empty()) { origin_s_ = now_s_ = trace.jobs.front().submit_s; }
}

/// A machine whose nodes do not matter is one node for each processor.
void VirtualJobs::set_up(std::vector<Fact>& facts) const {
    const Machine& machine = options_.machine;
    const bool has_gpus = trace_.unit == JobUnit::gpu;
    const std::int64_t nodes = has_gpus ? machine.nodes : machine.capacity();
    const std::int32_t per_leaf = options_.stretch.nodes_per_leaf;
    if (per_leaf > 0) { facts.emplace_back(TopologySet{{{std::string(leaf), std::string(leaf)}}}); }
    for (std::int64_t i = 0; i < nodes; ++i) {
        NodeSpec node;
        node.name = fmt::format("n{}", i);
        node.allocatable.milli_cpu = has_gpus ? 0 : 1'000;
        node.pods = 1'000;
        if (has_gpus) {
            node.gpus.resize(static_cast<std::size_t>(machine.per_node));
            for (GpuSpec& gpu : node.gpus) { gpu.model = options_.stretch.product->name; }
        }
        if (per_leaf > 0) {
            node.labels.push_back({std::string(leaf), fmt::format("l{}", i / per_leaf)});
        }
        facts.emplace_back(NodeSet{std::move(node)});
    }
}

WorkloadSpec VirtualJobs::workload_of(std::uint32_t index) const {
    const Job& job = trace_.jobs[index];
    WorkloadSpec spec;
    spec.name = fmt::format("j{}", index);
    spec.user = job.user;
    spec.submitted = (job.submit_s - origin_s_) * 1'000;
    spec.runtime_estimate_s = job.limit_s();
    const auto add = [&](std::int64_t tasks, std::int64_t gpus, std::int32_t parent) {
        GroupSpec group{.name = parent < 0                          ? "job"
                                : gpus == options_.machine.per_node ? "nodes"
                                                                    : "rest",
                        .parent = parent,
                        .minimum = static_cast<std::int32_t>(tasks),
                        .count = static_cast<std::int32_t>(tasks),
                        .task = {},
                        .topology = {}};
        if (trace_.unit == JobUnit::processor) {
            group.task.request.milli_cpu = 1'000;
        } else if (job.gpu_milli < gpu_milli_whole) {
            group.task.gpu = {.kind = GpuKind::share, .count = 1, .milli = job.gpu_milli};
        } else {
            group.task.gpu = {.kind = GpuKind::whole, .count = static_cast<std::int32_t>(gpus)};
        }
        spec.groups.push_back(std::move(group));
    };
    const std::int64_t per_node = trace_.unit == JobUnit::processor ? 1 : options_.machine.per_node;
    const std::int64_t whole = job.size / per_node;
    const std::int64_t rest = job.size % per_node;
    if (whole == 0 || rest == 0) {
        add(std::max<std::int64_t>(1, whole), whole == 0 ? rest : per_node, -1);
        return spec;
    }
    spec.groups.push_back({.name = "job", .minimum = 2, .task = {}, .topology = {}});
    add(whole, per_node, 0);
    add(1, rest, 0);
    return spec;
}

std::uint32_t VirtualJobs::task_count(const Job& job) const {
    const std::int64_t per_node = trace_.unit == JobUnit::processor ? 1 : options_.machine.per_node;
    return static_cast<std::uint32_t>((job.size + per_node - 1) / per_node);
}

Result<std::vector<Fact>> VirtualJobs::observe(std::int64_t /*patience_ms*/) {
    std::vector<Fact> facts = std::exchange(confirmations_, {});
    if (!std::exchange(is_set_up_, true)) { set_up(facts); }
    const std::vector<Job>& jobs = trace_.jobs;
    while (next_ < jobs.size() && is_skipped(jobs[next_], options_.machine)) {
        run_.outcomes[next_++].is_skipped = true;
    }
    if (ends_.empty() && next_ >= jobs.size()) { return facts; }
    now_s_ = next_ < jobs.size() && (ends_.empty() || jobs[next_].submit_s < ends_.top().at_s)
                 ? jobs[next_].submit_s
                 : ends_.top().at_s;
    while (!ends_.empty() && ends_.top().at_s <= now_s_) {
        facts.emplace_back(WorkloadGone{fmt::format("j{}", ends_.top().job)});
        ends_.pop();
        if (options_.progress) { options_.progress(++ended_, jobs.size()); }
    }
    for (; next_ < jobs.size() && jobs[next_].submit_s <= now_s_; ++next_) {
        if (is_skipped(jobs[next_], options_.machine)) {
            run_.outcomes[next_].is_skipped = true;
            continue;
        }
        facts.emplace_back(WorkloadSet{workload_of(static_cast<std::uint32_t>(next_))});
    }
    return facts;
}

Result<> VirtualJobs::carry_out(std::span<const TaskOrder> orders) {
    confirmations_.reserve(orders.size() + 8);  // and what happens next
    for (const TaskOrder& order : orders) {
        confirmations_.emplace_back(
            TaskBound{order.workload, order.task, order.node, true, order.devices});
        const std::uint32_t index = number_of(order.workload);
        if (run_.outcomes[index].has_run()) { continue; }  // asked again
        if (trace_.unit == JobUnit::gpu) {
            parts_[index].push_back({static_cast<std::int32_t>(number_of(order.node)),
                                     std::popcount(order.devices.gpus)});
        }
        if (++ordered_[index] == task_count(trace_.jobs[index])) { start(index); }
    }
    return {};
}

void VirtualJobs::start(std::uint32_t index) {
    const Job& job = trace_.jobs[index];
    JobOutcome& outcome = run_.outcomes[index];
    std::vector<JobPart> parts = std::exchange(parts_[index], {});
    outcome.start_s = now_s_;
    outcome.end_s = now_s_ + stretched_run_s(job, options_.machine, parts, options_.stretch);
    outcome.first_part = static_cast<std::uint32_t>(run_.parts.size());
    outcome.part_count = static_cast<std::uint32_t>(parts.size());
    run_.parts.insert(run_.parts.end(), parts.begin(), parts.end());
    ends_.push({outcome.end_s, index});
}

}  // namespace muster::sim
