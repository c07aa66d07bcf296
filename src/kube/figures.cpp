#include "kube/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace muster::kube {

namespace {

constexpr double ms_per_s = 1'000;

std::vector<double> cycle_bounds() {
    return {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};
}
std::vector<double> work_bounds() {
    return {1, 5, 15, 60, 300, 900, 3'600, 14'400, 43'200, 86'400, 259'200, 604'800};
}

double seconds_since(std::int64_t begin_ms, std::int64_t now_ms) {
    return static_cast<double>(std::max<std::int64_t>(0, now_ms - begin_ms)) / ms_per_s;
}

bool is_gang(const Workload& workload) { return workload.tasks.size() > 1; }

bool is_done(const Workload& workload) {
    return std::all_of(workload.tasks.begin(), workload.tasks.end(),
                       [](const Task& task) { return task.state == TaskState::finished; });
}

}  // namespace

void Histogram::add(double value) {
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    ++counts_[static_cast<std::size_t>(at - bounds_.begin())];
    sum_ += value;
}

Figures::Figures(Options options)
    : options_(options),
      cycle_seconds_(cycle_bounds()),
      completion_seconds_(work_bounds()),
      run_seconds_(work_bounds()),
      wait_seconds_(work_bounds()) {}

void Figures::take(const Decision& decision, const Engine& engine, std::int64_t wall_ms) {
    ++cycles_;
    refusals_ += decision.cycle.plan.refusals.size();
    releases_ += decision.cycle.plan.releases.size();
    conflicts_ += decision.cycle.conflicts.size();
    is_behind_ = true;
    catch_up(engine, wall_ms);
}

void Figures::catch_up(const Engine& engine, std::int64_t wall_ms) {
    const bool is_soon =
        looks_ > 0 && wall_ms >= looked_ms_ && wall_ms < looked_ms_ + options_.look_ms;
    if (!is_behind_ || is_soon) { return; }
    is_behind_ = false;
    looked_ms_ = wall_ms;
    look_at(engine.world(), wall_ms);
}

void Figures::look_at(const World& world, std::int64_t wall_ms) {
    ++looks_;
    fleet_ = {};
    for (const Machine& machine : world.machines) {
        if (machine.is_present) {
            fleet_.gpus += static_cast<std::uint64_t>(std::popcount(machine.healthy));
        }
    }
    for (const Workload& workload : world.workloads) {
        if (workload.is_present && !workload.is_lease) { look_at(workload, wall_ms); }
    }
    // What is there no more ends here; one that never ran has no time to completion.
    for (auto at = known_.begin(); at != known_.end();) {
        if (at->second.seen == looks_) {
            ++at;
            continue;
        }
        note_end(at->second, wall_ms);
        at = known_.erase(at);
    }
}

/// Of what had started; once.
void Figures::note_end(Known& known, std::int64_t wall_ms) {
    if (known.has_started && !known.is_done) {
        completion_seconds_.add(seconds_since(known.submitted, wall_ms));
        if (known.started > 0) { run_seconds_.add(seconds_since(known.started, wall_ms)); }
    }
    known.is_done = true;
}

void Figures::look_at(const Workload& workload, std::int64_t wall_ms) {
    for (const Task& task : workload.tasks) {
        if (task.holds()) { fleet_.held += static_cast<double>(task.gpu_milli) / ms_per_s; }
    }
    Known& known = known_[workload.name];
    const bool is_new = known.seen == 0;
    known.seen = looks_;
    if (is_new) {
        known.submitted = workload.order.submitted > 0 ? workload.order.submitted : wall_ms;
        // What ran before this process did has waited already.
        known.has_started = looks_ == 1 && workload.is_running;
        known.is_done = looks_ == 1 && is_done(workload);
    }
    if (workload.is_running && !known.has_started) {
        known.has_started = true;
        known.started = wall_ms;
        const double waited = seconds_since(known.submitted, wall_ms);
        wait_seconds_.add(waited);
        if (workload.priority >= options_.critical_priority) {
            const bool is_in_time = waited * ms_per_s <= static_cast<double>(options_.on_time_ms);
            ++(is_in_time ? critical_in_time_ : critical_late_);
        }
    }
    if (is_done(workload)) {
        note_end(known, wall_ms);
        return;
    }
    ++(workload.is_running ? fleet_.running : fleet_.waiting);
    if (is_gang(workload)) {
        ++(workload.is_running ? fleet_.gangs_running : fleet_.gangs_waiting);
    }
}

void Figures::write_fleet(MetricsText& out) const {
    const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
    const double idle = std::max(0.0, number(fleet_.gpus) - fleet_.held);
    out.family("muster_gpus", MetricType::gauge, "Healthy GPUs, by whether a task holds them");
    out.sample(fleet_.held, {{"state", "held"}});
    out.sample(idle, {{"state", "idle"}});
    out.family("muster_idle_gpu_ratio", MetricType::gauge, "Share of the GPUs that nothing holds");
    out.sample(fleet_.gpus == 0 ? 0 : idle / number(fleet_.gpus));
    out.family("muster_workloads", MetricType::gauge, "Workloads that are there and not finished");
    out.sample(number(fleet_.waiting), {{"state", "waiting"}});
    out.sample(number(fleet_.running), {{"state", "running"}});
    out.family("muster_gangs", MetricType::gauge, "Those of them with several tasks");
    out.sample(number(fleet_.gangs_waiting), {{"state", "waiting"}});
    out.sample(number(fleet_.gangs_running), {{"state", "running"}});
}

void Figures::write_work(MetricsText& out) const {
    const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
    const auto histogram = [&](std::string_view name, std::string_view help,
                               const Histogram& values) {
        out.family(name, MetricType::histogram, help);
        out.histogram(values.bounds(), values.counts(), values.sum());
    };
    histogram("muster_cycle_seconds", "From the facts of a cycle to the end of its orders",
              cycle_seconds_);
    histogram("muster_wait_seconds", "From a workload's submission to its start", wait_seconds_);
    histogram("muster_run_seconds", "From a workload's start to its end", run_seconds_);
    histogram("muster_completion_seconds", "From a workload's submission to its end",
              completion_seconds_);
    out.family("muster_critical_starts_total", MetricType::counter,
               "Starts of critical workloads, by whether they were in time");
    out.sample(number(critical_in_time_), {{"on_time", "true"}});
    out.sample(number(critical_late_), {{"on_time", "false"}});
    const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t count) {
        out.family(name, MetricType::counter, help);
        out.sample(number(count));
    };
    counter("muster_cycles_total", "Decisions on new facts", cycles_);
    counter("muster_refusals_total", "Reasons to wait that were new", refusals_);
    counter("muster_releases_total", "Gangs that were stopped whole", releases_);
    counter("muster_conflicts_total", "Facts that broke a plan", conflicts_);
    counter("muster_binds_total", "Pods bound", orders.bound);
    counter("muster_evictions_total", "Pods evicted", orders.evicted);
    counter("muster_order_failures_total", "Binds and evictions that the server did not take",
            orders.failed);
    counter("muster_eviction_waits_total", "Evictions that a PodDisruptionBudget put off",
            orders.budget_waits);
    counter("muster_busy_waits_total", "Binds and evictions that a busy server put off",
            orders.busy_waits);
    out.family("muster_incomplete_gangs", MetricType::gauge,
               "Gangs that run with fewer than their minimum, until members come or all stop");
    out.sample(number(incomplete_gangs));
}

void Figures::write_policy(MetricsText& out) const {
    out.family("muster_policy_info", MetricType::gauge, "Of the policy that decides");
    out.sample(1, {{"hash", policy_hash}});
    out.family("muster_policy_valid", MetricType::gauge,
               "0 while what was given last was refused, and an older policy decides");
    out.sample(policy.is_valid ? 1 : 0);
    out.family("muster_policy_changes_total", MetricType::counter,
               "Policies that came while it ran, by whether they were taken");
    out.sample(static_cast<double>(policy.taken), {{"result", "taken"}});
    out.sample(static_cast<double>(policy.refused), {{"result", "refused"}});
}

std::string Figures::text() const {
    MetricsText out;
    out.family("muster_build_info", MetricType::gauge, "Of the program that runs");
    out.sample(1, {{"version", version}});
    out.family("muster_leading", MetricType::gauge, "1 while this process decides");
    out.sample(is_leading ? 1 : 0);
    out.family("muster_following", MetricType::gauge, "1 while the cluster's objects are heard");
    out.sample(is_following ? 1 : 0);
    write_fleet(out);
    write_work(out);
    out.family("muster_ledger_entries", MetricType::gauge, "Number of the ledger's last entry");
    out.sample(static_cast<double>(ledger_sequence));
    out.family("muster_ledger_epoch", MetricType::gauge, "How often the ledger was taken over");
    out.sample(static_cast<double>(ledger_epoch));
    out.family("muster_failed_turns_total", MetricType::counter,
               "Turns of the loop that the ledger or the cluster made fail; they are tried again");
    out.sample(static_cast<double>(failed_turns));
    write_policy(out);
    out.family("muster_client_answers_total", MetricType::counter,
               "Answers of the API server by status; none: it could not be asked");
    for (const auto& [status, count] : answers) {
        const std::string code = status == 0 ? "none" : fmt::format("{}", status);
        out.sample(static_cast<double>(count), {{"code", code}});
    }
    return out.text();
}

}  // namespace muster::kube
