#include "dialect/kubernetes_gang.h"

#include "dialect/kubernetes_affinity.h"
#include "model/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace muster::dialect {

namespace {

/// Pods alike: one role of a group.
struct PodRole {
    Role role;
    std::vector<const PodItem*> pods;
    const SubGroups* policy = nullptr;
    std::string part;  // which of the policy's sub groups
};

bool is_alike(const TaskSpec& a, const TaskSpec& b) {
    TaskSpec bare_a = a;
    TaskSpec bare_b = b;
    bare_a.labels.clear();  // differ by the pod's index
    bare_b.labels.clear();
    return bare_a == bare_b;
}

/// std::stable_sort with a key; libstdc++'s own uses what clang warns of.
template <class T, class Key>
void sort_stably(std::vector<T>& items, Key key_of) {
    using Entry = std::pair<decltype(key_of(items.front())), std::size_t>;
    std::vector<Entry> order;
    for (std::size_t i = 0; i < items.size(); ++i) { order.emplace_back(key_of(items[i]), i); }
    std::sort(order.begin(), order.end());
    std::vector<T> sorted;
    sorted.reserve(items.size());
    for (const auto& [key, at] : order) { sorted.push_back(std::move(items[at])); }
    items = std::move(sorted);
}

class Assembly {
public:
    Assembly(std::vector<DemandItem> items, const ClusterOptions* options, Notes& notes)
        : items_(std::move(items)),
          options_(options),
          is_plan_(options == nullptr),
          notes_(notes) {}

    Demand run() {
        index();
        sort_pods();
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const DemandItem& item = items_[i];
            if (const auto* job = std::get_if<DeclaredJob>(&item)) {
                job->owner.empty() ? emit_job(*job) : emit_owner(*job);
            }
            if (const auto* group = std::get_if<GroupObject>(&item)) { emit_group(*group); }
            if (const auto* pod = std::get_if<PodItem>(&item)) { emit_pod(*pod); }
            out_.origins.resize(out_.workloads.size(), i);
        }
        return std::move(out_);
    }

private:
    std::vector<DemandItem> items_;
    const ClusterOptions* options_;
    bool is_plan_;
    Notes& notes_;
    Demand out_;
    std::unordered_map<std::string, const DeclaredJob*> jobs_;
    std::unordered_map<std::string, const GroupObject*> groups_;
    std::unordered_map<std::string, std::vector<const GroupObject*>> children_;  // of a composite
    std::unordered_map<std::string, std::vector<const PodItem*>> members_;       // of a group
    std::unordered_map<std::string, std::vector<const PodItem*>> job_pods_;
    std::unordered_map<std::string, const DeclaredJob*> owners_;
    /// Of an owner, by its parts.
    std::unordered_map<std::string, std::map<std::string, std::vector<const PodItem*>>> owned_;
    std::unordered_set<std::string> gated_;  // groups and jobs with pods that are held back
    std::unordered_set<std::string> names_;
    std::unordered_set<const PodItem*> alone_;

    void index() {
        for (const DemandItem& item : items_) {
            const auto* job = std::get_if<DeclaredJob>(&item);
            if (job != nullptr && !job->owner.empty()) { owners_.emplace(job->owner, job); }
            if (const auto* group = std::get_if<GroupObject>(&item)) {
                if (!groups_.emplace(key_of(*group), group).second) {
                    notes_.add(group->place,
                               fmt::format("a second group {} is not looked at", group->name));
                    continue;
                }
                if (!group->parent.empty()) { children_[group->parent].push_back(group); }
            }
        }
        for (const DemandItem& item : items_) {
            const auto* job = std::get_if<DeclaredJob>(&item);
            if (job != nullptr && job->owner.empty() && !is_made(*job)) {
                jobs_.emplace(job->workload.name, job);
            }
        }
    }

    /// "Kind namespace/name". An owner and its pods are heard of in any order, and of a deleted one
    /// the pods go last.
    [[nodiscard]] bool is_missing(std::string_view owner) const {
        const std::size_t space = owner.find(' ');
        return !is_plan_ && options_->has_owner && space != std::string_view::npos &&
               !options_->has_owner(owner.substr(0, space), owner.substr(space + 1));
    }

    /// An owner speaks for the Jobs that it made.
    [[nodiscard]] bool is_made(const DeclaredJob& job) const {
        return owners_.contains(job.made_by) || is_missing(job.made_by);
    }

    /// Composites have their own names.
    static std::string key_of(const GroupObject& group) {
        return group.is_composite ? "composite:" + group.name : group.name;
    }

    bool names_us(const PodItem& pod) const {
        if (is_plan_) { return true; }
        const std::vector<std::string>& ours = options_->schedulers;
        return std::find(ours.begin(), ours.end(), pod.scheduler) != ours.end();
    }
    bool is_ours(const PodItem& pod) const {
        return pod.phase != PodPhase::waiting || names_us(pod);
    }

    const DeclaredJob* job_of(const PodItem& pod) const {
        const auto job = jobs_.find(pod.job);
        return pod.job.empty() || job == jobs_.end() ? nullptr : job->second;
    }

    const DeclaredJob* owner_of(const PodItem& pod) const {
        const auto owner = owners_.find(pod.tie.owner);
        return pod.tie.owner.empty() || owner == owners_.end() ? nullptr : owner->second;
    }

    /// What an earlier attempt left, or came before we heard of its attempt.
    static bool is_left_over(const DeclaredJob& owner, const PodItem& pod) {
        return pod.tie.attempt < owner.attempt;
    }

    void sort_pods() {
        for (const DemandItem& item : items_) {
            const auto* pod = std::get_if<PodItem>(&item);
            if (pod == nullptr || pod->phase == PodPhase::failed || !is_ours(*pod)) { continue; }
            const bool is_held = pod->is_gated && pod->phase == PodPhase::waiting && !is_plan_;
            if (job_of(*pod) != nullptr) {
                add_member(job_pods_[pod->job], pod->job, *pod, is_held);
            } else if (!pod->group.empty()) {
                add_member(members_[pod->group], pod->group, *pod, is_held);
            } else if (owner_of(*pod) != nullptr) {
                const OwnerTie& tie = pod->tie;
                add_member(owned_[tie.owner][tie.part], key_of(tie.owner, tie.part), *pod, is_held);
            } else {
                alone_.insert(pod);
            }
        }
        // What runs of groups that are nothing of ours holds room pod by pod, and so it does of
        // groups that nobody declared, of which what waits must wait.
        for (auto& [name, pods] : members_) {
            const bool is_foreign = std::none_of(pods.begin(), pods.end(),
                                                 [this](const PodItem* p) { return names_us(*p); });
            const bool says_minimum = std::any_of(
                pods.begin(), pods.end(), [](const PodItem* p) { return p->group_minimum > 0; });
            if (!is_foreign && (is_declared(name) || says_minimum)) { continue; }
            for (const PodItem* pod : pods) {
                if (pod->phase == PodPhase::bound) { alone_.insert(pod); }
            }
            if (is_foreign) { pods.clear(); }
        }
    }

    /// A pod with gates is not there yet, and others may wait for it.
    void add_member(std::vector<const PodItem*>& members, const std::string& of, const PodItem& pod,
                    bool is_held) {
        if (!is_held) { return members.push_back(&pod); }
        gated_.insert(of);
        notes_.add(pod.place, "a pod with schedulingGates is not tried");
    }

    static std::string key_of(const std::string& owner, const std::string& part) {
        return owner + "#" + part;
    }

    bool is_declared(const std::string& group) const {
        return groups_.contains(names_of_group(group).declared);
    }

    /// The name, or another one when an object of another kind has it already.
    std::string unique(std::string name, std::string_view kind) {
        if (!names_.insert(name).second) {
            name += fmt::format("@{}", kind);
            while (!names_.insert(name).second) { name += "+"; }
        }
        return name;
    }

    bool refuse(const std::string& workload, const std::vector<Fault>& faults) {
        if (faults.empty()) { return false; }
        out_.refused.push_back({workload, faults.front().place, faults.front().text});
        return true;
    }

    void bind(const std::string& workload, std::uint32_t task, const PodItem& pod) {
        if (!is_plan_) { out_.pods.push_back({pod.name, workload, task}); }
        if (is_plan_) { return; }
        if (pod.phase == PodPhase::bound) {
            out_.bindings.push_back(TaskBound{.workload = workload,
                                              .task = task,
                                              .node = pod.node,
                                              .has_devices = false,
                                              .devices = {}});
        }
        if (pod.phase == PodPhase::succeeded) {
            out_.bindings.push_back(
                TaskGone{.workload = workload, .task = task, .is_finished = true});
        }
    }

    void emit_pod(const PodItem& pod) {
        if (!alone_.contains(&pod) || pod.phase == PodPhase::succeeded) { return emit_orphan(pod); }
        if (pod.phase == PodPhase::waiting) {
            if (refuse(pod.name, pod.unsupported)) { return; }
            for (const std::string* owner : {&pod.tie.owner, &pod.maker}) {
                if (!is_missing(*owner)) { continue; }
                out_.refused.push_back({pod.name, pod.place,
                                        fmt::format("its {} is not there", *owner),
                                        Why::pods_missing});
                return;
            }
            if (pod.is_gated && !is_plan_) {
                return notes_.add(pod.place, "a pod with schedulingGates is not tried");
            }
            if (pod.is_gated) {
                notes_.add(pod.place, "a pod with schedulingGates is planned as if they were gone");
            }
        }
        WorkloadSpec workload = pod.head;
        workload.name = unique(pod.name, "pod");
        workload.groups.push_back({.name = pod.name.substr(pod.name.find('/') + 1),
                                   .parent = -1,
                                   .minimum = 1,
                                   .count = 1,
                                   .task = pod.task,
                                   .topology = pod.wish});
        bind(workload.name, 0, pod);
        out_.workloads.push_back(std::move(workload));
        out_.places.push_back(pod.place);
    }

    /// The first waiting pod of a group that nobody declared speaks for all.
    void emit_orphan(const PodItem& pod) {
        const auto found = members_.find(pod.group);
        if (pod.group.empty() || is_declared(pod.group) || found == members_.end()) { return; }
        const auto& pods = found->second;
        if (pods.empty()) { return; }
        std::int64_t minimum = 0;
        for (const PodItem* member : pods) { minimum = std::max(minimum, member->group_minimum); }
        if (minimum > 0) {
            if (pods.front() != &pod || waits_for_gates(pod.group, pods, minimum)) { return; }
            GroupObject group;
            group.name = pod.group;
            group.minimum = minimum;
            group.head = pod.head;
            group.head.name = pod.group;
            group.head.uid.clear();
            group.wish = pod.wish;
            group.has_queue = group.has_priority = true;
            group.place = pod.place;
            return emit_members(group);
        }
        const auto waits = std::find_if(pods.begin(), pods.end(), [](const PodItem* p) {
            return p->phase == PodPhase::waiting;
        });
        if (waits == pods.end() || *waits != &pod) { return; }
        const GroupNames names = names_of_group(pod.group);
        const bool is_workload = names.object != names.declared;
        out_.refused.push_back({names.shown, pod.place,
                                fmt::format("its {} {} is not there",
                                            is_workload ? "Workload" : "PodGroup", names.object),
                                Why::pods_missing});
    }

    void emit_job(const DeclaredJob& job) {
        if (is_made(job)) { return; }
        if (jobs_[job.workload.name] != &job) {
            return notes_.add(job.place,
                              fmt::format("a second job {} is not looked at", job.workload.name));
        }
        emit_tasks(job, job.workload, job_pods_[job.workload.name], job.workload.name);
    }

    /// One gang, or one for each part. In a cluster those of which pods are there: an owner that
    /// makes none asks for nothing.
    void emit_owner(const DeclaredJob& job) {
        if (owners_.at(job.owner) != &job) {
            return notes_.add(job.place, fmt::format("a second {} is not looked at", job.owner));
        }
        auto& parts = owned_[job.owner];
        for (std::int64_t i = 0; is_plan_ && i < std::max<std::int64_t>(job.parts, 1); ++i) {
            parts[job.parts > 0 ? std::to_string(i) : ""];
        }
        for (auto& [part, pods] : parts) {
            std::vector<const PodItem*> now;
            for (const PodItem* pod : pods) {
                if (is_left_over(job, *pod)) {
                    hold_alone(*pod);
                } else {
                    now.push_back(pod);
                }
            }
            const bool is_ours_here =
                is_plan_ || std::any_of(now.begin(), now.end(),
                                        [this](const PodItem* p) { return names_us(*p); });
            if (!is_ours_here) {
                for (const PodItem* pod : now) { hold_alone(*pod); }
                continue;
            }
            WorkloadSpec workload = job.workload;
            if (job.parts > 0) {
                workload.name += "-" + part;
                workload.groups.front().name += "-" + part;
            }
            emit_tasks(job, std::move(workload), now, key_of(job.owner, part));
        }
    }

    static bool is_running(const std::vector<const PodItem*>& pods) {
        return std::any_of(pods.begin(), pods.end(),
                           [](const PodItem* p) { return p->phase == PodPhase::bound; });
    }

    /// Some of its pods have scheduling gates, and without them it is less than it must be.
    bool waits_for_gates(const std::string& of, const std::vector<const PodItem*>& pods,
                         std::int64_t minimum) const {
        return gated_.contains(of) && !is_running(pods) &&
               static_cast<std::int64_t>(pods.size()) < minimum;
    }

    void emit_tasks(const DeclaredJob& job, WorkloadSpec workload,
                    const std::vector<const PodItem*>& pods, const std::string& of) {
        if (job.is_over && !is_plan_) {
            for (const PodItem* pod : pods) { hold_alone(*pod); }
            return;
        }
        if (!is_running(pods) && refuse(workload.name, job.unsupported)) { return; }
        const bool is_waiting = std::any_of(pods.begin(), pods.end(), [](const PodItem* p) {
            return p->phase == PodPhase::waiting;
        });
        if (is_waiting && refuse(workload.name, job.unsupported)) {
            for (const PodItem* pod : pods) { hold_alone(*pod); }
            return;
        }
        if (waits_for_gates(of, pods, INT64_MAX)) { return; }
        workload.name = unique(workload.name, "job");
        if (!is_plan_) { leave_out_waiting(job, pods, workload); }
        std::unordered_set<std::uint32_t> taken;
        std::vector<const PodItem*> unnumbered;
        const auto hold = [&](const PodItem& pod) {
            notes_.add(pod.place, "a pod beyond those that its job declares");
            hold_alone(pod);
        };
        for (const PodItem* pod : pods) {
            const auto task = task_of(job, *pod);
            if (task == UINT32_MAX && is_unnumbered(job, *pod)) {
                unnumbered.push_back(pod);
            } else if (task == UINT32_MAX || !taken.insert(task).second) {
                hold(*pod);
            } else {
                bind(workload.name, task, *pod);
            }
        }
        for (const PodItem* pod : unnumbered) {
            auto [task, end] = seats_of(job, *pod);
            while (task < end && taken.contains(task)) { ++task; }
            if (task >= end) {
                hold(*pod);
            } else {
                taken.insert(task);
                bind(workload.name, task, *pod);
            }
        }
        out_.workloads.push_back(std::move(workload));
        out_.places.push_back(job.place);
    }

    /// A task that waits for others (dependsOn) has no pods yet, and the others can't wait for it.
    static void leave_out_waiting(const DeclaredJob& job, const std::vector<const PodItem*>& pods,
                                  WorkloadSpec& workload) {
        if (job.roles.size() < 2) { return; }  // the first group is no root
        const auto absent = std::count_if(
            job.roles.begin(), job.roles.end(), [&](const DeclaredJob::RoleTasks& role) {
                return role.waits && std::none_of(pods.begin(), pods.end(), [&](const PodItem* p) {
                           return role_of(job, *p) == role.name;
                       });
            });
        std::int32_t& minimum = workload.groups.front().minimum;
        minimum = std::max(minimum - static_cast<std::int32_t>(absent), 1);
    }

    static const std::string& role_of(const DeclaredJob& job, const PodItem& pod) {
        return job.owner.empty() ? pod.role : pod.tie.role;
    }

    /// The tasks that a pod without a number of its own may be.
    static std::pair<std::uint32_t, std::uint32_t> seats_of(const DeclaredJob& job,
                                                            const PodItem& pod) {
        for (const auto& role : job.roles) {
            if (!role.name.empty() && role.name != role_of(job, pod)) { continue; }
            if (role.batch == 0) { return {role.first, role.first + role.count}; }
            const std::int64_t begin = pod.tie.batch * role.batch;
            if (begin < 0 || begin + role.batch > role.count) { break; }
            const auto first = role.first + static_cast<std::uint32_t>(begin);
            return {first, first + role.batch};
        }
        return {0, 0};
    }

    /// Pods of a Job that is not Indexed are all alike.
    static bool is_unnumbered(const DeclaredJob& job, const PodItem& pod) {
        if (!job.owner.empty()) { return pod.tie.index < 0; }
        return pod.index < 0 && job.roles.size() == 1 && job.roles.front().name.empty();
    }

    static std::uint32_t task_of(const DeclaredJob& job, const PodItem& pod) {
        if (!job.owner.empty()) { return owned_task_of(job, pod); }
        std::int64_t index = pod.index;
        if (index < 0) {
            // Volcano's and Kubernetes' pods end in their index.
            const std::size_t dash = pod.name.rfind('-');
            const std::string_view tail = std::string_view(pod.name).substr(
                dash == std::string::npos ? pod.name.size() : dash + 1);
            index = tail.empty() || tail.size() > 6 ? -1 : 0;
            for (const char c : tail) {
                index = index < 0 || c < '0' || c > '9' ? -1 : index * 10 + (c - '0');
            }
        }
        for (const auto& role : job.roles) {
            if (!role.name.empty() && role.name != pod.role) { continue; }
            if (index < 0 || index >= static_cast<std::int64_t>(role.count)) { return UINT32_MAX; }
            return role.first + static_cast<std::uint32_t>(index);
        }
        return UINT32_MAX;
    }

    static std::uint32_t owned_task_of(const DeclaredJob& job, const PodItem& pod) {
        const auto [first, end] = seats_of(job, pod);
        const std::int64_t index = pod.tie.index - job.first_index;
        if (pod.tie.index < 0 || index < 0 || index >= end - first) { return UINT32_MAX; }
        return first + static_cast<std::uint32_t>(index);
    }

    /// A running pod that fits into no workload still holds its room.
    void hold_alone(const PodItem& pod) {
        if (pod.phase != PodPhase::bound) { return; }
        alone_.insert(&pod);
        emit_pod(pod);
        alone_.erase(&pod);
    }

    void emit_group(const GroupObject& group) {
        if (groups_.at(key_of(group)) != &group || !group.parent.empty()) { return; }
        if (!group.owner_job.empty() && jobs_.contains(group.owner_job)) { return; }
        if (group.is_composite) { return emit_composite(group); }
        if (group.is_template) { return emit_replicas(group); }
        emit_members(group);
    }

    /// Each replica key that pods name is a gang of its own.
    void emit_replicas(const GroupObject& declared) {
        std::vector<std::string> names;
        for (const auto& [name, pods] : members_) {
            if (names_of_group(name).declared == declared.name) { names.push_back(name); }
        }
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) {
            GroupObject group = declared;
            group.name = name;
            group.head.name = names_of_group(name).shown;
            emit_members(group);
        }
    }

    void emit_members(const GroupObject& group) {
        WorkloadSpec workload = head_of(group);
        std::vector<PodRole> roles;
        if (!add_group(group, -1, workload, roles)) { return; }
        finish(std::move(workload), roles, group);
    }

    WorkloadSpec head_of(const GroupObject& group) {
        WorkloadSpec head = group.head;
        const auto& pods = members_[group.name];
        if (!group.has_queue) { head.queue = pods.empty() ? "default" : pods.front()->head.queue; }
        if (!group.has_priority && !pods.empty()) { head.priority = pods.front()->head.priority; }
        // The gang came when its first member did, where the group itself says nothing.
        for (const PodItem* pod : pods) {
            if (group.head.submitted == 0 &&
                (head.submitted == 0 || pod->head.submitted < head.submitted)) {
                head.submitted = pod->head.submitted;
            }
        }
        if (!group.owner_job.empty()) { head.name = group.owner_job; }
        return head;
    }

    /// Sorts the group's pods into roles and appends them; false when there is nothing to place.
    bool add_group(const GroupObject& group, std::int32_t parent, WorkloadSpec& workload,
                   std::vector<PodRole>& roles) {
        const auto& all = members_[group.name];
        if (all.empty()) {
            if (is_plan_) {
                notes_.add(group.place, "a PodGroup without pods here is not planned");
            }
            return false;
        }
        const bool is_over = std::all_of(all.begin(), all.end(), [](const PodItem* p) {
            return p->phase == PodPhase::succeeded;
        });
        if (is_over) { return false; }
        const bool has_begun = is_running(all);
        if (!has_begun && refuse(workload.name, group.unsupported)) { return false; }
        if (waits_for_gates(group.name, all, group.minimum)) {
            refuse(workload.name,
                   {{group.place, fmt::format("{} of at least {} pods have no scheduling gates",
                                              all.size(), group.minimum)}});
            return false;
        }
        // Beside those that run, only the pod itself has to wait.
        std::vector<const PodItem*> pods;
        for (const PodItem* pod : all) {
            if (pod->phase == PodPhase::waiting &&
                refuse(has_begun ? pod->name : workload.name, pod->unsupported)) {
                if (!has_begun) { return false; }
                continue;
            }
            pods.push_back(pod);
        }
        std::vector<PodRole> own = sort_roles(group, pods);
        const auto missing = group.minimum - static_cast<std::int64_t>(pods.size());
        if (missing > 0 && own.size() > 1) {
            out_.refused.push_back(
                {workload.name, group.place,
                 fmt::format("{} of {} pods are there; the others are not known yet", pods.size(),
                             group.minimum),
                 Why::pods_missing});
            for (const PodItem* pod : pods) { hold_alone(*pod); }
            return false;
        }
        if (missing > 0) { own.front().role.count += missing; }
        append(group, parent, own, workload);
        for (PodRole& role : own) { roles.push_back(std::move(role)); }
        return true;
    }

    static std::vector<PodRole> sort_roles(const GroupObject& group,
                                           const std::vector<const PodItem*>& pods) {
        std::vector<PodRole> roles;
        const std::string short_name = group.name.substr(group.name.find('/') + 1);
        for (const PodItem* pod : pods) {
            const auto [policy, part] = sub_group_of(group, *pod);
            const auto found = std::find_if(
                roles.begin(), roles.end(), [&, wanted = policy, name = part](const PodRole& role) {
                    return role.policy == wanted && role.part == name &&
                           role.pods.front()->role == pod->role && role.role.wish == pod->wish &&
                           is_alike(role.role.task, pod->task);
                });
            if (found != roles.end()) {
                found->pods.push_back(pod);
                ++found->role.count;
                continue;
            }
            Role role{.name = pod->role.empty() ? short_name : pod->role,
                      .count = 1,
                      .minimum = -1,
                      .task = pod->task,
                      .wish = pod->wish,
                      .parts = {}};
            const auto minimum = std::find_if(group.role_minima.begin(), group.role_minima.end(),
                                              [&](const Amount& a) { return a.name == pod->role; });
            if (minimum != group.role_minima.end()) { role.minimum = minimum->count; }
            roles.push_back({std::move(role), {pod}, policy, part});
        }
        // Parts of one policy stand together, in the order of their first pods.
        sort_stably(roles, [](const PodRole& role) {
            return std::pair(role.policy != nullptr ? role.policy->name : std::string(), role.part);
        });
        for (PodRole& role : roles) {
            role.role.minimum = std::min(role.role.minimum, role.role.count);
            sort_stably(role.pods, [](const PodItem* pod) { return pod->index; });
        }
        return roles;
    }

    static std::pair<const SubGroups*, std::string> sub_group_of(const GroupObject& group,
                                                                 const PodItem& pod) {
        for (const SubGroups& policy : group.sub_groups) {
            if (!matches(policy.selector, pod.task.labels)) { continue; }
            std::string part;
            for (const std::string& key : policy.keys) {
                const auto label = std::find_if(pod.task.labels.begin(), pod.task.labels.end(),
                                                [&](const Label& l) { return l.key == key; });
                part += fmt::format("{}{}", part.empty() ? "" : ",",
                                    label != pod.task.labels.end() ? label->value : "");
            }
            return {&policy, part};
        }
        return {nullptr, ""};
    }

    void append(const GroupObject& group, std::int32_t parent, std::vector<PodRole>& own,
                WorkloadSpec& workload) {
        const std::string short_name = group.name.substr(group.name.find('/') + 1);
        if (!group.sub_groups.empty()) { return append_parts(group, parent, own, workload); }
        std::vector<Role> roles;
        for (const PodRole& role : own) { roles.push_back(role.role); }
        const std::int64_t must = share_minimum(group.minimum, roles);
        add_roles(workload, roles, must, group.wish, short_name, parent);
    }

    /// Root, below it the pods of no policy as roles, and for each policy a group of its sub
    /// groups.
    void append_parts(const GroupObject& group, std::int32_t parent, std::vector<PodRole>& own,
                      WorkloadSpec& workload) {
        const auto root = static_cast<std::int32_t>(workload.groups.size());
        workload.groups.push_back({.name = group.name.substr(group.name.find('/') + 1),
                                   .parent = parent,
                                   .minimum = 0,
                                   .count = 1,
                                   .task = {},
                                   .topology = group.wish});
        std::int32_t children = 0;
        for (std::size_t i = 0; i < own.size();) {
            const SubGroups* policy = own[i].policy;
            if (policy == nullptr) {
                const Role& role = own[i].role;
                const std::int64_t minimum =
                    role.minimum < 0 ? role.count : std::max<std::int64_t>(role.minimum, 1);
                workload.groups.push_back({.name = role.name,
                                           .parent = root,
                                           .minimum = static_cast<std::int32_t>(minimum),
                                           .count = static_cast<std::int32_t>(role.count),
                                           .task = role.task,
                                           .topology = role.wish});
                ++i;
            } else {
                i = append_policy(*policy, root, own, i, workload);
            }
            ++children;
        }
        workload.groups[static_cast<std::size_t>(root)].minimum = children;
    }

    static std::size_t append_policy(const SubGroups& policy, std::int32_t root,
                                     std::vector<PodRole>& own, std::size_t i,
                                     WorkloadSpec& workload) {
        const auto inner = static_cast<std::int32_t>(workload.groups.size());
        workload.groups.push_back({.name = policy.name,
                                   .parent = root,
                                   .minimum = 0,
                                   .count = 1,
                                   .task = {},
                                   .topology = {}});
        std::int32_t parts = 0;
        while (i < own.size() && own[i].policy == &policy) {
            std::vector<Role> roles;
            const std::string part = own[i].part;
            std::int64_t pods = 0;
            for (; i < own.size() && own[i].policy == &policy && own[i].part == part; ++i) {
                roles.push_back(own[i].role);
                pods += own[i].role.count;
            }
            const std::int64_t minimum = policy.size > 0 ? std::min(policy.size, pods) : pods;
            const std::int64_t must = share_minimum(minimum, roles);
            add_roles(workload, roles, must, policy.wish, part.empty() ? policy.name : part, inner);
            ++parts;
        }
        const auto wanted = static_cast<std::int32_t>(policy.minimum);
        workload.groups[static_cast<std::size_t>(inner)].minimum =
            wanted > 0 ? std::min(wanted, parts) : parts;
        return i;
    }

    void emit_composite(const GroupObject& root) {
        WorkloadSpec workload = root.head;
        std::vector<PodRole> roles;
        if (refuse(workload.name, root.unsupported)) { return; }
        if (!add_composite(root, -1, 0, workload, roles)) { return; }
        if (!root.has_queue) { workload.queue = roles.front().pods.front()->head.queue; }
        if (!root.has_priority) { workload.priority = roles.front().pods.front()->head.priority; }
        finish(std::move(workload), roles, root);
    }

    bool add_composite(const GroupObject& group, std::int32_t parent, int depth,
                       WorkloadSpec& workload, std::vector<PodRole>& roles) {
        constexpr int depth_max = 8;
        const auto index = static_cast<std::int32_t>(workload.groups.size());
        workload.groups.push_back({.name = group.name.substr(group.name.find('/') + 1),
                                   .parent = parent,
                                   .minimum = static_cast<std::int32_t>(group.minimum),
                                   .count = 1,
                                   .task = {},
                                   .topology = group.wish});
        std::int32_t there = 0;
        for (const GroupObject* child : children_[group.name]) {
            if (depth >= depth_max) { break; }
            const bool is_added = child->is_composite
                                      ? add_composite(*child, index, depth + 1, workload, roles)
                                      : add_group(*child, index, workload, roles);
            there += is_added ? 1 : 0;
        }
        if (there == 0 || there < group.minimum) {
            if (there > 0) {
                refuse(workload.name, {{group.place, fmt::format("{} of {} groups are there", there,
                                                                 group.minimum)}});
            }
            return false;
        }
        return true;
    }

    void finish(WorkloadSpec workload, const std::vector<PodRole>& roles,
                const GroupObject& group) {
        workload.name = unique(workload.name, "group");
        const std::vector<std::int32_t> leaves = leaves_of(workload);
        std::int64_t tasks = 0;
        for (const std::int32_t leaf : leaves) {
            tasks += workload.groups[static_cast<std::size_t>(leaf)].count;
        }
        if (workload.groups.size() > groups_per_workload_max ||
            tasks > static_cast<std::int64_t>(tasks_per_workload_max)) {
            refuse(workload.name,
                   {{group.place,
                     fmt::format("{} groups and {} tasks are more than fit in one workload",
                                 workload.groups.size(), tasks)}});
            return;
        }
        std::uint32_t first = 0;
        for (std::size_t i = 0; i < leaves.size() && i < roles.size(); ++i) {
            for (std::size_t k = 0; k < roles[i].pods.size(); ++k) {
                bind(workload.name, first + static_cast<std::uint32_t>(k), *roles[i].pods[k]);
            }
            first += static_cast<std::uint32_t>(
                workload.groups[static_cast<std::size_t>(leaves[i])].count);
        }
        out_.workloads.push_back(std::move(workload));
        out_.places.push_back(group.place);
    }
};

}  // namespace

Demand assemble(std::vector<DemandItem> items, const ClusterOptions* options, Notes& notes) {
    return Assembly(std::move(items), options, notes).run();
}

}  // namespace muster::dialect
