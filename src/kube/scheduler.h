// The scheduler of a Kubernetes cluster: the control loop with the cluster behind its seams, and
// what it decides written where users look. `Scheduler` belongs to one thread; `SchedulerThread`
// is that thread.
#pragma once

#include "control/loop.h"
#include "kube/behind_orders.h"
#include "kube/binder.h"
#include "kube/cluster_source.h"
#include "kube/link.h"
#include "kube/status_writer.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace muster::kube {

struct SchedulerOptions {
    std::vector<std::string> names = {"muster", "volcano"};  // by which pods ask for it
    /// A bind that is lost is seen soon; one that is asked twice does no harm.
    LoopOptions loop = {.retry = {.first_ms = 1'000, .most_ms = 10'000}};
    Leader* leader = nullptr;  // outlives it; none: it always leads
    /// How long a gang may run with fewer than its minimum; shorter when it did so already before
    /// this process began.
    GangWindows::Options windows = {.length_ms = 60'000, .after_start_ms = 10'000};
    std::int64_t look_ms = 30'000;  // kinds that were not there are looked for again so often
};

class Scheduler {
public:
    /// Reads the cluster and what the ledger says of it.
    static Result<std::unique_ptr<Scheduler>> start(Link link, std::unique_ptr<Store> store,
                                                    SchedulerOptions options);
    ~Scheduler();

    /// One turn of the loop, and what is to be said of it. `conflict`: another one leads.
    Result<std::optional<Decision>> turn();

    /// Takes effect at the next turn.
    void set_policy(Policy policy) { loop_->set_policy(std::move(policy)); }

    [[nodiscard]] const Loop& loop() const { return *loop_; }
    /// From what the last turn heard to its end.
    [[nodiscard]] double cycle_seconds() const { return cycle_seconds_; }
    [[nodiscard]] const Binder::Counts& counts() const { return binder_.counts(); }
    [[nodiscard]] const ClusterSource& source() const { return source_; }
    /// Why some kind of object is not followed right now; empty when all are.
    [[nodiscard]] std::string problem() const { return objects_.problem(); }
    void pump(std::int64_t milliseconds) { link_.pump(milliseconds); }

private:
    struct Always;  // the clock of the system, and no election
    struct Timed;   // the source, and when it last told something

    Scheduler(Link link, const SchedulerOptions& options);

    Link link_;
    ClusterObjects objects_;
    ClusterSource source_;
    Binder binder_;
    BehindOrders behind_;
    StatusWriter writer_;
    std::unique_ptr<Always> always_;
    std::unique_ptr<Timed> timed_;
    double cycle_seconds_ = 0;
    bool has_written_reasons_ = false;
    std::unique_ptr<Loop> loop_;
};

/// Runs until it is destroyed, or another one leads. A cluster that is away is waited for.
class SchedulerThread {
public:
    using Connect = std::function<Result<Link>()>;
    using Open = std::function<Result<std::unique_ptr<Store>>()>;

    SchedulerThread(Connect connect, Open open, SchedulerOptions options);
    ~SchedulerThread();
    SchedulerThread(const SchedulerThread&) = delete;
    SchedulerThread& operator=(const SchedulerThread&) = delete;

    [[nodiscard]] bool is_running() const { return is_running_; }

private:
    void run(const Connect& connect, const Open& open, const SchedulerOptions& options);
    Result<> serve(const Connect& connect, const Open& open, const SchedulerOptions& options);

    std::atomic<bool> is_stopped_ = false;
    std::atomic<bool> is_running_ = true;
    std::thread thread_;
};

}  // namespace muster::kube
