#include "control/order_book.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace muster {

void OrderBook::open(TaskOrder order) {
    TaskName name{order.workload, order.task};
    open_[std::move(name)] = {.order = std::move(order)};
}

std::vector<TaskOrder> OrderBook::due(std::int64_t now) {
    std::vector<TaskOrder> out;
    for (auto& [name, entry] : open_) {
        const bool is_new = entry.pause_ms == 0;
        const std::int64_t waited = now - entry.given_at;
        if (!is_new && waited >= 0 && waited < entry.pause_ms) { continue; }
        entry.given_at = now;
        entry.pause_ms = is_new ? rule_.first_ms : std::min(2 * entry.pause_ms, rule_.most_ms);
        out.push_back(entry.order);
    }
    // Evictions first, then plan by plan, ranks in order.
    std::sort(out.begin(), out.end(), [](const TaskOrder& a, const TaskOrder& b) {
        const auto key = [](const TaskOrder& order) {
            return std::tuple(order.kind == OrderKind::bind, order.cycle,
                              std::string_view(order.workload), order.task);
        };
        return key(a) < key(b);
    });
    return out;
}

}  // namespace muster
