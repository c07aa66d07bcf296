// A scheduler as a process of its own, against a server that may go away and come back: it waits
// for its turn to lead, serves, and begins anew after a failure. One thread, one loop.
#pragma once

#include "base/log.h"
#include "kube/figures.h"
#include "kube/http_transport.h"
#include "kube/lease.h"
#include "kube/policy_source.h"
#include "kube/scheduler.h"
#include "net/event_loop.h"

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace muster::kube {

struct RunOptions {
    ServerAddress address;
    std::function<Result<std::unique_ptr<Store>>()> open_ledger;
    /// The same for all who write that ledger: replicas that have another one are refused.
    std::function<Result<std::string>()> ledger_id;
    SchedulerOptions scheduler;
    std::optional<LeaseOptions> lease;  // none: it leads without asking
    Figures::Options figures;
    PolicySource::Options policy;  // where other ones than scheduler.loop's come from
    /// What runs beside the scheduler, kept as long as it leads.
    std::function<std::shared_ptr<void>(Transport&)> beside;
    std::function<bool()> is_stopped;
    /// Each decision, once it is on record as that entry.
    std::function<void(const Decision&, const Header& entry)> told;
    Log log;
};

class SchedulerRun {
public:
    /// The loop outlives it.
    SchedulerRun(net::EventLoop& loop, RunOptions options);
    ~SchedulerRun();

    /// Until it is stopped. An error only when another process has taken the ledger and no lease
    /// says whose turn it is, or when whoever leads writes another ledger than ours.
    Result<> run();

    /// The loop turns.
    [[nodiscard]] bool is_alive() const;
    /// It follows the cluster, or stands by for who does.
    [[nodiscard]] bool is_ready() const;
    [[nodiscard]] const Figures& figures() const { return figures_; }
    /// Null while it does not lead, or has not read the cluster yet.
    [[nodiscard]] const Scheduler* scheduler() const { return scheduler_; }
    /// Who leads, as far as it is known and somebody else.
    [[nodiscard]] std::string other_holder() const;
    [[nodiscard]] Extent ledger_extent() const;

private:
    void wait_for_ledger();
    Result<> check_ledger() const;
    Result<> serve();
    Result<> turn(Scheduler& scheduler);
    void tell(const Decision& decision);
    void note_anchor();
    void wait_for_policy();
    void keep_policy(Scheduler& scheduler);
    void take_policy(Scheduler* scheduler);
    void tell_problem(const std::string& problem);
    void tell_holder();
    void pump(std::int64_t milliseconds);
    void tell_ledger(const std::string& problem);
    void wait_after_failure(std::int64_t most_ms);
    void let_go();

    net::EventLoop& loop_;
    RunOptions options_;
    std::unique_ptr<Transport> transport_;
    /// Connections of its own: a renewal waits behind no bind.
    std::unique_ptr<Transport> election_;
    std::unique_ptr<Transport> counted_election_;
    std::unique_ptr<LeaseElector> elector_;
    Figures figures_;
    PolicySource policy_;
    const Scheduler* scheduler_ = nullptr;
    Header ledger_anchor_;
    Binder::Counts counted_;  // of the schedulers before
    std::minstd_rand random_;
    std::string problem_;
    std::string ledger_problem_;
    std::string ledger_id_;
    std::string holder_;
    int failures_ = 0;
    std::int64_t turned_ms_ = 0;  // when the loop last came by
};

}  // namespace muster::kube
