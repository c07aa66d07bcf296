#include "control/order_book.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace muster {

/// Where it is, or where it would stand.
std::vector<OrderBook::Entry>::iterator OrderBook::find(OfWorkload& of, std::uint32_t task) {
    return std::lower_bound(
        of.entries.begin(), of.entries.end(), task,
        [](const Entry& entry, std::uint32_t wanted) { return entry.order.task < wanted; });
}

void OrderBook::open(TaskOrder order) {
    OfWorkload& of = open_[order.workload];
    auto at = find(of, order.task);
    if (at == of.entries.end() || at->order.task != order.task) {
        at = of.entries.insert(at, Entry{.order = {}, .is_open = false});
    }
    if (!at->is_open) {
        ++of.open;
        ++size_;
    }
    *at = {.order = std::move(order)};
    next_at_ = INT64_MIN;
}

void OrderBook::close(const TaskName& name) {
    const auto found = open_.find(name.first);
    if (found == open_.end()) { return; }
    OfWorkload& of = found->second;
    const auto at = find(of, name.second);
    if (at == of.entries.end() || at->order.task != name.second || !at->is_open) { return; }
    at->is_open = false;
    --size_;
    if (--of.open == 0) { open_.erase(found); }
}

std::vector<TaskOrder> OrderBook::due(std::int64_t now) {
    std::vector<TaskOrder> out;
    if (std::exchange(asked_at_, now) <= now && now < next_at_) { return out; }
    next_at_ = INT64_MAX;
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
    std::sort(out.begin(), out.end(),
              [&](const TaskOrder& a, const TaskOrder& b) { return key(a) < key(b); });
    return out;
}

}  // namespace muster
