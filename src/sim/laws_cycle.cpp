// What one cycle did, against what was there before it.
#include "sim/laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace muster {

namespace {

/// Labels as text, with the name that `metadata.name` stands for.
std::vector<Label> labels_of(const Machine& machine) {
    std::vector<Label> labels = machine.spec.labels;
    labels.push_back({"metadata.name", machine.spec.name});
    return labels;
}

bool all_match(const std::vector<LabelMatch>& matches, const std::vector<Label>& labels) {
    return std::all_of(matches.begin(), matches.end(),
                       [&](const LabelMatch& match) { return label_holds(match, labels); });
}

/// The domain of a level that a node is in, as text; nothing when it is in none.
std::optional<std::string> domain_of(const World& world, const std::string& level,
                                     const Machine& machine) {
    std::string path;
    for (const Level& one : world.topology.levels()) {
        const std::string* value = label_of(machine.spec.labels, one.key);
        path += value == nullptr ? "/-" : "/+" + *value;
        if (one.name == level || one.key == level) {
            return value == nullptr ? std::nullopt : std::optional(path);
        }
    }
    if (level == "node" || level == "kubernetes.io/hostname") { return machine.spec.name; }
    const std::string* value = label_of(machine.spec.labels, level);
    return value == nullptr ? std::nullopt : std::optional(*value);
}

}  // namespace

std::map<std::string, std::int64_t> overdrafts(const World& world) {
    std::map<std::string, std::int64_t> out;
    const auto put = [&](const std::string& node, std::string_view what, std::int64_t free) {
        if (free < 0) { out[fmt::format("node {}: {}", node, what)] = free; }
    };
    for (std::size_t i = 0; i < world.machines.size(); ++i) {
        const Machine& machine = world.machines[i];
        if (!machine.is_present) { continue; }
        const std::string& name = machine.spec.name;
        put(name, "cpu", world.space.nodes[i].milli_cpu);
        put(name, "memory", world.space.nodes[i].memory);
        put(name, "pods", world.space.nodes[i].pods);
        for (std::size_t e = 0; e < machine.extended.size(); ++e) {
            put(name, world.symbols.text(machine.extended[e].first),
                world.space.extended[machine.extended_begin + e]);
        }
        for (std::size_t z = 0; z < machine.spec.numa.size(); ++z) {
            put(name, fmt::format("cpu of zone {}", z),
                world.space.zone_cpu[machine.zone_begin + z]);
        }
    }
    return out;
}

std::map<std::string, std::int64_t> over_caps(const World& world) {
    std::map<std::string, std::map<std::string, std::int64_t>> used;
    for (const Holding& holding : all_holdings(world)) {
        for (QueueId up = holding.workload->queue; up.is_valid(); up = world.queues.at(up).parent) {
            auto& sum = used[world.queues.at(up).spec.name];
            sum["gpu"] += holding.task->gpu_milli;
            sum["cpu"] += holding.shape->spec.request.milli_cpu;
            sum["memory"] += holding.shape->spec.request.memory;
            for (const Amount& amount : holding.shape->spec.request.extended) {
                sum[amount.name] += amount.count;
            }
        }
    }
    std::map<std::string, std::int64_t> out;
    for (std::size_t i = 0; i < world.queues.size(); ++i) {
        const Queue& queue = world.queues.at(QueueId(i));
        if (!queue.is_present) { continue; }
        for (const Amount& cap : queue.spec.cap.amounts) {
            const std::int64_t usage = used[queue.spec.name][cap.name];
            if (usage > cap.count) {
                out[fmt::format("queue {}: {} of cap {}", queue.spec.name, cap.name, cap.count)] =
                    usage;
            }
        }
    }
    return out;
}

CycleWatch::CycleWatch(const World& before)
    : overdrafts_(overdrafts(before)),
      over_caps_(over_caps(before)) {
    for (const Holding& holding : all_holdings(before)) {
        held_[{holding.workload->name, holding.index}] = {holding.machine->spec.name,
                                                          holding.task->devices};
    }
    for (const Workload& workload : before.workloads) {
        if (workload.is_present) { running_[workload.name] = workload.is_running; }
    }
}

class CycleWatch::Check {
public:
    Check(const CycleWatch& watch, const World& after, const Plan& plan)
        : watch_(watch),
          world_(after),
          plan_(plan),
          holdings_(all_holdings(after)) {}

    std::vector<std::string> run() {
        read_releases();
        read_placements();
        read_refusals();
        compare_holdings();
        for (const Holding* holding : fresh_) { check_node(*holding); }
        check_levels();
        check_starts();
        check_pods();
        for (const auto& [name, amount] : overdrafts(world_)) {
            const auto before = watch_.overdrafts_.find(name);
            if (before == watch_.overdrafts_.end() || amount < before->second) {
                say("law 1: {} fell to {} in a cycle", name, amount);
            }
        }
        for (const auto& [name, amount] : over_caps(world_)) {
            const auto before = watch_.over_caps_.find(name);
            if (before == watch_.over_caps_.end() || amount > before->second) {
                say("law 3: {}: usage rose to {} in a cycle", name, amount);
            }
        }
        return std::move(broken_);
    }

private:
    template <class... Args>
    void say(fmt::format_string<Args...> text, Args&&... args) {
        broken_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    [[nodiscard]] const Workload* find(const std::string& name) const {
        const WorkloadId id = world_.find_workload(name);
        return id.is_valid() ? &world_.workloads[id.value] : nullptr;
    }

    void read_releases() {
        for (const Release& release : plan_.releases) {
            for (const TaskPlace& task : release.tasks) {
                const auto before = watch_.held_.find({release.workload, task.task});
                if (before == watch_.held_.end() || before->second.node != task.node) {
                    say("plan: releases {}/{} from {}, where it did not run", release.workload,
                        task.task, task.node);
                }
                if (!released_.insert({release.workload, task.task}).second) {
                    say("plan: releases {}/{} twice", release.workload, task.task);
                }
            }
        }
    }

    void read_placements() {
        for (const Placement& placement : plan_.placements) {
            const Workload* workload = find(placement.workload);
            const bool has_finished =
                workload != nullptr &&
                std::any_of(workload->groups.begin(), workload->groups.end(),
                            [](const Group& group) { return group.finished > 0; });
            if (placement.tasks.empty() && !has_finished) {
                say("plan: places nothing of {}", placement.workload);
            }
            if (workload == nullptr || !workload->is_running) {
                say("plan: places {}, which does not run after it", placement.workload);
            }
            for (const TaskPlace& task : placement.tasks) {
                const TaskName name{placement.workload, task.task};
                if (watch_.held_.contains(name)) {
                    say("plan: places {}/{}, which runs already", name.first, name.second);
                }
                if (!placed_.emplace(name, task).second) {
                    say("plan: places {}/{} twice", name.first, name.second);
                }
            }
        }
    }

    void read_refusals() {
        std::set<std::string> seen;
        for (const Refusal& refusal : plan_.refusals) {
            const Workload* workload = find(refusal.workload);
            if (!seen.insert(refusal.workload).second) {
                say("plan: refuses {} twice", refusal.workload);
            }
            if (workload == nullptr || !workload->is_waiting()) {
                say("plan: refuses {}, which does not wait", refusal.workload);
            } else if (!workload->reason || *workload->reason != refusal.reason) {
                say("plan: refuses {} with another reason than it waits with: \"{}\"",
                    refusal.workload, refusal.reason.text);
            }
        }
    }

    /// The plan is what happened, and all of it.
    void compare_holdings() {
        std::set<TaskName> held;
        for (const Holding& holding : holdings_) {
            const TaskName name{holding.workload->name, holding.index};
            held.insert(name);
            const auto placed = placed_.find(name);
            const auto before = watch_.held_.find(name);
            if (placed != placed_.end()) {
                fresh_.push_back(&holding);
                if (placed->second.node != holding.machine->spec.name ||
                    !(placed->second.devices == holding.task->devices)) {
                    say("plan: places {}/{} on {}, it holds {}", name.first, name.second,
                        placed->second.node, holding.machine->spec.name);
                }
            } else if (before == watch_.held_.end()) {
                say("plan: does not say that {} started", holding.name());
            } else if (released_.contains(name) && holding.task->state != TaskState::leaving) {
                say("plan: releases {}, which does not leave", holding.name());
            } else if (before->second.node != holding.machine->spec.name ||
                       !(before->second.devices == holding.task->devices)) {
                say("plan: does not say that {} moved there from {}", holding.name(),
                    before->second.node);
            }
        }
        for (const auto& [name, task] : placed_) {
            if (!held.contains(name)) {
                say("plan: places {}/{}, which holds nothing", name.first, name.second);
            }
        }
        for (const auto& [name, place] : watch_.held_) {
            if (!held.contains(name)) {
                say("plan: does not say that {}/{} left {}", name.first, name.second, place.node);
            }
        }
    }

    /// Everything about the node that the task's specification speaks of.
    void check_node(const Holding& holding) {
        const TaskSpec& spec = holding.shape->spec;
        const NodeSpec& node = holding.machine->spec;
        const std::vector<Label> labels = labels_of(*holding.machine);
        const std::vector<Taint> cordon{{.key = "node.kubernetes.io/unschedulable",
                                         .value = {},
                                         .effect = TaintEffect::no_schedule}};
        const bool is_shut = node.is_cordoned && !tolerates_all(cordon, spec.tolerations);
        if (!node.is_ready || is_shut) {
            say("placement: {} is {}", holding.name(), node.is_ready ? "cordoned" : "not ready");
        }
        if (!tolerates_all(node.taints, spec.tolerations)) {
            say("placement: {} does not tolerate its taints", holding.name());
        }
        for (const Label& label : spec.node_selector) {
            const std::string* value = label_of(labels, label.key);
            if (value == nullptr || *value != label.value) {
                say("placement: {} wants {}={}", holding.name(), label.key, label.value);
            }
        }
        for (const auto* terms : {&spec.required, &spec.implied}) {
            if (!terms->empty() &&
                std::none_of(terms->begin(), terms->end(), [&](const NodeTerm& term) {
                    return all_match(term.matches, labels);
                })) {
                say("placement: {} meets none of {} node terms", holding.name(), terms->size());
            }
        }
        if (holding.task->is_conflict) { say("placement: {} is a conflict", holding.name()); }
        check_extended(holding);
        check_gpus(holding);
    }

    void check_extended(const Holding& holding) {
        for (const Amount& amount : holding.shape->spec.request.extended) {
            const auto& all = holding.machine->spec.allocatable.extended;
            if (amount.count > 0 && std::none_of(all.begin(), all.end(), [&](const Amount& one) {
                    return one.name == amount.name;
                })) {
                say("placement: {} has no {}", holding.name(), amount.name);
            }
        }
    }

    void check_gpus(const Holding& holding) {
        const NodeSpec& node = holding.machine->spec;
        const GpuNeed& need = holding.shape->spec.gpu;
        const Devices& devices = holding.task->devices;
        std::uint64_t gpus = devices.gpus;
        for (const MigSlot& slot : devices.mig) {
            if ((gpus >> slot.gpu & 1) == 0) {
                say("placement: {} has an instance on gpu {} outside of its mask", holding.name(),
                    slot.gpu);
            }
        }
        std::set<std::int32_t> zones;
        for (std::size_t i = 0; i < node.gpus.size(); ++i) {
            if ((gpus >> i & 1) == 0) { continue; }
            const GpuSpec& gpu = node.gpus[i];
            if (!gpu.is_healthy) { say("placement: {} gets broken gpu {}", holding.name(), i); }
            if (!need.models.empty() &&
                std::find(need.models.begin(), need.models.end(), gpu.model) == need.models.end()) {
                say("placement: {} gets a gpu of model {}", holding.name(), gpu.model);
            }
            if (gpu.numa >= 0) { zones.insert(gpu.numa); }
        }
        if (node.numa_policy != NumaPolicy::single_numa_node || node.numa.empty()) { return; }
        if (zones.size() > 1) { say("placement: {} spans {} zones", holding.name(), zones.size()); }
        if (zones.size() == 1 && devices.numa != *zones.begin()) {
            say("placement: {} has gpus of zone {} and says {}", holding.name(), *zones.begin(),
                devices.numa);
        }
        const bool is_pinned =
            holding.shape->spec.is_cpu_exclusive && holding.shape->spec.request.milli_cpu > 0;
        if (is_pinned && devices.numa < 0) {
            say("placement: {} has exclusive cpus of no zone", holding.name());
        }
    }

    /// What a plan placed of a group stands in one domain of its required level, with what was
    /// there before.
    void check_levels() {
        for (const Workload& workload : world_.workloads) {
            if (!workload.is_present || !workload.is_running) { continue; }
            for (std::size_t i = 0; i < workload.groups.size(); ++i) {
                if (!workload.groups[i].topology.required.empty()) { check_level(workload, i); }
            }
        }
    }

    [[nodiscard]] static bool is_within(const Workload& workload, std::size_t group,
                                        std::size_t outer) {
        auto at = static_cast<std::int32_t>(group);
        while (at >= 0 && static_cast<std::size_t>(at) != outer) {
            at = workload.groups[static_cast<std::size_t>(at)].parent;
        }
        return at >= 0;
    }

    void check_level(const Workload& workload, std::size_t index) {
        const Group& group = workload.groups[index];
        const std::string& level = group.topology.required;
        std::set<std::string> fresh;
        std::set<std::string> old;
        for (std::uint32_t t = 0; t < workload.tasks.size(); ++t) {
            const Task& task = workload.tasks[t];
            if (task.state != TaskState::placed || !is_within(workload, task.group, index)) {
                continue;
            }
            const bool is_fresh = placed_.contains({workload.name, t});
            const auto domain = domain_of(world_, level, world_.machines[task.node.value]);
            if (is_fresh && !domain) {
                say("law 2: {}/{} on node {} is in no {}", workload.name, t,
                    world_.machines[task.node.value].spec.name, level);
            }
            (is_fresh ? fresh : old).insert(domain.value_or("none"));
        }
        if (fresh.size() > 1) {
            say("law 2: group {} ({}) of {} was placed in {} domains of {}: {}", index, group.name,
                workload.name, fresh.size(), level, fmt::join(fresh, ", "));
        }
        if (!fresh.empty() && !old.empty() && !old.contains(*fresh.begin())) {
            say("law 2: group {} ({}) of {} runs in {} and was continued in {}", index, group.name,
                workload.name, fmt::join(old, ", "), *fresh.begin());
        }
    }

    /// Who started in this cycle: its links with it, nobody before it in a strict queue.
    void check_starts() {
        for (std::size_t i = 0; i < world_.workloads.size(); ++i) {
            const Workload& workload = world_.workloads[i];
            const auto before = watch_.running_.find(workload.name);
            const bool was_running =
                before != watch_.running_.end() && before->second && !is_released(workload.name);
            if (!workload.is_present || !workload.is_running || was_running) { continue; }
            for (const std::string& name : workload.linked) {
                const Workload* peer = find(name);
                if (peer == nullptr || !peer->is_running) {
                    say("law 2: {} started without {}, which it is linked to", workload.name, name);
                }
            }
            if (workload.groups[0].held_minimum != workload.groups[0].minimum) {
                say("law 2: {} started and keeps a minimum of {}, asked {}", workload.name,
                    workload.groups[0].held_minimum, workload.groups[0].minimum);
            }
            if (workload.queue.is_valid() &&
                world_.queues.at(workload.queue).spec.head == HeadRule::strict) {
                check_strict(workload);
            }
        }
    }

    [[nodiscard]] bool is_released(const std::string& name) const {
        return std::any_of(plan_.releases.begin(), plan_.releases.end(),
                           [&](const Release& release) { return release.workload == name; });
    }

    /// Linked gangs stand where the first of them does.
    [[nodiscard]] Order standing(const Workload& workload) const {
        Order first = workload.order;
        for (const std::string& name : workload.linked) {
            const Workload* peer = find(name);
            if (peer != nullptr && peer->queue.is_valid() &&
                peer->is_running == workload.is_running) {
                first = std::min(first, peer->order);
            }
        }
        return first;
    }

    void check_strict(const Workload& started) {
        for (const Workload& other : world_.workloads) {
            if (other.is_waiting() && other.queue == started.queue && !other.is_hopeless &&
                standing(other) < standing(started)) {
                say("law 7: {} started in strict queue {} before {}", started.name,
                    started.queue_name, other.name);
            }
        }
    }

    struct Pod {
        const Holding* holding;
        std::vector<Label> labels;
        std::string name_space;
        bool is_fresh;
    };

    [[nodiscard]] static bool selects(const PodTerm& term, const Pod& owner, const Pod& other) {
        const bool is_named = term.is_any_namespace ? true
                              : term.namespaces.empty()
                                  ? other.name_space == owner.name_space
                                  : std::find(term.namespaces.begin(), term.namespaces.end(),
                                              other.name_space) != term.namespaces.end();
        return is_named && all_match(term.selector, other.labels);
    }

    [[nodiscard]] static const std::string* key_of(const PodTerm& term, const Pod& pod) {
        return label_of(pod.holding->machine->spec.labels, term.topology_key);
    }

    void check_pods() {
        std::vector<Pod> pods;
        for (const Holding& holding : holdings_) {
            pods.push_back({&holding, unpack_labels(holding.group->labels),
                            world_.symbols.text(holding.group->name_space),
                            placed_.contains({holding.workload->name, holding.index})});
        }
        for (const Pod& pod : pods) {
            for (const PodTerm& term : pod.holding->shape->spec.pod_terms) {
                if (term.spread.max_skew > 0) {
                    check_spread(term, pod, pods);
                } else if (term.weight == 0) {
                    check_term(term, pod, pods);
                }
            }
        }
    }

    /// Anti: nobody who is matched in the same domain, if one of the two is new. Else: someone is,
    /// or nobody who is matched was there before (the first of its kind).
    void check_term(const PodTerm& term, const Pod& owner, const std::vector<Pod>& pods) {
        const std::string* here = key_of(term, owner);
        bool has_neighbour = false;
        bool has_old = false;
        for (const Pod& other : pods) {
            if (&other == &owner || !selects(term, owner, other)) { continue; }
            const std::string* there = key_of(term, other);
            const bool is_near = here != nullptr && there != nullptr && *here == *there;
            has_neighbour |= is_near;
            has_old |= !other.is_fresh && there != nullptr;
            if (term.is_anti && is_near && (owner.is_fresh || other.is_fresh)) {
                say("placement: {} keeps away from {} in {}", owner.holding->name(),
                    other.holding->name(), term.topology_key);
            }
        }
        if (term.is_anti || !owner.is_fresh || has_neighbour || !plan_.releases.empty()) { return; }
        if (here == nullptr || has_old || !selects(term, owner, owner)) {
            say("placement: {} has nobody near it in {}", owner.holding->name(), term.topology_key);
        }
    }

    /// Where all that came are of the one role, the domain of each is at most the skew above the
    /// emptiest of those that the role could be in: who came last saw no emptier one.
    void check_spread(const PodTerm& term, const Pod& owner, const std::vector<Pod>& pods) {
        if (term.spread.is_wish || !owner.is_fresh || !plan_.releases.empty()) { return; }
        std::map<std::string, std::int64_t> counts;
        const TaskSpec& spec = owner.holding->shape->spec;
        for (const Machine& machine : world_.machines) {
            if (!machine.is_present) { continue; }
            const std::vector<Label> labels = labels_of(machine);
            const std::string* domain = label_of(labels, term.topology_key);
            const auto lacks_key = [&](const PodTerm& other) {
                return other.spread.max_skew > 0 && !other.spread.is_wish &&
                       label_of(labels, other.topology_key) == nullptr;
            };
            const bool is_ruled_out =
                domain == nullptr ||
                std::any_of(spec.pod_terms.begin(), spec.pod_terms.end(), lacks_key) ||
                (term.spread.skips_unselected && !selects_node(spec, labels)) ||
                (term.spread.skips_tainted &&
                 !tolerates_all(machine.spec.taints, spec.tolerations));
            if (is_ruled_out) { continue; }
            std::int64_t& count = counts[*domain];
            for (const Pod& other : pods) {
                if (other.holding->machine != &machine || !selects(term, owner, other)) {
                    continue;
                }
                if (other.is_fresh && other.holding->group != owner.holding->group) { return; }
                ++count;
            }
        }
        const std::string* here = key_of(term, owner);
        if (here == nullptr) {
            return say("placement: {} is in no {}", owner.holding->name(), term.topology_key);
        }
        if (!selects(term, owner, owner)) { return; }
        std::int64_t least = counts.empty() ? 0 : INT64_MAX;
        for (const auto& [domain, count] : counts) { least = std::min(least, count); }
        if (static_cast<std::int64_t>(counts.size()) < term.spread.domains_min) { least = 0; }
        const auto found = counts.find(*here);
        if (found != counts.end() && found->second - least > term.spread.max_skew) {
            say("placement: {} makes {} tasks in its {}, with {} in the emptiest",
                owner.holding->name(), found->second, term.topology_key, least);
        }
    }

    [[nodiscard]] static bool selects_node(const TaskSpec& spec, const std::vector<Label>& labels) {
        const bool has_labels = std::all_of(
            spec.node_selector.begin(), spec.node_selector.end(), [&](const Label& label) {
                const std::string* value = label_of(labels, label.key);
                return value != nullptr && *value == label.value;
            });
        return has_labels &&
               (spec.required.empty() ||
                std::any_of(spec.required.begin(), spec.required.end(),
                            [&](const NodeTerm& term) { return all_match(term.matches, labels); }));
    }

    const CycleWatch& watch_;
    const World& world_;
    const Plan& plan_;
    std::vector<Holding> holdings_;
    std::set<TaskName> released_;
    std::map<TaskName, TaskPlace> placed_;
    std::vector<const Holding*> fresh_;
    std::vector<std::string> broken_;
};

std::vector<std::string> CycleWatch::broken_laws(const World& after, const Plan& plan) const {
    return Check(*this, after, plan).run();
}

}  // namespace muster
