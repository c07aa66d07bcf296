#include "sim/loop_adapter.h"

#include "control/listing.h"

#include <utility>

namespace muster::sim {

Result<> LoopAdapter::begin(const Snapshot& known) {
    cluster_.attach(id_);
    known_ = cluster_.numbers();
    first_ = facts_against(known, cluster_.listing());
    return {};
}

Result<std::vector<Fact>> LoopAdapter::observe(std::int64_t /*patience_ms*/) {
    if (!at_(Point::observe)) { return fail(Code::unavailable, "stopped"); }
    std::vector<Fact> out = std::exchange(first_, {});
    std::deque<Heard>& queue = cluster_.heard(id_);
    std::size_t count = is_prompt ? queue.size() : cluster_.roll(queue.size() + 1);
    for (; count > 0; --count) {
        hand_on(queue.front(), out);
        queue.pop_front();
    }
    if (!at_(Point::heard)) { return fail(Code::unavailable, "stopped"); }
    return out;
}

/// The end of a pod that is known to be gone is no news; a pod that is new means that the one
/// before has ended, also when that was not heard.
void LoopAdapter::hand_on(const Heard& heard, std::vector<Fact>& out) {
    if (const auto* set = std::get_if<WorkloadSet>(&heard.fact)) {
        for (std::uint32_t i = 0; i < heard.pods.size(); ++i) {
            known_.pods[{set->workload.name, i}] = heard.pods[i];
        }
    } else if (const auto* node = std::get_if<NodeSet>(&heard.fact)) {
        known_.nodes[node->node.name] = heard.node;
    } else if (const auto* lost = std::get_if<NodeGone>(&heard.fact)) {
        known_.nodes.erase(lost->node);
    } else if (const auto* gone = std::get_if<TaskGone>(&heard.fact)) {
        std::uint64_t& pod = known_.pods[{gone->workload, gone->task}];
        if (pod != heard.pod) { return; }
        pod = heard.next_pod;
    } else if (const auto* bound = std::get_if<TaskBound>(&heard.fact)) {
        std::uint64_t& pod = known_.pods[{bound->workload, bound->task}];
        if (heard.pod < pod) { return; }
        if (std::exchange(pod, heard.pod) != heard.pod) {
            out.emplace_back(TaskGone{bound->workload, bound->task, false});
        }
    }
    out.push_back(heard.fact);
}

Result<> LoopAdapter::carry_out(std::span<const TaskOrder> orders) {
    if (!at_(Point::act)) { return fail(Code::unavailable, "stopped"); }
    for (const TaskOrder& order : orders) {
        check_(order);
        const auto pod = known_.pods.find({order.workload, order.task});
        const auto node = known_.nodes.find(order.node);
        if (pod != known_.pods.end() &&
            (order.kind == OrderKind::evict || node != known_.nodes.end())) {
            cluster_.requests.push_back({.order = order,
                                         .pod = pod->second,
                                         .node = node == known_.nodes.end() ? 0 : node->second,
                                         .sender = id_});
        }
        if (!at_(Point::asked)) { return fail(Code::unavailable, "stopped"); }
    }
    if (!at_(Point::acted)) { return fail(Code::unavailable, "stopped"); }
    return {};
}

}  // namespace muster::sim
