#include "kube/group_phases.h"

#include "kube/group_members.h"
#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::int64_t gather_ms = 1'000;
constexpr std::int64_t again_ms = 1'000;  // after an answer, until it is seen whether all is there

/// Zero is written as nothing, as Volcano has it.
void put_count(json::object& patch, const json::object& group, std::string_view key,
               std::int64_t count) {
    if (int_at(group, fmt::format("status.{}", key)) == count) { return; }
    patch[key] = count == 0 ? json::value(nullptr) : json::value(count);
}

}  // namespace

GroupPhases::GroupPhases(BehindOrders& behind, ClusterObjects& objects,
                         std::vector<std::string> schedulers, std::function<std::int64_t()> now)
    : behind_(behind),
      objects_(objects),
      schedulers_(std::move(schedulers)),
      now_(std::move(now)) {}

void GroupPhases::write() {
    for (const ObjectName& name : objects_.take_moved_groups()) { waits_[name].has_changed = true; }
    for (auto& [name, wait] : waits_) {
        if (wait.is_asked || (!wait.has_changed && wait.due > now_())) { continue; }
        wait.has_changed = false;
        look(name, wait);
    }
    std::erase_if(waits_, [](const auto& one) {
        return !one.second.is_asked && !one.second.has_changed && one.second.due == 0;
    });
}

/// What the server has not got yet.
json::object GroupPhases::news_of(const ObjectName& name, const json::object& group) const {
    const GroupMembers members = objects_.members_of(name);
    const std::string_view phase = text_at(group, "status.phase");
    const std::string_view next =
        next_group_phase(phase, int_at(group, "spec.minMember"), members, is_unschedulable(group));
    json::object status;
    put_count(status, group, "running", members.running);
    put_count(status, group, "succeeded", members.succeeded);
    put_count(status, group, "failed", members.failed);
    if (next != phase) { status["phase"] = next; }
    return status;
}

/// Leaves nothing to wait for when the server has it all.
void GroupPhases::look(const ObjectName& name, Wait& wait) {
    const std::int64_t due = std::exchange(wait.due, 0);
    const auto group = objects_.find({ObjectKind::volcano_group, name});
    if (!group) {
        ours_.erase(name);
        return;
    }
    if (!is_ours(name, *group)) { return; }
    const json::object status = news_of(name, *group);
    if (status.empty()) {
        wait.asked.clear();
        return;
    }
    const std::int64_t now = now_();
    const bool is_in_time = due == 0 || due > now;
    if (is_in_time && (!status.contains("phase") || json::serialize(status) == wait.asked)) {
        wait.due = due == 0 ? now + gather_ms : due;
        return;
    }
    wait.is_asked = true;
    behind_.ask([this, name, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) { send(name); }
    });
}

bool GroupPhases::is_ours(const ObjectName& name, const json::object& group) const {
    if (ours_.contains(name)) { return true; }
    std::string scheduler = "volcano";
    if (const json::object* owner = controller_of(group);
        owner != nullptr && text_at(*owner, "kind") == "Job") {
        const ObjectName job{name.first, std::string(text_at(*owner, "name"))};
        if (const auto object = objects_.find({ObjectKind::volcano_job, job});
            object && !text_at(*object, "spec.schedulerName").empty()) {
            scheduler = text_at(*object, "spec.schedulerName");
        }
    }
    return std::find(schedulers_.begin(), schedulers_.end(), scheduler) != schedulers_.end();
}

/// As it is by now.
void GroupPhases::send(const ObjectName& name) {
    Wait& wait = waits_[name];
    const auto served = objects_.served().find(ObjectKind::volcano_group);
    const auto group = objects_.find({ObjectKind::volcano_group, name});
    json::object status =
        group && served != objects_.served().end() ? news_of(name, *group) : json::object();
    if (status.empty()) {
        wait.is_asked = false;
        return;
    }
    wait.asked = json::serialize(status);
    // The uid makes the server refuse it for another group of that name.
    const json::object patch{{"metadata", {{"uid", uid_of(*group)}}},
                             {"status", std::move(status)}};
    patch_object(behind_.direct(), {.resource = served->second, .name = name, .rest = "status"},
                 patch, [this, name, alive = std::weak_ptr(alive_)](const Result<Answer>& answer) {
                     if (alive.expired()) { return; }
                     Wait& asked = waits_[name];
                     asked.is_asked = false;
                     const bool is_taken = answer && answer->is_ok();
                     if (!is_taken) { asked.asked.clear(); }
                     asked.due =
                         is_taken || may_be_taken_later(answer)
                             ? now_() + std::max(again_ms, answer ? answer->retry_after_ms : 0)
                             : 0;
                 });
}

}  // namespace muster::kube
