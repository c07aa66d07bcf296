#include "control/loop.h"

#include "base/channel.h"
#include "control/recover.h"
#include "engine/world.h"

#include <chrono>
#include <thread>
#include <utility>

namespace muster {

Loop::Loop(Seams seams, Ledger ledger, LoopOptions options, std::unique_ptr<Decider> decider)
    : seams_(seams),
      ledger_(std::move(ledger)),
      options_(std::move(options)),
      decider_(std::move(decider)),
      book_(options_.retry),
      time_(decider_->engine().world().now) {
    book_.open(decider_->open_orders());
}

Result<Loop> Loop::start(Seams seams, std::unique_ptr<Store> store, LoopOptions options) {
    MUSTER_TRY(ledger, Ledger::open(std::move(store), {.leader = options.leader,
                                                       .engine_version = options.engine_version,
                                                       .policy = options.policy}));
    auto recovered = recover(ledger, options.policy);
    if (!recovered) {  // perhaps another leader has dropped what was to be read
        MUSTER_CHECK(ledger.check_fence());
        return tl::unexpected(std::move(recovered.error()));
    }
    MUSTER_CHECK(seams.source.begin(recovered->engine.snapshot()));
    auto decider = std::make_unique<Decider>(std::move(recovered->engine), options.policy);
    Loop loop(seams, std::move(ledger), std::move(options), std::move(decider));
    loop.since_snapshot_ = recovered->cycles;
    loop.policy_before_ = std::move(recovered->policy);
    return loop;
}

Result<> Loop::check_leader() {
    if (seams_.leader.is_leader()) { return {}; }
    return fail(Code::conflict, "this process leads no more");
}

Result<std::vector<Fact>> Loop::hear() {
    MUSTER_TRY(facts, seams_.source.observe(options_.patience_ms));
    if (facts.empty() && !is_policy_new_) { return facts; }
    if (const std::int64_t now = seams_.clock.now(); now > time_) {
        time_ = now;
        facts.emplace_back(TimeIs{time_});
    }
    is_policy_new_ = is_policy_new_ && facts.empty();
    return std::move(facts);
}

/// At a boundary: nothing that was decided under the old one is still to be recorded.
Result<> Loop::change_policy() {
    MUSTER_CHECK(ledger_.open_again({.leader = options_.leader,
                                     .engine_version = options_.engine_version,
                                     .policy = *next_policy_}));
    options_.policy = *next_policy_;
    decider_->change_policy(*std::exchange(next_policy_, std::nullopt));
    is_policy_new_ = true;
    return {};
}

bool Loop::wants_snapshot() const {
    return is_snapshot_asked_ ||
           (options_.snapshot_every > 0 && since_snapshot_ + 1 >= options_.snapshot_every);
}

Result<> Loop::record(Decision& decision) {
    if (!is_cycle_recorded_) {
        decision.cycle.ordered = std::exchange(ordered_, {});
        MUSTER_CHECK(ledger_.append(decision.cycle));
        last_cycle_ = ledger_.last();
        ++since_snapshot_;
        is_cycle_recorded_ = true;
    }
    if (decision.snapshot) {
        MUSTER_CHECK(ledger_.append(*decision.snapshot));
        since_snapshot_ = 0;
        is_snapshot_asked_ = false;
        // What is not dropped now is dropped behind the next one.
        if (auto kept = ledger_.apply(options_.retention);
            !kept && kept.error().code == Code::conflict) {
            return tl::unexpected(std::move(kept.error()));
        }
    }
    is_cycle_recorded_ = false;
    return {};
}

void Loop::take(Decision& decision) {
    book_.close(decision.closed);
    book_.open(std::exchange(decision.opened, {}));
}

/// Orders that the cluster did not take are given again when it is their turn.
Result<> Loop::act(bool is_recorded) {
    std::vector<TaskOrder> due = book_.due(seams_.clock.now());
    if (due.empty()) { return {}; }
    MUSTER_CHECK(check_leader());
    if (auto leads = is_recorded ? Result<>{} : ledger_.check_fence(); !leads) {
        if (leads.error().code == Code::conflict) { return leads; }
        ++failed_orders_;
        return {};
    }
    if (!seams_.actuator.carry_out(due)) { ++failed_orders_; }
    for (const TaskOrder& order : due) { note(order); }
    return {};
}

/// Those of one workload come one behind the other.
void Loop::note(const TaskOrder& order) {
    const auto belongs = [&](const Ordered& some) {
        return some.kind == order.kind && some.cycle == order.cycle &&
               some.workload == order.workload;
    };
    if (ordered_.empty() || !belongs(ordered_.back())) {
        ordered_.push_back(
            {.kind = order.kind, .workload = order.workload, .cycle = order.cycle, .tasks = {}});
    }
    ordered_.back().tasks.push_back(order.task);
}

Result<std::optional<Decision>> Loop::turn() {
    return turn([this](std::vector<Fact> facts, bool with_snapshot) {
        return decider_->decide(std::move(facts), with_snapshot);
    });
}

Result<std::optional<Decision>> Loop::turn(const Decide& decide) {
    MUSTER_CHECK(check_leader());
    std::optional<Decision> made = std::exchange(unrecorded_, std::nullopt);
    if (!made) {
        if (next_policy_) { MUSTER_CHECK(change_policy()); }
        MUSTER_TRY(facts, hear());
        if (!facts.empty()) { made = decide(std::move(facts), wants_snapshot()); }
    }
    if (made) {
        if (auto done = record(*made); !done) {
            unrecorded_ = std::move(made);
            return tl::unexpected(std::move(done.error()));
        }
        take(*made);
    }
    book_.hasten(seams_.source.take_ready());
    MUSTER_CHECK(act(made.has_value()));
    return made;
}

Result<> Loop::run(const std::function<bool()>& stop) {
    struct Question {
        std::vector<Fact> facts;
        bool with_snapshot = false;
    };
    Channel<Question> questions(1);
    Channel<Decision> decisions(1);
    std::thread engine([&] {
        while (auto question = questions.receive()) {
            decisions.send(decider_->decide(std::move(question->facts), question->with_snapshot));
        }
    });
    const auto ask = [&](std::vector<Fact> facts, bool with_snapshot) {
        questions.send({std::move(facts), with_snapshot});
        return decisions.receive().value();
    };
    Result<> done;
    while (done && !stop()) {
        auto turned = turn(ask);
        if (turned) { continue; }
        if (turned.error().code == Code::conflict) {
            done = tl::unexpected(std::move(turned.error()));
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(options_.patience_ms));
        }
    }
    questions.close();
    engine.join();
    return done;
}

}  // namespace muster
