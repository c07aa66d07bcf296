#include "sim/job_measures.h"

#include "sim/job_timeline.h"

#include <algorithm>
#include <map>

namespace muster::sim {

namespace {

constexpr std::int64_t slowdown_bound_s = 10;
constexpr double stretch_grace_s = 86'400;

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::int64_t target_of(const std::string& name, const std::vector<StartTarget>& targets) {
    std::int64_t seconds = StartTarget{}.seconds;
    for (const StartTarget& target : targets) {
        if (target.priority_class == name) { return target.seconds; }
        if (target.priority_class.empty()) { seconds = target.seconds; }
    }
    return seconds;
}

bool is_in_target(const Job& job, const JobOutcome& outcome,
                  const std::vector<StartTarget>& targets) {
    return outcome.has_run() &&
           outcome.start_s - job.submit_s <= target_of(job.priority_class, targets);
}

std::vector<ClassMeasure> measure_classes(const JobTrace& trace, const JobRun& run,
                                          const std::vector<StartTarget>& targets) {
    std::map<std::string, ClassMeasure> by_name;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const JobOutcome& outcome = run.outcomes[i];
        if (outcome.is_skipped) { continue; }
        const Job& job = trace.jobs[i];
        ClassMeasure& measure = by_name[job.priority_class];
        if (measure.jobs++ == 0) {
            measure.name = job.priority_class;
            measure.target_s = target_of(job.priority_class, targets);
        }
        measure.in_target_share += is_in_target(job, outcome, targets) ? 1 : 0;
    }
    std::vector<ClassMeasure> out;
    for (auto& [name, measure] : by_name) {
        measure.in_target_share /= static_cast<double>(measure.jobs);
        out.push_back(std::move(measure));
    }
    return out;
}

}  // namespace

double bounded_slowdown(std::int64_t wait_s, std::int64_t run_s) {
    return std::max(1.0, static_cast<double>(wait_s + run_s) /
                             static_cast<double>(std::max(run_s, slowdown_bound_s)));
}

Spread spread_of(std::vector<std::int64_t> values) {
    if (values.empty()) { return {}; }
    std::ranges::sort(values);
    double sum = 0;
    for (const std::int64_t value : values) { sum += static_cast<double>(value); }
    const auto at = [&](std::size_t percent) {
        return values[(values.size() * percent + 99) / 100 - 1];
    };
    return {.mean = sum / static_cast<double>(values.size()),
            .p50 = at(50),
            .p95 = at(95),
            .p99 = at(99),
            .max = values.back()};
}

JobMeasures measure(const JobTrace& trace, const JobRun& run,
                    const std::vector<StartTarget>& targets) {
    JobMeasures out;
    std::vector<std::int64_t> waits;
    std::vector<std::int64_t> jcts;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const Job& job = trace.jobs[i];
        const JobOutcome& outcome = run.outcomes[i];
        if (outcome.is_skipped) {
            ++out.skipped;
            continue;
        }
        ++out.jobs;
        if (!outcome.has_run()) {
            ++out.unfinished;
            continue;
        }
        const std::int64_t wait = outcome.start_s - job.submit_s;
        const std::int64_t run_s = outcome.end_s - outcome.start_s;
        waits.push_back(wait);
        jcts.push_back(outcome.end_s - job.submit_s);
        const double slowdown = bounded_slowdown(wait, run_s);
        out.mean_bounded_slowdown += slowdown;
        out.max_bounded_slowdown = std::max(out.max_bounded_slowdown, slowdown);
        out.max_stretch =
            std::max(out.max_stretch,
                     static_cast<double>(wait) / (static_cast<double>(run_s) + stretch_grace_s));
    }
    if (!waits.empty()) { out.mean_bounded_slowdown /= static_cast<double>(waits.size()); }
    out.wait_s = spread_of(std::move(waits));
    out.jct_s = spread_of(std::move(jcts));
    const JobTimeline timeline = timeline_of(trace, run);
    out.span_s = timeline.end_s - timeline.begin_s;
    const double whole =
        static_cast<double>(run.machine.capacity()) * static_cast<double>(out.span_s);
    out.utilization = share(timeline.busy_seconds, whole);
    out.idle_share = whole > 0 ? 1 - out.utilization : 0;
    out.fragmented_share = share(timeline.fragmented_seconds, whole);
    out.classes = measure_classes(trace, run, targets);
    return out;
}

std::vector<QueueMeasure> measure_queues(const JobTrace& trace, const JobRun& run,
                                         const std::vector<StartTarget>& targets) {
    struct Waits {
        QueueMeasure measure;
        std::vector<std::int64_t> waits;
        std::vector<std::int64_t> jcts;
    };
    std::map<std::string, Waits> by_name;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const Job& job = trace.jobs[i];
        const JobOutcome& outcome = run.outcomes[i];
        if (outcome.is_skipped) { continue; }
        Waits& queue = by_name[job.queue];
        ++queue.measure.jobs;
        queue.measure.in_target_share += is_in_target(job, outcome, targets) ? 1 : 0;
        if (!outcome.has_run()) { continue; }
        queue.waits.push_back(outcome.start_s - job.submit_s);
        queue.jcts.push_back(outcome.end_s - job.submit_s);
        queue.measure.mean_bounded_slowdown +=
            bounded_slowdown(queue.waits.back(), outcome.end_s - outcome.start_s);
    }
    std::vector<QueueMeasure> out;
    for (auto& [name, queue] : by_name) {
        QueueMeasure& measure = out.emplace_back(std::move(queue.measure));
        measure.name = name;
        measure.in_target_share /= static_cast<double>(measure.jobs);
        measure.mean_bounded_slowdown /= std::max(1.0, static_cast<double>(queue.waits.size()));
        measure.wait_s = spread_of(std::move(queue.waits));
        measure.jct_s = spread_of(std::move(queue.jcts));
    }
    return out;
}

}  // namespace muster::sim
