#include "kube/status_writer.h"

#include "dialect/kubernetes_gpu.h"
#include "kube/objects.h"
#include "kube/refusal_text.h"
#include "kube/status_names.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace muster::kube {

namespace json = boost::json;

namespace {

/// Before something is written again, doubled each time.
constexpr std::int64_t again_first_ms = 500;
constexpr std::int64_t again_max_ms = 30'000;
constexpr std::string_view pod_scheduled = "PodScheduled";
constexpr std::string_view share_not_enforced = "ShareNotEnforced";
/// What of a group's status is written in one call.
constexpr std::string_view all_conditions = "conditions";

constexpr std::int64_t missing_ms = 3'000;

std::string_view reason_name(Why why) {
    switch (why) {
        case Why::unknown_queue:
        case Why::queue_not_leaf:
        case Why::unknown_level:
        case Why::unknown_constraint: return "Unschedulable";
        case Why::pods_missing:
        case Why::linked_missing: return "NotEnoughTasks";
        case Why::over_cap_alone:
        case Why::queue_cap:
        case Why::behind_head:
        case Why::linked_blocked:
        case Why::too_large:
        case Why::no_room:
        case Why::no_domain:
        case Why::leaving:
        case Why::packing: return "NotEnoughResources";
    }
    return "NotEnoughResources";
}

GangCounts gang_counts(const json::object& group, const TaskPods& pods) {
    GangCounts out{.minimum = int_at(group, "spec.minMember")};
    for (const auto& [task, pod] : pods) {
        ++out.all;
        if (pod.is_waiting()) { ++out.pending; }
        if (pod.is_finished) { ++out.finished; }
    }
    return out;
}

/// What each waiting pod of a workload says.
std::string pod_text(const Reason& reason, const WorkloadSpec& workload, const TaskPods& pods) {
    const bool is_alone = pods.size() == 1 && workload.groups.size() == 1;
    return pod_refusal_text(reason, workload.groups.back().task, is_alone);
}

}  // namespace

json::object reference(const ObjectKey& key, const json::object& object) {
    json::object out = object;
    out["apiVersion"] = name_of(key.kind).api_version();
    out["kind"] = name_of(key.kind).kind;
    return out;
}

StatusWriter::StatusWriter(BehindOrders& behind, ClusterObjects& objects,
                           const ClusterSource& source, Options options)
    : behind_(behind),
      objects_(objects),
      source_(source),
      options_(std::move(options)),
      events_(behind, options_.now, options_.component),
      phases_(behind, objects, options_.schedulers, options_.clock) {}

void StatusWriter::write(const Decision& decision) {
    for (const Fact& fact : decision.cycle.facts) {
        if (const auto* bound = std::get_if<TaskBound>(&fact)) { tell_bound(*bound); }
        if (const auto* gone = std::get_if<WorkloadGone>(&fact)) {
            assigning_.erase(gone->workload);
        }
    }
    for (const Release& release : decision.cycle.plan.releases) { tell_released(release); }
    tell_lost_nodes(decision.cycle.facts);
    for (const Placement& placement : decision.cycle.plan.placements) {
        forget_reasons(placement.workload);
        Assigning& assigning = assigning_[placement.workload];
        for (const TaskPlace& task : placement.tasks) { assigning.open[task.task] = task.node; }
    }
    for (const Refusal& refusal : decision.cycle.plan.refusals) { tell_refused(refusal, true); }
}

void StatusWriter::write_reasons(const World& world) {
    for (const Workload& workload : world.workloads) {
        if (workload.reason) { tell_refused({workload.name, *workload.reason}, false); }
    }
}

void StatusWriter::write_reason(const World& world, const std::string& workload,
                                const TaskPod& pod) {
    const WorkloadId id = world.find_workload(workload);
    const WorkloadSpec* spec = source_.find_workload(workload);
    if (!id.is_valid() || spec == nullptr || !world.workloads[id.value].reason) { return; }
    const Reason& reason = *world.workloads[id.value].reason;
    tell_pod(pod, pod_text(reason, *spec, *source_.pods_of(workload)), false);
}

/// It is placed: that it waits is not written any more.
void StatusWriter::forget_reasons(const std::string& workload) {
    const TaskPods* pods = pending_.empty() ? nullptr : source_.pods_of(workload);
    if (pods == nullptr) { return; }
    for (const auto& [task, pod] : *pods) {
        pending_.erase({{ObjectKind::pod, pod.name}, std::string(pod_scheduled)});
    }
}

void StatusWriter::write_news() {
    phases_.write();
    tell_problems();
    flush_conditions();
}

void StatusWriter::tell_refused(const Refusal& refusal, bool is_news) {
    const TaskPods* pods = source_.pods_of(refusal.workload);
    const WorkloadSpec* workload = source_.find_workload(refusal.workload);
    if (pods == nullptr || workload == nullptr) { return; }
    const Reason& reason = refusal.reason;
    const std::string message = pod_text(reason, *workload, *pods);
    const bool with_events = is_news && pods->size() <= pods_with_events_max;
    for (const auto& [task, pod] : *pods) {
        if (pod.is_waiting()) { tell_pod(pod, message, with_events); }
    }
    const std::string name(reason_name(reason.why));
    for (const ObjectKey& group : groups_of(refusal.workload)) {
        const auto object = objects_.find(group);
        if (!object) { continue; }
        const bool is_volcano = group.kind == ObjectKind::volcano_group;
        const GangCounts gang = gang_counts(*object, *pods);
        // Counts of a gang that is still being made would be another event each.
        const bool is_counted = is_volcano && gang.all >= gang.minimum;
        const std::string text = is_counted ? gang_refusal_text(reason, gang) : reason.text;
        if (is_news) {
            events_.record(reference(group, *object), "Warning", "Unschedulable", text);
        }
        if (is_volcano) {
            phases_.claim(group.name);
            set_conditions(group, {{"Unschedulable", true, name, text}});
        }
        // Once it was scheduled whole, that stays true.
        if (group.kind == ObjectKind::upstream_group &&
            status_of(group, *object, scheduled_condition()) != "True") {
            set_conditions(group, {{scheduled_condition(), false, "Unschedulable", reason.text}});
        }
    }
}

void StatusWriter::tell_pod(const TaskPod& pod, const std::string& message, bool with_event) {
    const ObjectKey key{ObjectKind::pod, pod.name};
    const auto object = objects_.find(key);
    if (!object || uid_of(*object) != pod.uid || !pod.is_ours) { return; }
    if (with_event) {
        events_.record(reference(key, *object), "Warning", "FailedScheduling", message);
    }
    set_pod_condition(key, pod.uid, message);
}

void StatusWriter::tell_bound(const TaskBound& bound) {
    const auto found = assigning_.find(bound.workload);
    if (found == assigning_.end()) { return; }
    Assigning& assigning = found->second;
    if (assigning.open.erase(bound.task) == 0) { return; }
    ++assigning.done[bound.node];
    const bool is_unenforced_here = is_unenforced(bound);
    if (is_unenforced_here) { ++assigning.unenforced; }
    const TaskPods* pods = source_.pods_of(bound.workload);
    const auto pod = pods != nullptr ? pods->find(bound.task) : TaskPods::const_iterator{};
    if (pods != nullptr && pod != pods->end() && pods->size() <= pods_with_events_max) {
        const ObjectKey key{ObjectKind::pod, pod->second.name};
        const auto record = [&](std::string_view type, std::string_view reason, std::string text) {
            if (const auto object = objects_.find(key)) {
                events_.record(reference(key, *object), type, reason, std::move(text));
            }
        };
        // Of a gang that has an object, that one says it for all of them: an event a pod would be
        // as much work for the server as its binding.
        if (groups_of(bound.workload).empty()) {
            record("Normal", "Scheduled",
                   fmt::format("Successfully assigned {}/{} to {}", key.name.first, key.name.second,
                               bound.node));
        }
        if (is_unenforced_here) {
            record("Warning", share_not_enforced,
                   fmt::format("its part of a GPU is accounted for on {} and not enforced: no "
                               "driver there keeps the pod to it",
                               bound.node));
        }
    }
    if (!assigning.open.empty()) { return; }
    const Assigning whole = std::move(found->second);
    assigning_.erase(found);
    tell_assigned(bound.workload, whole);
}

/// It has a share of a GPU on a node whose driver knows of none.
bool StatusWriter::is_unenforced(const TaskBound& bound) const {
    const WorkloadSpec* workload = source_.find_workload(bound.workload);
    if (workload == nullptr) { return false; }
    for (const Leaf& leaf : leaves_of(*workload)) {
        if (bound.task < leaf.first || bound.task >= leaf.first + leaf.count) { continue; }
        if (leaf.group->task.gpu.kind != GpuKind::share) { return false; }
        const auto node = objects_.find({ObjectKind::node, {"", bound.node}});
        const json::object* notes = node ? object_at(*node, "metadata.annotations") : nullptr;
        return notes == nullptr || !notes->contains(dialect::share_driver_key);
    }
    return false;
}

/// All binds of one placement are done.
void StatusWriter::tell_assigned(const std::string& workload, const Assigning& assigning) {
    std::uint32_t tasks = 0;
    std::string where;
    std::size_t named = 0;
    constexpr std::size_t named_max = 8;
    for (const auto& [node, count] : assigning.done) {
        tasks += count;
        if (named++ < named_max) {
            where += fmt::format("{}{} to {}", where.empty() ? "" : ", ", count, node);
        }
    }
    if (named > named_max) { where += fmt::format(" and to {} more nodes", named - named_max); }
    const std::string message = fmt::format("Successfully assigned {} tasks: {}", tasks, where);
    for (const ObjectKey& group : groups_of(workload)) {
        const auto object = objects_.find(group);
        if (!object) { continue; }
        events_.record(reference(group, *object), "Normal", "Scheduled", message);
        if (assigning.unenforced > 0) {
            events_.record(reference(group, *object), "Warning", share_not_enforced,
                           fmt::format("parts of GPUs of {} tasks are accounted for and not "
                                       "enforced: no driver of their nodes keeps pods to them",
                                       assigning.unenforced));
        }
        if (group.kind == ObjectKind::volcano_group) {
            phases_.claim(group.name);
            std::vector<Condition> conditions{{"Scheduled", true, "Scheduled", message}};
            if (status_of(group, *object, "Unschedulable") == "True") {
                conditions.push_back({"Unschedulable", false, "Scheduled", message});
            }
            set_conditions(group, conditions);
        }
        if (group.kind == ObjectKind::upstream_group) {
            set_conditions(group, {{scheduled_condition(), true, "Scheduled", message}});
        }
        if (status_of(group, *object, disruption) == "True") {
            set_conditions(group, {{std::string(disruption), false, "Scheduled", message}});
        }
    }
}

/// What is only not there yet, or about to go as well, is told when it lasts.
bool StatusWriter::may_pass(const Problem& problem) {
    if (problem.why != Why::pods_missing) { return false; }
    const std::int64_t now = options_.clock();
    return now - missing_since_.try_emplace(problem, now).first->second < missing_ms;
}

/// What was said of a pod is over, and its gang waits for others.
void StatusWriter::tell_held(const Problem& before) {
    for (const auto& [workload, text] : source_.held_back()) {
        const TaskPods* pods = source_.pods_of(workload);
        if (pods == nullptr) { continue; }
        for (const auto& [task, pod] : *pods) {
            if (pod.name == before.object.name) { return tell_pod(pod, text, false); }
        }
    }
}

/// Each is told once while it lasts.
void StatusWriter::tell_problems() {
    std::set<Problem> now;
    std::set<Problem> young;
    const auto tell = [&](const Problem& problem, std::string_view reason) {
        if (!told_.contains(problem) && may_pass(problem)) {
            young.insert(problem);
            return;
        }
        if (!now.insert(problem).second || told_.contains(problem)) { return; }
        const auto object = objects_.find(problem.object);
        if (!object) { return; }
        events_.record(reference(problem.object, *object), "Warning", reason, problem.text);
        if (problem.object.kind == ObjectKind::pod && text_at(*object, "spec.nodeName").empty()) {
            set_pod_condition(problem.object, std::string(uid_of(*object)), problem.text);
        }
    };
    for (const Problem& problem : source_.malformed()) { tell(problem, "Malformed"); }
    for (const Problem& problem : source_.refused()) {
        const bool is_pod = problem.object.kind == ObjectKind::pod;
        tell(problem, is_pod ? "FailedScheduling" : "Unschedulable");
    }
    std::erase_if(missing_since_, [&](const auto& one) { return !young.contains(one.first); });
    for (const Problem& before : told_) {
        if (before.why == Why::pods_missing && !now.contains(before)) { tell_held(before); }
    }
    told_ = std::move(now);
}

void StatusWriter::set_pod_condition(const ObjectKey& key, const std::string& uid,
                                     const std::string& message) {
    ask({key, std::string(pod_scheduled)},
        [this, key, uid, message] { patch_pod_condition(key, uid, message); });
}

/// Of a pod that is still there and has no node.
void StatusWriter::patch_pod_condition(const ObjectKey& key, const std::string& uid,
                                       const std::string& message) {
    const Write write{key, pod_scheduled};
    const auto pod = objects_.find(key);
    if (!pod || uid_of(*pod) != uid || !text_at(*pod, "spec.nodeName").empty()) {
        return end_write(write);
    }
    if (const json::array* conditions = array_at(*pod, "status.conditions")) {
        for (const json::value& one : *conditions) {
            const json::object* condition = one.if_object();
            if (condition != nullptr && text_at(*condition, "type") == pod_scheduled &&
                text_at(*condition, "status") == "False" &&
                text_at(*condition, "message") == message) {
                return end_write(write);
            }
        }
    }
    // The uid makes the server refuse it for another pod of that name.
    const json::object patch{
        {"metadata", {{"uid", uid}}},
        {"status",
         {{"conditions", json::array{{{"type", pod_scheduled},
                                      {"status", "False"},
                                      {"reason", "Unschedulable"},
                                      {"message", message},
                                      {"lastTransitionTime", time_text(options_.now())}}}}}}};
    send(write,
         {.resource = name_of(ObjectKind::pod).resource,
          .name = key.name,
          .rest = "status",
          .kind = PatchKind::strategic},
         patch);
}

/// Of a group's condition, what is about to be written or stands there; empty when it has none.
std::string_view StatusWriter::status_of(const ObjectKey& group, const json::object& object,
                                         std::string_view type) const {
    if (const auto wanted = conditions_.find(group); wanted != conditions_.end()) {
        for (const Condition& condition : wanted->second.list) {
            if (condition.type == type) { return condition.is_true ? "True" : "False"; }
        }
    }
    return condition_of(object, type);
}

/// A later word on the same takes the place of an earlier one.
void StatusWriter::set_conditions(const ObjectKey& group,
                                  const std::vector<Condition>& conditions) {
    GroupConditions& known = conditions_[group];
    known.is_sent = false;
    for (const Condition& condition : conditions) {
        std::erase_if(known.list, [&](const Condition& one) { return one.type == condition.type; });
        known.list.push_back(condition);
    }
}

void StatusWriter::flush_conditions() {
    std::vector<ObjectKey> groups;
    for (auto& [group, conditions] : conditions_) {
        if (!std::exchange(conditions.is_sent, true)) { groups.push_back(group); }
    }
    for (const ObjectKey& group : groups) {
        ask({group, std::string(all_conditions)}, [this, group] { patch_conditions(group); });
    }
}

/// Lists are replaced by a merge patch, so those of others go with it.
void StatusWriter::patch_conditions(const ObjectKey& group) {
    const Write write{group, std::string(all_conditions)};
    const auto wanted = conditions_.find(group);
    const auto served = objects_.served().find(group.kind);
    const auto object = objects_.find(group);
    if (wanted == conditions_.end() || served == objects_.served().end() || !object) {
        conditions_.erase(group);
        return end_write(write);
    }
    json::array list;
    if (const json::array* known = array_at(*object, "status.conditions")) { list = *known; }
    bool is_changed = false;
    for (const Condition& condition : wanted->second.list) {
        json::object* entry = nullptr;
        for (json::value& one : list) {
            if (one.is_object() && text_at(one.get_object(), "type") == condition.type) {
                entry = &one.get_object();
            }
        }
        if (entry == nullptr) { entry = &list.emplace_back(json::object{}).get_object(); }
        const std::string_view status = condition.is_true ? "True" : "False";
        if (text_at(*entry, "status") == status && text_at(*entry, "reason") == condition.reason &&
            text_at(*entry, "message") == condition.message) {
            continue;
        }
        is_changed = true;
        if (text_at(*entry, "status") != status) {
            (*entry)["lastTransitionTime"] = time_text(options_.now());
        }
        (*entry)["type"] = condition.type;
        (*entry)["status"] = status;
        (*entry)["reason"] = condition.reason;
        (*entry)["message"] = condition.message;
    }
    if (!is_changed) { return end_write(write); }
    const json::object patch{{"metadata", {{"uid", uid_of(*object)}}},
                             {"status", {{"conditions", std::move(list)}}}};
    send(write, {.resource = served->second, .name = group.name, .rest = "status"}, patch);
}

/// When its turn comes, unless something newer is to be said of it by then, or nothing more.
void StatusWriter::ask(const Write& write, std::function<void()> work) {
    Pending& pending = pending_[write];
    pending.serial = ++serial_;
    pending.work = std::move(work);
    behind_.ask([this, write, serial = pending.serial, alive = std::weak_ptr(alive_)] {
        if (alive.expired()) { return; }
        const auto at = pending_.find(write);
        if (at == pending_.end() || at->second.serial != serial) { return; }
        const std::function<void()> now = at->second.work;
        now();
    });
}

/// What `ask` has begun.
void StatusWriter::send(const Write& write, const PatchTarget& target, const json::object& patch) {
    patch_object(behind_.direct(), target, patch,
                 [this, write, serial = pending_.at(write).serial,
                  alive = std::weak_ptr(alive_)](const Result<Answer>& answer) {
                     if (!alive.expired()) { on_answer(write, serial, answer); }
                 });
}

/// It is there, or is not wanted any more.
void StatusWriter::end_write(const Write& write) {
    if (write.second == all_conditions) {
        const auto said = conditions_.find(write.first);
        if (said != conditions_.end() && said->second.is_sent) { conditions_.erase(said); }
    }
    pending_.erase(write);
}

void StatusWriter::on_answer(const Write& write, std::uint64_t serial,
                             const Result<Answer>& answer) {
    const auto at = pending_.find(write);
    if (at == pending_.end() || at->second.serial != serial) { return; }  // something newer is true
    if (!may_be_taken_later(answer)) { return end_write(write); }
    const std::int64_t wait =
        std::min(again_first_ms << std::min(at->second.failures++, 16), again_max_ms);
    behind_.after(std::max(wait, answer ? answer->retry_after_ms : 0),
                  [this, write, serial, alive = std::weak_ptr(alive_)] {
                      if (alive.expired()) { return; }
                      const auto now = pending_.find(write);
                      if (now == pending_.end() || now->second.serial != serial) { return; }
                      ask(write, now->second.work);
                  });
}

/// Of Kubernetes' own PodGroups, as the version that the server has calls it.
std::string StatusWriter::scheduled_condition() const {
    const auto served = objects_.served().find(ObjectKind::upstream_group);
    const bool is_first = served != objects_.served().end() && served->second.version == "v1alpha2";
    return is_first ? "PodGroupScheduled" : "PodGroupInitiallyScheduled";
}

std::set<ObjectKey> StatusWriter::groups_of(const std::string& workload) const {
    std::set<ObjectKey> out;
    const TaskPods* pods = source_.pods_of(workload);
    if (pods == nullptr) { return out; }
    std::string last;
    for (const auto& [task, pod] : *pods) {
        if (pod.group.empty() || pod.group == last) { continue; }
        last = pod.group;
        for (const ObjectKind kind :
             {ObjectKind::volcano_group, ObjectKind::upstream_group, ObjectKind::plugin_group}) {
            const ObjectKey key{kind, {pod.name.first, pod.group}};
            if (objects_.has(key)) { out.insert(key); }
        }
    }
    return out;
}

}  // namespace muster::kube
