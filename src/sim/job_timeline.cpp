#include "sim/job_timeline.h"

#include <algorithm>

namespace muster::sim {

namespace {

enum class What : std::uint8_t { submitted, started, ended };

struct Event {
    std::int64_t at_s;
    std::uint32_t job;
    What what;
};

std::vector<Event> events_of(const JobTrace& trace, const JobRun& run) {
    std::vector<Event> events;
    events.reserve(3 * trace.jobs.size());
    for (std::uint32_t i = 0; i < trace.jobs.size(); ++i) {
        const JobOutcome& outcome = run.outcomes[i];
        if (outcome.is_skipped) { continue; }
        events.push_back({trace.jobs[i].submit_s, i, What::submitted});
        if (!outcome.has_run()) { continue; }
        events.push_back({outcome.start_s, i, What::started});
        events.push_back({outcome.end_s, i, What::ended});
    }
    std::ranges::sort(events, {}, &Event::at_s);
    return events;
}

/// What is in use on each node, and what is free beside it.
class Nodes {
public:
    explicit Nodes(const Machine& machine)
        : per_node_(machine.per_node),
          used_(static_cast<std::size_t>(machine.nodes), 0) {}

    void change(const JobPart& part, std::int64_t sign) {
        std::int64_t& used = used_[static_cast<std::size_t>(part.node)];
        fragmented_ -= free_beside(used);
        used += sign * part.count;
        fragmented_ += free_beside(used);
    }
    [[nodiscard]] std::int64_t fragmented() const { return fragmented_; }

private:
    /// Also while events of one instant are half applied, when a node may seem over-full.
    [[nodiscard]] std::int64_t free_beside(std::int64_t used) const {
        return used > 0 ? per_node_ - used : 0;
    }

    std::int64_t per_node_;
    std::vector<std::int64_t> used_;
    std::int64_t fragmented_ = 0;
};

}  // namespace

JobTimeline timeline_of(const JobTrace& trace, const JobRun& run) {
    const std::vector<Event> events = events_of(trace, run);
    JobTimeline out;
    if (events.empty()) { return out; }
    out.begin_s = events.front().at_s;
    out.end_s = events.back().at_s;
    const bool has_nodes = run.machine.nodes > 1;
    Nodes nodes(run.machine);
    TimelineStep now{.at_s = out.begin_s};
    for (const Event& event : events) {
        if (event.at_s != now.at_s) {
            const auto seconds = static_cast<double>(event.at_s - now.at_s);
            out.busy_seconds += seconds * static_cast<double>(now.busy);
            out.fragmented_seconds += seconds * static_cast<double>(now.fragmented);
            out.steps.push_back(now);
            now.at_s = event.at_s;
        }
        if (event.what == What::submitted) {
            ++now.waiting;
            continue;
        }
        const std::int64_t sign = event.what == What::started ? 1 : -1;
        now.waiting -= event.what == What::started ? 1 : 0;
        now.busy += sign * trace.jobs[event.job].size;
        if (!has_nodes) { continue; }
        for (const JobPart& part : run.parts_of(run.outcomes[event.job])) {
            nodes.change(part, sign);
        }
        now.fragmented = nodes.fragmented();
    }
    out.steps.push_back(now);
    return out;
}

}  // namespace muster::sim
