#include "kube/scheduler_run.h"

#include "kube/guarded_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace muster::kube {

namespace {

constexpr std::int64_t standby_ms = 100;
constexpr std::int64_t failure_first_ms = 500;
constexpr std::int64_t failure_max_ms = 30'000;
/// Only we ask for it, and nothing starts meanwhile.
constexpr std::int64_t ledger_failure_max_ms = 3'000;
constexpr std::int64_t release_ms_max = 2'000;
constexpr std::int64_t policy_ms_max = 5'000;  // then it begins with the one that it has
/// Longer than any turn; a cluster's first list has a minute.
constexpr std::int64_t alive_ms = 180'000;

std::int64_t wall_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// The policy is followed while this process leads.
class Following {
public:
    Following(PolicySource& policy, Transport& transport) : policy_(policy) {
        policy_.follow(transport);
    }
    ~Following() { policy_.let_go(); }
    Following(const Following&) = delete;
    Following& operator=(const Following&) = delete;

private:
    PolicySource& policy_;
};

}  // namespace

SchedulerRun::SchedulerRun(net::EventLoop& loop, RunOptions options)
    : loop_(loop),
      options_(std::move(options)),
      transport_(connect_http(loop, options_.address)),
      figures_(options_.figures),
      policy_(options_.policy),
      random_(std::random_device()()),
      turned_ms_(boot_ms()) {
    election_ = connect_http(loop, options_.address);
    counted_election_ = guard(*election_, [] { return true; }, figures_.answers);
    figures_.version = options_.scheduler.loop.engine_version;
    policy_.begin_with(options_.scheduler.loop.policy);
    if (options_.lease) {
        elector_ = std::make_unique<LeaseElector>(*counted_election_, *options_.lease);
        options_.scheduler.leader = elector_.get();
    }
}

SchedulerRun::~SchedulerRun() = default;

bool SchedulerRun::is_alive() const { return boot_ms() - turned_ms_ < alive_ms; }

bool SchedulerRun::is_ready() const {
    if (figures_.is_leading) { return figures_.is_following; }
    return elector_ != nullptr && !elector_->holder().empty() && elector_->problem().empty();
}

std::string SchedulerRun::other_holder() const {
    return elector_ == nullptr || elector_->is_leader() ? "" : elector_->holder();
}

Extent SchedulerRun::ledger_extent() const {
    Extent out{.anchor = ledger_anchor_, .last = {}};
    if (scheduler_ != nullptr) { out.last = scheduler_->loop().ledger().last(); }
    return out;
}

void SchedulerRun::pump(std::int64_t milliseconds) {
    loop_.run_some(milliseconds);
    turned_ms_ = boot_ms();
}

Result<> SchedulerRun::run() {
    if (elector_ != nullptr) {
        wait_for_ledger();
        elector_->start(ledger_id_);
    }
    while (!options_.is_stopped()) {
        if (elector_ != nullptr) {
            tell_holder();
            MUSTER_CHECK(check_ledger());
            if (!elector_->is_leader()) {
                pump(standby_ms);
                continue;
            }
        }
        const auto served = serve();
        scheduler_ = nullptr;
        figures_.is_leading = false;
        figures_.is_following = false;
        if (served || options_.is_stopped()) { continue; }
        if (served.error().code == Code::conflict && elector_ == nullptr) {
            return fail(Code::conflict,
                        "another process has taken the ledger over: " + served.error().message);
        }
        options_.log.warn("scheduling stops", {{"reason", served.error().message}});
        wait_after_failure(failure_max_ms);
    }
    let_go();
    return {};
}

/// Who can't say which ledger it has does not stand for the lease.
void SchedulerRun::wait_for_ledger() {
    while (options_.ledger_id && !options_.is_stopped()) {
        auto id = options_.ledger_id();
        tell_ledger(id ? "" : id.error().message);
        if (id) {
            ledger_id_ = std::move(*id);
            break;
        }
        wait_after_failure(ledger_failure_max_ms);
    }
    failures_ = 0;
}

/// Two ledgers would be two histories, of which each new leader knows one half.
Result<> SchedulerRun::check_ledger() const {
    const auto other = elector_->ledger_of_living_holder();
    if (ledger_id_.empty() || !other || *other == ledger_id_) { return {}; }
    return fail(
        Code::invalid,
        fmt::format("{} leads and writes another ledger ({}; ours is {}): replicas share one. "
                    "Run one replica, or give all of them --ledger etcd://HOST:PORT/PREFIX; to "
                    "change over, stop the one that leads first",
                    elector_->holder(), *other, ledger_id_));
}

/// Longer after each failure, and never in step with others.
void SchedulerRun::wait_after_failure(std::int64_t most_ms) {
    const std::int64_t most = std::min(failure_first_ms << std::min(failures_++, 16), most_ms);
    const std::int64_t end =
        boot_ms() + most / 2 + static_cast<std::int64_t>(random_()) % (most / 2 + 1);
    while (!options_.is_stopped() && boot_ms() < end) { pump(standby_ms); }
}

void SchedulerRun::let_go() {
    if (elector_ == nullptr) { return; }
    bool is_told = false;
    elector_->release([&] { is_told = true; });
    const std::int64_t end = boot_ms() + release_ms_max;
    while (!is_told && boot_ms() < end) { pump(standby_ms); }
    options_.log.info("leads no more", {{"identity", elector_->identity()}});
    elector_.reset();
}

Result<> SchedulerRun::serve() {
    const auto may_write = [this] { return elector_ == nullptr || elector_->is_leader(); };
    Link link{.pump = [this](std::int64_t wait) { pump(wait); },
              .transport = guard(*transport_, may_write, figures_.answers),
              .is_over = [this, may_write] { return options_.is_stopped() || !may_write(); }};
    const auto policy_link = guard(*transport_, may_write, figures_.answers);
    const Following following(policy_, *policy_link);
    figures_.is_leading = true;
    wait_for_policy();
    MUSTER_TRY(store, options_.open_ledger());
    MUSTER_TRY(scheduler, Scheduler::start(std::move(link), std::move(store), options_.scheduler));
    options_.log.info("schedules",
                      {{"epoch", static_cast<std::int64_t>(scheduler->loop().ledger().epoch())}});
    figures_.is_following = true;
    scheduler_ = scheduler.get();
    note_anchor();
    keep_policy(*scheduler);
    counted_ = figures_.orders;
    const auto link_beside = guard(*transport_, may_write, figures_.answers);
    const auto beside = options_.beside ? options_.beside(*link_beside) : nullptr;
    while (!options_.is_stopped()) {
        take_policy(scheduler.get());
        auto turned = turn(*scheduler);
        if (!turned && turned.error().code == Code::conflict) { return turned; }
        const bool is_ledger = scheduler->loop().is_unrecorded();
        tell_ledger(is_ledger && !turned ? turned.error().message : "");
        if (!turned) {
            ++figures_.failed_turns;
            if (!is_ledger) { tell_problem(turned.error().message); }
            figures_.is_following = false;
            wait_after_failure(is_ledger ? ledger_failure_max_ms : failure_max_ms);
        }
    }
    return {};
}

Result<> SchedulerRun::turn(Scheduler& scheduler) {
    MUSTER_TRY(decision, scheduler.turn());
    turned_ms_ = boot_ms();
    failures_ = 0;
    const Binder::Counts& now = scheduler.counts();
    figures_.orders = {.bound = counted_.bound + now.bound,
                       .evicted = counted_.evicted + now.evicted,
                       .failed = counted_.failed + now.failed,
                       .budget_waits = counted_.budget_waits + now.budget_waits,
                       .busy_waits = counted_.busy_waits + now.busy_waits};
    figures_.incomplete_gangs = scheduler.source().windows().open();
    const Header& last = scheduler.loop().ledger().last();
    figures_.ledger_sequence = last.sequence;
    figures_.ledger_epoch = last.epoch;
    if (decision) {
        tell(*decision);
        figures_.take(*decision, scheduler.loop().engine(), wall_ms());
        figures_.note_cycle_seconds(scheduler.cycle_seconds());
        if (options_.told) { options_.told(*decision, scheduler.loop().last_cycle()); }
        if (decision->snapshot) { note_anchor(); }  // what is before it may be gone
    } else {
        figures_.catch_up(scheduler.loop().engine(), wall_ms());
    }
    const std::string problem = scheduler.problem();
    figures_.is_following = problem.empty();
    tell_problem(problem);
    return {};
}

void SchedulerRun::wait_for_policy() {
    const std::int64_t end = boot_ms() + policy_ms_max;
    while (!options_.is_stopped() && !policy_.is_heard() && boot_ms() < end) { pump(standby_ms); }
    take_policy(nullptr);
}

/// While there is no good one to be had, the one on record decides on: a restart loses none.
void SchedulerRun::keep_policy(Scheduler& scheduler) {
    const std::optional<Policy>& before = scheduler.loop().policy_before();
    if (!policy_.has_none() || !before || *before == policy_.policy()) { return; }
    options_.log.warn("the policy on record stays", {{"hash", policy_hash(*before)}});
    policy_.begin_with(*before);
    scheduler.set_policy(*before);
    options_.scheduler.loop.policy = *before;
    figures_.policy_hash = policy_hash(*before);
}

/// A scheduler that runs changes it at the next turn; the next one begins with it.
void SchedulerRun::take_policy(Scheduler* scheduler) {
    auto next = policy_.take();
    figures_.policy = policy_.counts();
    if (scheduler == nullptr) { figures_.policy_hash = policy_hash(policy_.policy()); }
    if (!next) { return; }
    figures_.policy_hash = policy_hash(*next);
    if (scheduler != nullptr) { scheduler->set_policy(*next); }
    options_.scheduler.loop.policy = std::move(*next);
}

/// Where the ledger begins; unknown, it is where it was.
void SchedulerRun::note_anchor() {
    if (auto extent = scheduler_->loop().ledger().extent()) { ledger_anchor_ = extent->anchor; }
}

void SchedulerRun::tell(const Decision& decision) {
    for (const Release& release : decision.cycle.plan.releases) {
        options_.log.warn("gang stopped", {{"workload", release.workload}});
    }
    for (const Placement& placement : decision.cycle.plan.placements) {
        std::set<std::string> nodes;
        for (const TaskPlace& task : placement.tasks) { nodes.insert(task.node); }
        options_.log.info("placed", {{"workload", placement.workload},
                                     {"tasks", static_cast<std::int64_t>(placement.tasks.size())},
                                     {"nodes", static_cast<std::int64_t>(nodes.size())},
                                     {"domain", placement.domain}});
    }
    for (const Refusal& refusal : decision.cycle.plan.refusals) {
        options_.log.info("waits",
                          {{"workload", refusal.workload}, {"reason", refusal.reason.text}});
    }
    for (const Conflict& conflict : decision.cycle.conflicts) {
        options_.log.warn("conflict", {{"text", conflict.text}});
    }
}

void SchedulerRun::tell_problem(const std::string& problem) {
    if (problem == problem_) { return; }
    if (problem.empty()) {
        options_.log.info("the cluster is heard again");
    } else {
        options_.log.warn("the cluster is not heard", {{"reason", problem}});
    }
    problem_ = problem;
}

void SchedulerRun::tell_ledger(const std::string& problem) {
    if (problem.empty() == ledger_problem_.empty()) { return; }
    if (problem.empty()) {
        options_.log.info("the ledger is written again");
    } else {
        options_.log.warn("the ledger is not written, and nothing starts", {{"reason", problem}});
    }
    ledger_problem_ = problem;
}

void SchedulerRun::tell_holder() {
    tell_problem(elector_->problem());
    if (elector_->holder() == holder_) { return; }
    holder_ = elector_->holder();
    options_.log.info(elector_->is_leader() ? "leads" : "stands by",
                      {{"identity", elector_->identity()}, {"holder", holder_}});
}

}  // namespace muster::kube
