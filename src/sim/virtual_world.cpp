#include "sim/virtual_world.h"

#include <algorithm>
#include <utility>

namespace muster::sim {

VirtualWorld::VirtualWorld(const History& history, Progress progress)
    : history_(history),
      progress_(std::move(progress)),
      starts_(history.names.size(), 0),
      is_gone_(history.names.size(), false),
      now_(history.begin_at) {
    if (history.begin) { restore(*history.begin); }
}

/// The same works in the same order as the history has them.
void VirtualWorld::restore(const Snapshot& snapshot) {
    for (const NodeSpec& node : snapshot.nodes) { chronicle_.set_node(now_, node); }
    for (const WorkloadStatus& status : snapshot.workloads) {
        const auto work = static_cast<std::uint32_t>(chronicle_.lives().size());
        chronicle_.add(history_.recorded.lives()[work].submitted, status.spec);
        numbers_[history_.names[work]] = work;
        chronicle_.life(work).was_running = status.is_running;
        for (std::uint32_t i = 0; i < status.tasks.size(); ++i) {
            if (!status.tasks[i].node.empty()) { hold(work, i, status.tasks[i].node); }
        }
        if (!status.is_running) {
            chronicle_.release(work);
            ++starts_[work];
        }
    }
}

Result<std::vector<Fact>> VirtualWorld::observe(std::int64_t /*patience_ms*/) {
    std::vector<Fact> facts = std::exchange(confirmations_, {});
    const std::vector<WorldEvent>& events = history_.events;
    now_ = next_at();
    for (; !ends_.empty() && ends_.top().at <= now_; drop_void_ends()) {
        const std::uint32_t work = ends_.top().work;
        ends_.pop();
        chronicle_.end(now_, work);
        is_gone_[work] = true;
        facts.emplace_back(WorkloadGone{history_.names[work]});
    }
    for (; next_ < events.size() && events[next_].at <= now_; ++next_) {
        happen(events[next_], facts);
    }
    if (progress_) { progress_(next_, events.size()); }
    return facts;
}

std::int64_t VirtualWorld::next_at() {
    const std::vector<WorldEvent>& events = history_.events;
    drop_void_ends();
    if (ends_.empty()) { return next_ < events.size() ? events[next_].at : now_; }
    return next_ < events.size() ? std::min(events[next_].at, ends_.top().at) : ends_.top().at;
}

/// What is about a workload that has ended here already happens to nobody.
void VirtualWorld::happen(const WorldEvent& event, std::vector<Fact>& facts) {
    const std::uint32_t work = event.work;
    if (work != no_work && is_gone_[work]) { return; }
    if (const auto* set = std::get_if<NodeSet>(&event.fact)) {
        chronicle_.set_node(now_, set->node);
    } else if (const auto* gone = std::get_if<NodeGone>(&event.fact)) {
        for (const std::uint32_t lost : chronicle_.drop_node(now_, gone->node)) { ++starts_[lost]; }
    } else if (const auto* workload = std::get_if<WorkloadSet>(&event.fact)) {
        if (work == chronicle_.lives().size()) {
            chronicle_.add(now_, workload->workload);
            numbers_[history_.names[work]] = work;
        }
    } else if (std::holds_alternative<WorkloadGone>(event.fact)) {
        chronicle_.end(now_, work);
        is_gone_[work] = true;
        ++starts_[work];
    } else if (const auto* bound = std::get_if<TaskBound>(&event.fact)) {
        hold(work, bound->task, bound->node);
    }
    facts.push_back(event.fact);
}

Result<> VirtualWorld::carry_out(std::span<const TaskOrder> orders) {
    for (const TaskOrder& order : orders) {
        const auto found = numbers_.find(order.workload);
        if (found == numbers_.end()) { continue; }
        const std::uint32_t work = found->second;
        if (order.kind == OrderKind::bind) {
            hold(work, order.task, order.node);
            confirmations_.emplace_back(
                TaskBound{order.workload, order.task, order.node, true, order.devices});
            continue;
        }
        if (chronicle_.lives()[work].is_running()) {
            chronicle_.release(work);
            ++starts_[work];
        }
        chronicle_.let_go(now_, work, order.task);
        confirmations_.emplace_back(TaskGone{order.workload, order.task, false});
    }
    return {};
}

void VirtualWorld::hold(std::uint32_t work, std::uint32_t task, const std::string& node) {
    if (chronicle_.is_held(work, task, node)) { return; }  // asked again
    const bool is_start = !chronicle_.lives()[work].is_running();
    chronicle_.hold(now_, work, task, node);
    if (!is_start) { return; }
    ++starts_[work];
    if (history_.run_times[work] >= 0) {
        ends_.push({now_ + history_.run_times[work], work, starts_[work]});
    }
}

void VirtualWorld::drop_void_ends() {
    while (!ends_.empty() && ends_.top().start != starts_[ends_.top().work]) { ends_.pop(); }
}

}  // namespace muster::sim
