#include "control/order_book.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace muster {

/// Where it is, or where it would stand.
std::vector<OrderBook::Entry>::iterator OrderBook::find(OfWorkload& of, std::uint32_t task) {
    if (of.entries.empty() || of.entries.back().order.task < task) { return of.entries.end(); }
    return std::lower_bound(
        of.entries.begin(), of.entries.end(), task,
        [](const Entry& entry, std::uint32_t wanted) { return entry.order.task < wanted; });
}

void OrderBook::open(std::vector<TaskOrder> orders) {
    auto found = open_.end();
    fresh_ += orders.size();
    for (std::size_t i = 0; i < orders.size(); ++i) {
        TaskOrder& order = orders[i];
        if (found == open_.end() || found->first != order.workload) {
            found = open_.try_emplace(order.workload).first;
            std::size_t end = i;
            while (end < orders.size() && orders[end].workload == order.workload) { ++end; }
            found->second.entries.reserve(found->second.entries.size() + end - i);
        }
        OfWorkload& of = found->second;
        next_at_ = INT64_MIN;
        auto at = find(of, order.task);
        const bool is_new = at == of.entries.end() || at->order.task != order.task;
        if (is_new || !at->is_open) {
            ++of.open;
            ++size_;
        }
        if (is_new) {
            of.entries.insert(at, {.order = std::move(order)});
        } else {
            *at = {.order = std::move(order)};
        }
    }
}

void OrderBook::close(const std::vector<TaskName>& names) {
    auto found = open_.end();
    for (const auto& [workload, task] : names) {
        if (found == open_.end() || found->first != workload) { found = open_.find(workload); }
        if (found == open_.end()) { continue; }
        OfWorkload& of = found->second;
        const auto at = find(of, task);
        if (at == of.entries.end() || at->order.task != task || !at->is_open) { continue; }
        at->is_open = false;
        --size_;
        if (--of.open == 0) {
            open_.erase(found);
            found = open_.end();
        }
    }
}

void OrderBook::hasten(const std::vector<TaskName>& names) {
    for (const auto& [workload, task] : names) {
        const auto found = open_.find(workload);
        if (found == open_.end()) { continue; }
        const auto at = find(found->second, task);
        if (at == found->second.entries.end() || at->order.task != task || !at->is_open) {
            continue;
        }
        at->pause_ms = 0;
        next_at_ = INT64_MIN;
    }
}

std::vector<TaskOrder> OrderBook::due(std::int64_t now) {
    std::vector<TaskOrder> out;
    if (std::exchange(asked_at_, now) <= now && now < next_at_) { return out; }
    next_at_ = INT64_MAX;
    out.reserve(std::exchange(fresh_, 0));
    for (auto& [name, of] : open_) {
        for (Entry& entry : of.entries) {
            if (!entry.is_open) { continue; }
            const bool is_new = entry.pause_ms == 0;
            const std::int64_t waited = now - entry.given_at;
            if (is_new || waited < 0 || waited >= entry.pause_ms) {
                entry.given_at = now;
                entry.pause_ms =
                    is_new ? rule_.first_ms : std::min(2 * entry.pause_ms, rule_.most_ms);
                out.push_back(entry.order);
            }
            next_at_ = std::min(next_at_, entry.given_at + entry.pause_ms);
        }
    }
    const auto key = [](const TaskOrder& order) {
        return std::tuple(order.kind == OrderKind::bind, order.cycle,
                          std::string_view(order.workload), order.task);
    };
    const auto before = [&](const TaskOrder& a, const TaskOrder& b) { return key(a) < key(b); };
    if (!std::is_sorted(out.begin(), out.end(), before)) {  // one plan's binds are
        std::sort(out.begin(), out.end(), before);
    }
    return out;
}

}  // namespace muster
