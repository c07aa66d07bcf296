// Which orders are open and when each is given again: planned → ordered → confirmed. An order stays
// until a fact or a later plan ends it; meanwhile it is repeated, ever more slowly. The I/O side's.
#pragma once

#include "control/decider.h"
#include "model/order.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster {

struct RetryRule {
    std::int64_t first_ms = 5'000;  // doubled each time, up to
    std::int64_t most_ms = 300'000;
};

class OrderBook {
public:
    explicit OrderBook(RetryRule rule = {}) : rule_(rule) {}

    /// In place of what was open about the tasks. Those of a workload best come together.
    void open(std::vector<TaskOrder> orders);
    void close(const std::vector<TaskName>& names);
    /// Those of them that are open are due now, and their pauses begin anew.
    void hasten(const std::vector<TaskName>& names);
    /// Those to be given at `now`: evictions first, then plan by plan, ranks in order. They count
    /// as given. A clock that jumped back makes none wait longer than its pause.
    std::vector<TaskOrder> due(std::int64_t now);
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    struct Entry {
        TaskOrder order;
        std::int64_t given_at = 0;
        std::int64_t pause_ms = 0;  // until it is given again; 0 = not given yet
        bool is_open = true;
    };
    struct OfWorkload {
        std::vector<Entry> entries;  // by task, also those that are closed, while one is open
        std::size_t open = 0;
    };
    static std::vector<Entry>::iterator find(OfWorkload& of, std::uint32_t task);

    RetryRule rule_;
    std::map<std::string, OfWorkload> open_;
    std::size_t size_ = 0;
    std::size_t fresh_ = 0;             // opened since due() was asked
    std::int64_t next_at_ = INT64_MAX;  // nothing is due before, unless the clock jumps back
    std::int64_t asked_at_ = INT64_MIN;
};

}  // namespace muster
