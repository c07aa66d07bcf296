// The loop that runs everywhere: observe → decide → record → act → confirm. Nothing is acted on
// that is not recorded, and what was recorded is carried out until facts confirm it, also by
// whoever leads next. This is the I/O side; `run` puts the engine on a thread of its own, and
// `turn` does all in one, for simulation.
#pragma once

#include "control/decider.h"
#include "control/order_book.h"
#include "control/seams.h"
#include "ledger/ledger.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster {

struct LoopOptions {
    std::string leader = "muster";
    std::string engine_version;
    Policy policy;
    RetryRule retry;
    std::int64_t patience_ms = 1'000;  // an observation waits no longer, a failed turn as long
    std::uint64_t snapshot_every = 0;  // cycles; 0 = never
    Retention retention;               // applied behind each snapshot
};

/// What stands around the loop. All outlive it.
struct Seams {
    Source& source;
    Actuator& actuator;
    Clock& clock;
    Leader& leader;
};

class Loop {
public:
    /// Takes over the ledger and gives every open order again.
    static Result<Loop> start(Seams seams, std::unique_ptr<Store> store, LoopOptions options);

    /// One turn in this thread. Nothing when there was nothing to decide. `conflict`: another one
    /// leads, and this loop is over. Any other failure: the turn may be tried again, and is the
    /// same.
    Result<std::optional<Decision>> turn();
    /// Turns until `stop` says so or it leads no more, the engine on a thread of its own. A failed
    /// turn is tried again.
    Result<> run(const std::function<bool()>& stop);

    /// The next cycle is followed by a snapshot, whatever the options say.
    void ask_snapshot() { is_snapshot_asked_ = true; }

    /// By which the last cycle on record was decided when this loop began; none: an empty ledger.
    [[nodiscard]] const std::optional<Policy>& policy_before() const { return policy_before_; }
    /// From the next turn on, when it is on record; that turn decides, whatever it hears.
    void set_policy(Policy policy) { next_policy_ = std::move(policy); }

    [[nodiscard]] const Engine& engine() const { return decider_->engine(); }
    [[nodiscard]] const OrderBook& orders() const { return book_; }
    [[nodiscard]] const Ledger& ledger() const { return ledger_; }
    /// Of the cycle that was recorded last; none yet: sequence 0.
    [[nodiscard]] const Header& last_cycle() const { return last_cycle_; }
    /// The last turn failed at the ledger.
    [[nodiscard]] bool is_unrecorded() const { return unrecorded_.has_value(); }
    /// How often the cluster did not take all orders.
    [[nodiscard]] std::uint64_t failed_orders() const { return failed_orders_; }

private:
    using Decide = std::function<Decision(std::vector<Fact>, bool with_snapshot)>;

    Loop(Seams seams, Ledger ledger, LoopOptions options, std::unique_ptr<Decider> decider);

    Result<std::optional<Decision>> turn(const Decide& decide);
    Result<> check_leader();
    /// Facts to be decided on and behind them the time; none when there is nothing to decide.
    Result<std::vector<Fact>> hear();
    [[nodiscard]] bool wants_snapshot() const;
    Result<> change_policy();
    Result<> record(Decision& decision);
    void take(Decision& decision);
    /// Gives what is due. Only a loop that leads does; `is_recorded` right now, so it does.
    Result<> act(bool is_recorded);
    void note(const TaskOrder& order);

    Seams seams_;
    Ledger ledger_;
    LoopOptions options_;
    std::unique_ptr<Decider> decider_;
    OrderBook book_;
    std::optional<Decision> unrecorded_;  // the ledger failed; it is recorded before all else
    std::optional<Policy> policy_before_;
    std::optional<Policy> next_policy_;
    bool is_policy_new_ = false;  // nothing was decided under it yet
    bool is_snapshot_asked_ = false;
    bool is_cycle_recorded_ = false;  // of the unrecorded decision, its snapshot is not
    std::vector<Ordered> ordered_;    // given since the last record
    std::int64_t time_ = 0;           // of the facts: never falls
    std::uint64_t since_snapshot_ = 0;
    std::uint64_t failed_orders_ = 0;
    Header last_cycle_;
};

}  // namespace muster
