#include "lab/podgroup_status.h"

#include "lab/known_resources.h"
#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

using kube::array_at;
using kube::Informer;
using kube::ObjectName;

constexpr std::int64_t flush_wait_ms = 5;    // changes of one moment are one write
constexpr std::int64_t queue_wait_ms = 100;  // their counts are of all groups
constexpr std::int64_t cache_poll_ms = 20;
constexpr std::int64_t refused_wait_ms = 50;  // after a conflict or a failure

std::string group_of(const json::object& pod) {
    for (const std::string_view key :
         {"scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"}) {
        const std::string_view name = kube::annotation_of(pod, key);
        if (!name.empty()) { return std::string(name); }
    }
    return {};
}

/// The later of the two conditions holds; both may be there.
bool is_unschedulable(const json::object& group) {
    const json::array* conditions = array_at(group, "status.conditions");
    if (conditions == nullptr) { return false; }
    std::string_view refused;
    std::string_view placed;
    for (const json::value& one : *conditions) {
        const json::object* condition = one.if_object();
        if (condition == nullptr || text_at(*condition, "status") != "True") { continue; }
        const std::string_view type = text_at(*condition, "type");
        const std::string_view since = volcano::text_or(*condition, "lastTransitionTime", "-");
        if (type == "Unschedulable") { refused = std::max(refused, since); }
        if (type == "Scheduled") { placed = std::max(placed, since); }
    }
    return !refused.empty() && refused >= placed;
}

void add_member(GroupMembers& members, const json::object& pod) {
    const std::string_view phase = volcano::text_or(pod, "status.phase", "Pending");
    if (phase == "Succeeded") {
        ++members.succeeded;
    } else if (phase == "Failed") {
        ++members.failed;
    } else if (!volcano::is_leaving(pod)) {
        ++members.unfinished;
        if (phase == "Running") { ++members.running; }
        if (!text_at(pod, "spec.nodeName").empty()) { ++members.held; }
    }
}

/// Zero is written as nothing, as Volcano has it.
void put_count(json::object& patch, const json::object& group, std::string_view key,
               std::int64_t count) {
    if (kube::int_at(group, fmt::format("status.{}", key)) == count) { return; }
    patch[key] = count == 0 ? json::value(nullptr) : json::value(count);
}

}  // namespace

std::string_view next_group_phase(std::string_view phase, std::int64_t min_member,
                                  const GroupMembers& members, bool is_unschedulable) {
    const bool is_over = members.unfinished == 0;
    if (phase == "Completed" && is_over) { return "Completed"; }
    const std::int64_t allocated = members.held + members.succeeded;
    if (allocated > 0 && allocated >= min_member) { return is_over ? "Completed" : "Running"; }
    if (phase == "Running" || phase == "Unknown") {
        if (members.held == 0 && is_over) { return "Pending"; }
        if (members.held == 0 && members.succeeded == 0) { return "Pending"; }
        return is_unschedulable ? std::string_view("Unknown") : phase;
    }
    return phase == "Inqueue" ? phase : std::string_view("Pending");
}

struct PodGroupStatus::Impl : std::enable_shared_from_this<PodGroupStatus::Impl> {
    kube::Transport& transport;
    std::map<ObjectName, std::set<ObjectName>> members;  // of each group
    std::set<ObjectName> dirty;                          // groups to look at
    std::set<ObjectName> busy;                           // a write is under way
    std::set<std::string> queues_busy;
    bool is_ready = false;
    bool is_armed = false;
    bool is_queue_armed = false;
    Informer groups;
    Informer pods;
    Informer queues;

    explicit Impl(kube::Transport& transport_in)
        : transport(transport_in),
          groups(transport, known::pod_groups,
                 [this](auto, const auto& name, const auto&, const auto*) { touch(name); }),
          pods(transport, known::pods,
               [this](auto change, const auto& name, const auto& pod, const auto* before) {
                   pod_changed(change, name, pod, before);
               }),
          queues(transport, known::queues,
                 [this](auto, const auto&, const auto&, const auto*) { arm_queues(); }) {}

    void pod_changed(Informer::Change change, const ObjectName& name, const json::object& pod,
                     const json::object* before) {
        const std::string group = group_of(pod);
        const std::string former = before == nullptr ? std::string() : group_of(*before);
        if (!former.empty() && former != group) { drop({name.first, former}, name); }
        if (group.empty()) { return; }
        if (change == Informer::Change::gone) {
            drop({name.first, group}, name);
        } else {
            members[{name.first, group}].insert(name);
            touch({name.first, group});
        }
    }

    void drop(const ObjectName& group, const ObjectName& pod) {
        const auto at = members.find(group);
        if (at == members.end()) { return; }
        at->second.erase(pod);
        if (at->second.empty()) { members.erase(at); }
        touch(group);
    }

    void touch(const ObjectName& group) {
        dirty.insert(group);
        arm(flush_wait_ms);
    }

    void arm(std::int64_t wait_ms) {
        if (!is_ready || is_armed) { return; }
        is_armed = true;
        transport.after(wait_ms, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) { self->flush(); }
        });
    }

    void arm_queues() {
        if (!is_ready || is_queue_armed) { return; }
        is_queue_armed = true;
        transport.after(queue_wait_ms, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self == nullptr) { return; }
            self->is_queue_armed = false;
            self->write_queues();
        });
    }

    void start() {
        groups.start();
        pods.start();
        queues.start();
        wait_for_caches();
    }

    void wait_for_caches() {
        is_ready = groups.is_synced() && pods.is_synced() && queues.is_synced();
        if (is_ready) {
            make_default_queue();
            arm(flush_wait_ms);
            return;
        }
        transport.after(cache_poll_ms, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) { self->wait_for_caches(); }
        });
    }

    void make_default_queue() {
        if (queues.find({"", "default"}) != nullptr) { return; }
        const json::object queue{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                                 {"kind", "Queue"},
                                 {"metadata", json::object{{"name", "default"}}},
                                 {"spec", {{"weight", 1}, {"reclaimable", true}}}};
        transport.call(
            kube::create_call(known::queues, "", queue),
            [weak = weak_from_this()](const Result<kube::Answer>& answer) {
                const auto self = weak.lock();
                // 409: somebody else has made it.
                if (self == nullptr || (answer && (answer->is_ok() || answer->status == 409))) {
                    return;
                }
                self->transport.after(refused_wait_ms, [weak] {
                    if (const auto again = weak.lock()) { again->make_default_queue(); }
                });
            });
    }

    void flush() {
        is_armed = false;
        for (const ObjectName& name : std::exchange(dirty, {})) {
            if (busy.contains(name)) {
                dirty.insert(name);
            } else {
                write_group(name);
            }
        }
        arm_queues();
    }

    void write_group(const ObjectName& name) {
        const json::object* group = groups.find(name);
        if (group == nullptr || volcano::is_leaving(*group)) { return; }
        GroupMembers count;
        if (const auto at = members.find(name); at != members.end()) {
            for (const ObjectName& pod : at->second) {
                if (const json::object* found = pods.find(pod)) { add_member(count, *found); }
            }
        }
        json::object status;
        put_count(status, *group, "running", count.running);
        put_count(status, *group, "succeeded", count.succeeded);
        put_count(status, *group, "failed", count.failed);
        const std::string_view phase = text_at(*group, "status.phase");
        const std::string_view next = next_group_phase(phase, int_at(*group, "spec.minMember"),
                                                       count, is_unschedulable(*group));
        if (next != phase) { status["phase"] = next; }
        if (status.empty()) { return; }
        // The version keeps this from writing over what the scheduler said meanwhile.
        json::object patch{
            {"metadata",
             json::object{{"resourceVersion", text_at(*group, "metadata.resourceVersion")}}}};
        patch["status"] = std::move(status);
        busy.insert(name);
        transport.call(kube::patch_call(
                           {.resource = known::pod_groups, .name = name, .rest = "status"}, patch),
                       [weak = weak_from_this(), name](const Result<kube::Answer>& answer) {
                           const auto self = weak.lock();
                           if (self == nullptr) { return; }
                           self->busy.erase(name);
                           if (!answer || (!answer->is_ok() && answer->status != 404)) {
                               self->dirty.insert(name);
                           }
                           if (self->dirty.contains(name)) { self->arm(refused_wait_ms); }
                       });
    }

    void write_queues() {
        constexpr std::array<std::pair<std::string_view, std::string_view>, 5> fields{
            {{"Pending", "pending"},
             {"Inqueue", "inqueue"},
             {"Running", "running"},
             {"Unknown", "unknown"},
             {"Completed", "completed"}}};
        std::map<std::string, std::map<std::string, std::int64_t>> counts;
        for (const auto& [name, group] : groups.objects()) {
            const std::string queue(volcano::text_or(group, "spec.queue", "default"));
            ++counts[queue][std::string(volcano::text_or(group, "status.phase", "Pending"))];
        }
        for (const auto& [name, queue] : queues.objects()) {
            json::object status;
            if (text_at(queue, "status.state").empty()) { status["state"] = "Open"; }
            for (const auto& [phase, field] : fields) {
                const std::int64_t count = counts[name.second][std::string(phase)];
                if (kube::int_at(queue, fmt::format("status.{}", field), -1) != count) {
                    status[field] = count;
                }
            }
            if (!status.empty()) { write_queue(name.second, std::move(status)); }
        }
    }

    void write_queue(const std::string& name, json::object status) {
        if (!queues_busy.insert(name).second) { return; }
        json::object patch;
        patch["status"] = std::move(status);
        transport.call(
            kube::patch_call({.resource = known::queues, .name = {"", name}, .rest = "status"},
                             patch),
            [weak = weak_from_this(), name](const Result<kube::Answer>&) {
                const auto self = weak.lock();
                if (self == nullptr) { return; }
                self->queues_busy.erase(name);
                self->arm_queues();
            });
    }
};

PodGroupStatus::PodGroupStatus(kube::Transport& transport)
    : impl_(std::make_shared<Impl>(transport)) {}
PodGroupStatus::~PodGroupStatus() = default;

void PodGroupStatus::start() { impl_->start(); }

}  // namespace muster::lab
