#include "lab/workload_pods.h"

#include "kube/objects.h"
#include "lab/known_resources.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace muster::lab {

namespace json = boost::json;
using kube::ObjectName;
using kube::text_at;
using kube::uid_of;
using Change = kube::Informer::Change;

namespace {

constexpr std::size_t room_max = 500;
constexpr std::int64_t unseen_wait = 30'000;  // ours; a pod that came and went while nobody watched
constexpr std::int64_t refused_first = 1'000;  // ours
constexpr std::int64_t refused_max = 60'000;

json::object object_of(const Result<kube::Answer>& answer) {
    if (!answer) { return {}; }
    boost::system::error_code error;
    json::value value = json::parse(answer->body, error);
    json::object* object = error ? nullptr : value.if_object();
    return object ? std::move(*object) : json::object();
}

}  // namespace

WorkloadPods::WorkloadPods(kube::Transport& transport, LabTimers& timers, Changed changed)
    : transport_(transport),
      timers_(timers),
      changed_(std::move(changed)),
      informer_(transport, known::pods,
                [this](Change change, const ObjectName& name, const Object& pod, const Object*) {
                    on_pod(change, name, pod);
                }) {}

const json::object* WorkloadPods::find(const ObjectName& name) const {
    return informer_.find(name);
}

std::vector<const json::object*> WorkloadPods::of(const Object& owner) const {
    std::vector<const Object*> out;
    const auto at = by_owner_.find(uid_of(owner));
    if (at == by_owner_.end()) { return out; }
    for (const ObjectName& name : at->second) {
        if (const Object* pod = informer_.find(name)) { out.push_back(pod); }
    }
    return out;
}

bool WorkloadPods::is_settled(const Object& owner) const {
    const auto at = asked_.find(uid_of(owner));
    return at == asked_.end() || (at->second.in_flight == 0 && at->second.unseen.empty());
}

bool WorkloadPods::is_doomed(const Object& pod) const { return doomed_.contains(uid_of(pod)); }

std::size_t WorkloadPods::room(const Object& owner) const {
    const auto at = asked_.find(uid_of(owner));
    if (at == asked_.end()) { return 1; }
    return timers_.now() < at->second.not_before ? 0 : at->second.room;
}

std::string_view WorkloadPods::refusal(const Object& owner) const {
    const auto at = asked_.find(uid_of(owner));
    return at == asked_.end() ? std::string_view() : std::string_view(at->second.refusal);
}

void WorkloadPods::forget(const Object& owner) { asked_.erase(std::string(uid_of(owner))); }

void WorkloadPods::on_pod(Change change, const ObjectName& name, const Object& pod) {
    const Object* owner = kube::controller_of(pod);
    if (owner == nullptr) { return; }
    const std::string uid(text_at(*owner, "uid"));
    if (change == Change::set) {
        by_owner_[uid].insert(name);
    } else {
        const auto at = by_owner_.find(uid);
        if (at != by_owner_.end()) {
            at->second.erase(name);
            if (at->second.empty()) { by_owner_.erase(at); }
        }
    }
    const ObjectName owner_name{name.first, std::string(text_at(*owner, "name"))};
    if (const auto at = asked_.find(uid); at != asked_.end()) { at->second.unseen.erase(name); }
    changed_(text_at(*owner, "kind"), owner_name, change, &pod);
    if (change == Change::gone) { doomed_.erase(std::string(uid_of(pod))); }
}

void WorkloadPods::create(const Object& owner, const Object& pod, kube::EventRecorder& events) {
    const std::string uid(uid_of(owner));
    Asked& asked = asked_[uid];
    asked.kind = text_at(owner, "kind");
    asked.owner = kube::name_of(owner);
    ++asked.in_flight;
    // The event needs only what names the owner.
    const Object about{
        {"apiVersion", text_at(owner, "apiVersion")},
        {"kind", text_at(owner, "kind")},
        {"metadata",
         {{"name", asked.owner.second}, {"namespace", asked.owner.first}, {"uid", uid}}}};
    kube::create_object(transport_, known::pods, asked.owner.first, pod,
                        [this, uid, about, &events,
                         alive = std::weak_ptr<int>(alive_)](const Result<kube::Answer>& answer) {
                            if (!alive.expired()) { answered(uid, about, answer, events); }
                        });
}

void WorkloadPods::answered(const std::string& uid, const Object& owner,
                            const Result<kube::Answer>& answer, kube::EventRecorder& events) {
    const Object got = object_of(answer);
    const bool is_made = answer && answer->is_ok();
    if (is_made) {
        events.record(owner, "Normal", "SuccessfulCreate",
                      fmt::format("Created pod: {}", text_at(got, "metadata.name")));
    }
    const auto at = asked_.find(uid);
    if (at == asked_.end()) { return; }  // the owner is gone
    Asked& asked = at->second;
    --asked.in_flight;
    if (is_made) {
        asked.failures = 0;
        asked.refusal.clear();
        const ObjectName name = kube::name_of(got);
        if (informer_.find(name) == nullptr) { see(uid, name); }
    } else if (answer && answer->status == 409) {
        asked.not_before = timers_.now() + refused_first * timers_.speed();  // the name is taken
    } else {
        std::string why = answer ? std::string(text_at(got, "message")) : answer.error().message;
        if (why.empty()) { why = fmt::format("status {}", answer ? answer->status : 0); }
        events.record(owner, "Warning", "FailedCreate", "Error creating: " + why);
        asked.refusal = std::move(why);
        const std::int64_t wait =
            std::min(refused_first << std::min(asked.failures++, 16), refused_max);
        asked.not_before = timers_.now() + wait * timers_.speed();
        asked.room = 1;
    }
    if (asked.in_flight != 0) { return; }
    if (is_made) { asked.room = std::min(asked.room * 2, room_max); }
    changed_(asked.kind, asked.owner, Change::set, nullptr);
    const std::int64_t wait = asked.not_before - timers_.now();
    if (wait <= 0) { return; }
    timers_.after(wait, [this, kind = asked.kind, name = asked.owner] {
        changed_(kind, name, Change::set, nullptr);
    });
}

/// Waits until the watch brings it, but not for ever.
void WorkloadPods::see(const std::string& uid, const ObjectName& pod) {
    asked_[uid].unseen.insert(pod);
    timers_.after(unseen_wait * timers_.speed(), [this, uid, pod] {
        const auto at = asked_.find(uid);
        if (at == asked_.end() || at->second.unseen.erase(pod) == 0) { return; }
        changed_(at->second.kind, at->second.owner, Change::set, nullptr);
    });
}

void WorkloadPods::remove(const Object& owner, const Object& pod, kube::EventRecorder& events) {
    const std::string uid(uid_of(pod));
    if (!doomed_.insert(uid).second) { return; }
    events.record(owner, "Normal", "SuccessfulDelete",
                  fmt::format("Deleted pod: {}", text_at(pod, "metadata.name")));
    kube::delete_object(
        transport_, known::pods, kube::name_of(pod), {.uid = uid, .grace = -1, .propagation = ""},
        [this, uid, kind = std::string(text_at(owner, "kind")), name = kube::name_of(owner),
         alive = std::weak_ptr<int>(alive_)](const Result<kube::Answer>& answer) {
            if (alive.expired() || (answer && answer->is_ok())) { return; }
            doomed_.erase(uid);  // so it is asked for again
            if (answer && (answer->status == 404 || answer->status == 409)) { return; }
            timers_.after(refused_first * timers_.speed(),
                          [this, kind, name] { changed_(kind, name, Change::set, nullptr); });
        });
}

}  // namespace muster::lab
