// What a scheduler counts of its work, and how Prometheus reads it. Belongs to one thread.
#pragma once

#include "base/metrics_text.h"
#include "control/decider.h"
#include "engine/world.h"
#include "kube/binder.h"
#include "kube/guarded_transport.h"
#include "kube/policy_source.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster::kube {

/// Counts in buckets; the last one has all that is larger.
class Histogram {
public:
    explicit Histogram(std::vector<double> bounds)
        : bounds_(std::move(bounds)),
          counts_(bounds_.size() + 1) {}
    void add(double value);

    [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }
    [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
    [[nodiscard]] double sum() const { return sum_; }

private:
    std::vector<double> bounds_;
    std::vector<std::uint64_t> counts_;
    double sum_ = 0;
};

class Figures {
public:
    struct Options {
        std::int64_t critical_priority = 1;  // workloads of at least this priority are critical
        std::int64_t on_time_ms = 60'000;    // from submission to start
        std::int64_t look_ms = 0;            // all workloads are looked at no more often
    };
    explicit Figures(Options options);

    /// What a decision came to, and how the engine stands behind it. `wall_ms`: since the epoch.
    void take(const Decision& decision, const Engine& engine, std::int64_t wall_ms);
    /// Called now and then: looks at what was too soon to be looked at.
    void catch_up(const Engine& engine, std::int64_t wall_ms);
    void note_cycle_seconds(double seconds) { cycle_seconds_.add(seconds); }

    /// In Prometheus' text format.
    [[nodiscard]] std::string text() const;

    AnswerCounts answers;
    Binder::Counts orders;
    std::uint64_t incomplete_gangs = 0;
    std::uint64_t ledger_sequence = 0;
    std::uint64_t ledger_epoch = 0;
    std::uint64_t failed_turns = 0;
    PolicySource::Counts policy;
    std::string policy_hash;
    bool is_leading = false;
    bool is_following = false;  // the cluster's objects are heard
    std::string version;

private:
    struct Known {
        std::int64_t submitted = 0;  // ms since the epoch
        std::int64_t started = 0;    // the same; 0: before this process looked
        bool has_started = false;
        bool is_done = false;
        std::uint64_t seen = 0;  // in which look
    };
    struct Fleet {
        std::uint64_t gpus = 0;  // healthy, on nodes that are there
        double held = 0;
        std::uint64_t waiting = 0;  // workloads
        std::uint64_t running = 0;
        std::uint64_t gangs_waiting = 0;
        std::uint64_t gangs_running = 0;
    };
    void look_at(const World& world, std::int64_t wall_ms);
    void look_at(const Workload& workload, std::int64_t wall_ms);
    void write_fleet(MetricsText& out) const;
    void write_work(MetricsText& out) const;
    void write_policy(MetricsText& out) const;
    void note_end(Known& known, std::int64_t wall_ms);

    Options options_;
    Histogram cycle_seconds_;
    Histogram completion_seconds_;
    Histogram run_seconds_;
    Histogram wait_seconds_;
    std::map<std::string, Known> known_;  // workloads that are there
    std::uint64_t looks_ = 0;
    std::int64_t looked_ms_ = 0;
    bool is_behind_ = false;
    std::uint64_t cycles_ = 0;
    std::uint64_t refusals_ = 0;
    std::uint64_t releases_ = 0;
    std::uint64_t conflicts_ = 0;
    std::uint64_t critical_in_time_ = 0;
    std::uint64_t critical_late_ = 0;
    Fleet fleet_;
};

}  // namespace muster::kube
