#include "cli/change.h"

#include "base/assert.h"
#include "cli/words.h"
#include "engine/world.h"
#include "sim/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

namespace muster::cli {

namespace {

constexpr std::size_t queues_tried_max = 64;

class Trier {
public:
    /// Takes the job out of the engine, so that it does not stand in the way of itself, and puts
    /// it back when done: behind others that were submitted at the same time.
    Trier(Engine& engine, const WorkloadSpec& workload) : engine_(engine), workload_(workload) {
        is_taken_ = engine_.apply(Fact(WorkloadGone{workload_.name})).has_value();
    }
    ~Trier() {
        if (!is_taken_) { return; }
        const auto done = engine_.apply(Fact(WorkloadSet{workload_}));
        MUSTER_ASSERT(done.has_value());
    }
    Trier(const Trier&) = delete;
    Trier& operator=(const Trier&) = delete;

    [[nodiscard]] const WorkloadSpec& workload() const { return workload_; }

    bool starts(const WorkloadSpec& changed) {
        const auto answer = engine_.what_if(changed);
        return answer && std::holds_alternative<Placement>(*answer);
    }

    /// The same with every leaf's task changed.
    template <class Edit>
    bool starts_with_tasks(Edit edit) {
        WorkloadSpec changed = workload_;
        for (GroupSpec& group : changed.groups) { edit(group.task); }
        return starts(changed);
    }

private:
    Engine& engine_;
    WorkloadSpec workload_;
    bool is_taken_ = false;
};

bool has_cause(const Reason& reason, Cause cause) {
    return std::ranges::find(reason.causes, cause, &CauseCount::cause) != reason.causes.end();
}

/// The most tasks that start, of a gang with one role.
std::optional<Change> fewer_tasks(Trier& trier) {
    const WorkloadSpec& workload = trier.workload();
    if (workload.groups.size() != 1 || workload.groups[0].minimum < 2) { return std::nullopt; }
    const auto with = [&](std::int32_t tasks) {
        WorkloadSpec changed = workload;
        changed.groups[0].count = tasks;
        changed.groups[0].minimum = tasks;
        return changed;
    };
    std::int32_t good = 0;
    std::int32_t bad = workload.groups[0].minimum;
    while (bad - good > 1) {
        const std::int32_t middle = good + (bad - good) / 2;
        (trier.starts(with(middle)) ? good : bad) = middle;
    }
    if (good == 0) { return std::nullopt; }
    return Change{"fewer_tasks",
                  fmt::format("{} tasks instead of {}", good, workload.groups[0].minimum)};
}

/// Without the level; or with the next one outside of it, where that is enough.
std::optional<Change> looser_level(Trier& trier, const World& world) {
    std::set<std::string> required;
    for (const GroupSpec& group : trier.workload().groups) {
        if (!group.topology.required.empty()) { required.insert(group.topology.required); }
    }
    const std::vector<Level>& levels = world.topology.levels();
    for (const std::string& name : required) {
        std::size_t at = 0;
        while (at < levels.size() && levels[at].name != name && levels[at].key != name) { ++at; }
        for (std::size_t outer = std::min(at, levels.size()); outer-- > 0;) {
            WorkloadSpec changed = trier.workload();
            for (GroupSpec& group : changed.groups) {
                if (group.topology.required == name) {
                    group.topology.required = levels[outer].name;
                }
            }
            if (trier.starts(changed)) {
                return Change{"looser_level",
                              fmt::format("one {} instead of one {}", levels[outer].name, name)};
            }
        }
        WorkloadSpec changed = trier.workload();
        for (GroupSpec& group : changed.groups) {
            if (group.topology.required == name) { group.topology.required.clear(); }
        }
        if (trier.starts(changed)) {
            return Change{"looser_level", fmt::format("no need of one {}", name)};
        }
    }
    return std::nullopt;
}

/// The first queue, by name, in which it starts.
std::optional<Change> other_queue(Trier& trier, const World& world) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < world.queues.size(); ++i) {
        const Queue& queue = world.queues.at(QueueId(i));
        if (queue.is_present && queue.children == 0 && queue.spec.name != trier.workload().queue) {
            names.push_back(queue.spec.name);
        }
    }
    std::ranges::sort(names);
    names.resize(std::min(names.size(), queues_tried_max));
    for (const std::string& name : names) {
        WorkloadSpec changed = trier.workload();
        changed.queue = name;
        if (trier.starts(changed)) { return Change{"other_queue", "queue " + name}; }
    }
    return std::nullopt;
}

/// The most CPU, or memory, per task with which it starts; of gangs with one role.
std::optional<Change> smaller_request(Trier& trier, bool is_cpu) {
    const WorkloadSpec& workload = trier.workload();
    if (workload.groups.size() != 1) { return std::nullopt; }
    constexpr std::int64_t mebi = 1 << 20;
    const Resources& request = workload.groups[0].task.request;
    const std::int64_t unit = is_cpu ? 100 : 256 * mebi;
    const auto with = [&](std::int64_t units) {
        WorkloadSpec changed = workload;
        Resources& asked = changed.groups[0].task.request;
        (is_cpu ? asked.milli_cpu : asked.memory) = units * unit;
        return changed;
    };
    std::int64_t bad = ((is_cpu ? request.milli_cpu : request.memory) + unit - 1) / unit;
    if (bad == 0 || !trier.starts(with(0))) { return std::nullopt; }
    std::int64_t good = 0;
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (trier.starts(with(middle)) ? good : bad) = middle;
    }
    if (is_cpu) {
        return Change{"less_cpu", fmt::format("{} CPU a task instead of {}",
                                              sim::write_thousandths(good * unit),
                                              sim::write_thousandths(request.milli_cpu))};
    }
    return Change{"less_memory", fmt::format("{} MiB a task instead of {}", good * unit / mebi,
                                             request.memory / mebi)};
}

}  // namespace

std::vector<Change> changes_that_start(Engine& engine, const WorkloadSpec& workload,
                                       const Reason& reason) {
    Trier trier(engine, workload);
    const World& world = engine.world();
    std::vector<Change> out;
    const auto add = [&](std::optional<Change> change) {
        if (change) { out.push_back(std::move(*change)); }
    };
    const bool is_queue = reason.link == ChainLink::admit && reason.why != Why::too_large;
    if (is_queue) { add(other_queue(trier, world)); }
    add(fewer_tasks(trier));
    add(looser_level(trier, world));
    if (has_cause(reason, Cause::gpu_model) &&
        trier.starts_with_tasks([](TaskSpec& task) { task.gpu.models.clear(); })) {
        out.push_back({"other_model", "any GPU model"});
    }
    if (has_cause(reason, Cause::taint) && trier.starts_with_tasks([](TaskSpec& task) {
            task.tolerations = {{.key = "", .op = TolerationOp::exists, .value = ""}};
        })) {
        out.push_back({"tolerate", "a toleration of the nodes' taints"});
    }
    if (has_cause(reason, Cause::selector) && trier.starts_with_tasks([](TaskSpec& task) {
            task.node_selector.clear();
            task.required.clear();
        })) {
        out.push_back({"any_node", "no node selector or affinity"});
    }
    if (has_cause(reason, Cause::cpu)) { add(smaller_request(trier, true)); }
    if (has_cause(reason, Cause::memory)) { add(smaller_request(trier, false)); }
    return out;
}

}  // namespace muster::cli
