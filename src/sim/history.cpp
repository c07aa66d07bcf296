#include "sim/history.h"

#include "model/rest_of_gang.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace muster::sim {

namespace {

/// Reads records in order and sorts their facts into what the world did and what followed from
/// decisions.
class Reader {
public:
    void take(const Opened& opened) {
        history_.policy = opened.policy;
        add_boundary();
    }

    void take(const Snapshot& snapshot) {
        add_boundary();
        if (history_.begin || history_.cycles > 0) { return; }
        history_.begin = snapshot;
        history_.policy = snapshot.policy;
        now_ = history_.begin_at = snapshot.now;
        for (const NodeSpec& node : snapshot.nodes) { history_.recorded.set_node(now_, node); }
        for (const WorkloadStatus& status : snapshot.workloads) { take(status); }
    }

    void take(const Cycle& cycle) {
        ++history_.cycles;
        std::vector<bool> is_refused(cycle.facts.size(), false);
        for (const Conflict& conflict : cycle.conflicts) {
            if (conflict.rule == ConflictRule::fact_refused) { is_refused[conflict.fact] = true; }
        }
        // All of a cycle's facts were heard by its time, wherever among them that stands.
        for (const Fact& fact : cycle.facts) {
            if (const auto* time = std::get_if<TimeIs>(&fact)) { now_ = std::max(now_, time->now); }
        }
        for (std::size_t i = 0; i < cycle.facts.size(); ++i) {
            if (is_refused[i]) { continue; }
            std::visit([&](const auto& fact) { on(fact); }, cycle.facts[i]);
        }
        if (history_.cycles == 1 && !history_.begin) { history_.begin_at = now_; }
        for (const Release& release : cycle.plan.releases) {
            if (const std::uint32_t work = find(release.workload); work != no_work) {
                history_.recorded.release(work);
            }
        }
        for (const Placement& placement : cycle.plan.placements) {
            const std::uint32_t work = find(placement.workload);
            if (work == no_work) { continue; }
            for (const TaskPlace& place : placement.tasks) {
                history_.recorded.hold(now_, work, place.task, place.node);
            }
        }
    }

    /// Who is there at the log's end stays until then.
    History finish() {
        history_.end_at = now_;
        for (std::uint32_t work = 0; work < history_.names.size(); ++work) {
            if (!is_there_[work]) { continue; }
            add(WorkloadGone{history_.names[work]}, work);
            history_.recorded.end(now_, work);
        }
        return std::move(history_);
    }

private:
    void take(const WorkloadStatus& status) {
        const std::int64_t submitted = status.spec.submitted;
        const std::uint32_t work =
            begin_work(status.spec, submitted > 0 && submitted < now_ ? submitted : now_);
        for (std::uint32_t i = 0; i < status.tasks.size(); ++i) {
            if (status.tasks[i].node.empty()) { continue; }
            history_.recorded.hold(now_, work, i, status.tasks[i].node);
        }
        history_.recorded.life(work).was_running = status.is_running;
        if (!status.is_running) { history_.recorded.release(work); }
    }

    void add_boundary() {
        if (history_.cycles > 0) { history_.boundaries.push_back(now_); }
    }

    void on(const TimeIs& /*fact*/) {}
    void on(const NodeSet& fact) {
        history_.recorded.set_node(now_, fact.node);
        add(fact);
    }
    void on(const NodeGone& fact) {
        history_.recorded.drop_node(now_, fact.node);
        add(fact);
    }
    template <class Other>  // topology, health, queues, leases
    void on(const Other& fact) {
        add(fact);
    }

    void on(const WorkloadSet& fact) {
        WorkloadSpec spec = fact.workload;
        std::uint32_t work = find(spec.name);
        if (work != no_work && is_another(uids_[work], spec.uid)) {
            on(WorkloadGone{spec.name});
            work = no_work;
        }
        const bool is_new = work == no_work;
        if (is_new) { work = begin_work(spec, now_); }
        if (!spec.uid.empty()) { uids_[work] = spec.uid; }
        for (std::string& name : spec.linked) { name = next_name(name); }
        spec.name = history_.names[work];
        add(WorkloadSet{std::move(spec)}, work);
    }

    /// A run ends with its workload or with its last task; both end it alike when decided anew.
    void on(const WorkloadGone& fact) {
        const std::uint32_t work = find(fact.workload);
        if (work == no_work) { return; }
        const bool has_ended = history_.recorded.lives()[work].end >= 0;
        if (!has_ended && !end_run(work)) { add(WorkloadGone{history_.names[work]}, work); }
        history_.recorded.end(now_, work);
        is_there_[work] = false;
        numbers_.erase(fact.workload);
    }

    void on(const TaskGone& fact) {
        const std::uint32_t work = find(fact.workload);
        if (work == no_work || fact.task == rest_of_gang) { return; }
        history_.recorded.let_go(now_, work, fact.task);
        if (fact.is_finished && ++finished_[work] == history_.recorded.task_count(work)) {
            end_run(work);
            history_.recorded.end(now_, work);
        }
    }

    /// What was ordered is confirmed; what was not, happened by itself.
    void on(const TaskBound& fact) {
        const std::uint32_t work = find(fact.workload);
        if (work == no_work || history_.recorded.is_held(work, fact.task, fact.node)) { return; }
        history_.recorded.hold(now_, work, fact.task, fact.node);
        TaskBound foreign = fact;
        foreign.workload = history_.names[work];
        add(std::move(foreign), work);
    }

    void add(Fact fact, std::uint32_t work = no_work) {
        history_.events.push_back({.at = now_, .fact = std::move(fact), .work = work});
    }

    std::uint32_t begin_work(const WorkloadSpec& spec, std::int64_t submitted) {
        const std::uint32_t work = history_.recorded.add(submitted, spec);
        history_.names.push_back(next_name(spec.name));
        history_.run_times.push_back(-1);
        uids_.push_back(spec.uid);
        finished_.push_back(0);
        is_there_.push_back(true);
        numbers_[spec.name] = work;
        ++uses_[spec.name];
        return work;
    }

    /// True when it ran.
    bool end_run(std::uint32_t work) {
        const Life& life = history_.recorded.lives()[work];
        if (!life.is_running()) { return false; }
        history_.run_times[work] = now_ - life.start;
        return true;
    }

    [[nodiscard]] std::uint32_t find(const std::string& name) const {
        const auto found = numbers_.find(name);
        return found == numbers_.end() ? no_work : found->second;
    }

    /// Of who is there, or will be there next.
    [[nodiscard]] std::string next_name(const std::string& name) const {
        if (const std::uint32_t work = find(name); work != no_work) { return history_.names[work]; }
        const auto used = uses_.find(name);
        return used == uses_.end() ? name : fmt::format("{}#{}", name, used->second + 1);
    }

    History history_;
    std::unordered_map<std::string, std::uint32_t> numbers_;  // of those that are there
    std::unordered_map<std::string, std::uint32_t> uses_;
    std::vector<std::string> uids_;      // by work
    std::vector<std::size_t> finished_;  // tasks, by work
    std::vector<bool> is_there_;
    std::int64_t now_ = 0;
};

}  // namespace

Result<History> read_history(Cursor records) {
    Reader reader;
    while (true) {
        MUSTER_TRY(item, records.next());
        if (!item) { return reader.finish(); }
        std::visit([&](const auto& record) { reader.take(record); }, item->record);
    }
}

}  // namespace muster::sim
