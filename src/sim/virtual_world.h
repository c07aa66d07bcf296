// A cluster that lives a history again in virtual time, behind the seams of a real one: what the
// world did by itself happens when it did; what is ordered happens at once; who starts runs as long
// as the history says.
#pragma once

#include "control/seams.h"
#include "sim/chronicle.h"
#include "sim/history.h"
#include "sim/job_run.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace muster::sim {

class VirtualWorld final : public Source, public Actuator, public Clock, public Leader {
public:
    /// The history outlives it.
    explicit VirtualWorld(const History& history, Progress progress = {});

    Result<> begin(const Snapshot& /*known*/) override { return {}; }  // the history says the same
    /// All that happens at the next moment at which something does; nothing at the end.
    Result<std::vector<Fact>> observe(std::int64_t patience_ms) override;
    Result<> carry_out(std::span<const TaskOrder> orders) override;
    std::int64_t now() override { return now_; }
    bool is_leader() override { return true; }

    /// When something happens next; the last moment once nothing does.
    [[nodiscard]] std::int64_t next_at();
    [[nodiscard]] const Chronicle& chronicle() const { return chronicle_; }

private:
    struct End {
        std::int64_t at = 0;
        std::uint32_t work = 0;
        std::uint32_t start = 0;  // how many starts it had: a later one makes this end void

        auto operator<=>(const End&) const = default;
    };

    void restore(const Snapshot& snapshot);
    void happen(const WorldEvent& event, std::vector<Fact>& facts);
    void hold(std::uint32_t work, std::uint32_t task, const std::string& node);
    void drop_void_ends();

    const History& history_;
    Progress progress_;
    Chronicle chronicle_;
    std::unordered_map<std::string_view, std::uint32_t> numbers_;  // by the history's names
    std::vector<std::uint32_t> starts_;                            // by work
    std::vector<bool> is_gone_;
    std::vector<Fact> confirmations_;  // heard at the next observation
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::size_t next_ = 0;  // event
    std::int64_t now_ = 0;
};

}  // namespace muster::sim
