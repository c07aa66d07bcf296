#include "kube/cluster_reading.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <variant>

namespace muster::kube {

namespace json = boost::json;

namespace {

/// The group that a pod names, in the order in which the dialect looks.
std::string group_of(const json::object& pod) {
    for (const std::string_view name :
         {text_at(pod, "spec.schedulingGroup.podGroupName"), volcano_group_of(pod),
          label_of(pod, "scheduling.x-k8s.io/pod-group"),
          label_of(pod, "kueue.x-k8s.io/pod-group-name")}) {
        if (!name.empty()) { return std::string(name); }
    }
    return {};
}

/// What runs holds room, however odd its labels are: the pod without what people write into it.
std::string bare(std::string_view text) {
    const json::object pod = object_of(text);
    json::object out{{"apiVersion", "v1"}, {"kind", "Pod"}};
    out["metadata"] = {{"name", text_at(pod, "metadata.name")},
                       {"namespace", text_at(pod, "metadata.namespace")},
                       {"uid", text_at(pod, "metadata.uid")}};
    json::object spec{{"nodeName", text_at(pod, "spec.nodeName")}};
    for (const std::string_view kind : {"containers", "initContainers"}) {
        const json::array* list = array_at(pod, fmt::format("spec.{}", kind));
        if (list == nullptr) { continue; }
        json::array containers;
        for (const json::value& one : *list) {
            const json::object* container = one.if_object();
            if (container == nullptr) { continue; }
            const json::object* resources = object_at(*container, "resources");
            json::object kept{{"name", "c"},
                              {"resources", resources != nullptr ? *resources : json::object{}}};
            if (text_at(*container, "restartPolicy") == "Always") {
                kept["restartPolicy"] = "Always";
            }
            containers.push_back(std::move(kept));
        }
        spec[kind] = std::move(containers);
    }
    for (const std::string_view key : {"overhead", "resources"}) {
        const json::object* of = object_at(pod, fmt::format("spec.{}", key));
        if (of != nullptr) { spec[key] = *of; }
    }
    out["spec"] = std::move(spec);
    out["status"] = {{"phase", text_at(pod, "status.phase")}};
    return json::serialize(out);
}

/// Reads until nothing that is left is faulty: each round leaves at least one object out.
class Attempts {
public:
    explicit Attempts(const Texts& texts) : texts_(texts) {}

    dialect::ClusterInput run(const dialect::ClusterOptions& options,
                              const dialect::KubernetesContext& context) {
        for (;;) {
            documents_ = {};
            keys_.clear();
            seen_.clear();
            for (const auto& [key, text] : texts_) { add(key, text); }
            dialect::ClusterReading reading =
                dialect::inspect_cluster(documents_, options, context);
            if (reading.faults.empty()) { return std::move(reading.input); }
            for (const Fault& fault : reading.faults) { leave_out(fault); }
        }
    }
    [[nodiscard]] const ObjectKey* find(const std::string& document) const {
        const auto found = keys_.find(document);
        return found == keys_.end() ? nullptr : &found->second;
    }
    /// Those that were read.
    [[nodiscard]] const Documents& documents() const { return documents_; }
    /// Cut down to what holds room.
    [[nodiscard]] bool is_bare(const ObjectKey& key) const { return bare_.contains(key); }
    std::vector<Problem> take_problems() { return std::move(problems_); }

private:
    void add(const ObjectKey& key, std::string_view text) {
        if (out_.contains(key)) { return; }
        std::string name = key.text();
        const bool is_bare = bare_.contains(key);
        if (auto added = documents_.add({name, is_bare ? bare(text) : std::string(text)}); !added) {
            out_.insert(key);
            problems_.push_back({key, added.error().message});
            return;
        }
        keys_.emplace(std::move(name), key);
    }

    void leave_out(const Fault& fault) {
        const ObjectKey* found = find(fault.place.file);
        if (found == nullptr) { return leave_out_kind(fault.text); }
        const ObjectKey key = *found;
        if (!seen_.insert(key).second) { return; }  // its first fault is enough
        problems_.push_back({key, fmt::format("{}: {}", fault.place.path, fault.text)});
        const bool is_bound = key.kind == ObjectKind::pod && !bare_.contains(key) &&
                              !text_at(object_of(texts_.at(key)), "spec.nodeName").empty();
        (is_bound ? bare_ : out_).insert(key);
    }

    /// A fault of several objects together: HyperNodes that are no tree, queues in a circle.
    void leave_out_kind(const std::string& text) {
        for (const ObjectKind kind :
             {ObjectKind::hypernode, ObjectKind::volcano_queue, ObjectKind::kueue_queue,
              ObjectKind::kai_queue, ObjectKind::pod, ObjectKind::node}) {
            bool is_any = false;
            for (const auto& [key, object] : texts_) {
                if (key.kind != kind || !out_.insert(key).second) { continue; }
                problems_.push_back({key, text});
                is_any = true;
            }
            if (is_any) { return; }
        }
        for (const auto& [key, object] : texts_) { out_.insert(key); }
    }

    const Texts& texts_;
    Documents documents_;
    std::unordered_map<std::string, ObjectKey> keys_;
    std::set<ObjectKey> out_;
    std::set<ObjectKey> bare_;
    std::set<ObjectKey> seen_;  // in this round
    std::vector<Problem> problems_;
};

TaskPod pod_of(const ObjectKey& key, const json::object& object,
               const dialect::ClusterOptions& options) {
    const std::string_view phase = text_at(object, "status.phase");
    const std::string_view scheduler = text_at(object, "spec.schedulerName");
    const bool is_ours = std::find(options.schedulers.begin(), options.schedulers.end(),
                                   scheduler) != options.schedulers.end();
    std::string_view node = text_at(object, "spec.nodeName");
    // Another scheduler makes room for it there.
    if (node.empty() && !is_ours) { node = text_at(object, "status.nominatedNodeName"); }
    return {.name = key.name,
            .uid = std::string(uid_of(object)),
            .node = std::string(node),
            .group = group_of(object),
            .is_finished = phase == "Succeeded" || phase == "Failed",
            .has_failed = phase == "Failed",
            .has_controller = controller_of(object) != nullptr,
            .has_machine = false,
            .is_ours = is_ours,
            .is_ordered = false};
}

void sort_out(std::vector<Fact> facts, Listing& listing) {
    for (Fact& fact : facts) {
        if (auto* levels = std::get_if<TopologySet>(&fact)) {
            listing.levels = std::move(levels->levels);
        } else if (auto* node = std::get_if<NodeSet>(&fact)) {
            listing.nodes.push_back(std::move(node->node));
        } else if (auto* queue = std::get_if<QueueSet>(&fact)) {
            listing.queues.push_back(std::move(queue->queue));
        } else if (auto* workload = std::get_if<WorkloadSet>(&fact)) {
            listing.workloads.push_back(std::move(workload->workload));
        }
    }
}

}  // namespace

namespace {

/// What runs is told at any size.
void set_incomplete_aside(dialect::ClusterInput& input) {
    std::unordered_map<std::string, TaskPods> pods;
    for (const dialect::PodTask& one : input.pods) { pods[one.workload][one.task]; }
    std::set<std::string> running;
    for (const Fact& fact : input.facts) {
        if (const auto* bound = std::get_if<TaskBound>(&fact)) { running.insert(bound->workload); }
    }
    std::set<std::string> held;
    std::erase_if(input.facts, [&](const Fact& fact) {
        if (const auto* gone = std::get_if<TaskGone>(&fact)) {
            return held.contains(gone->workload);
        }
        const auto* set = std::get_if<WorkloadSet>(&fact);
        if (set == nullptr) { return false; }
        const WorkloadSpec& workload = set->workload;
        const TaskPods& there = pods[workload.name];
        if (running.contains(workload.name) || is_whole(workload, there)) { return false; }
        held.insert(workload.name);
        input.refused.push_back({.workload = workload.name,
                                 .place = {},
                                 .text = missing_pods(workload, there),
                                 .why = Why::pods_missing});
        return true;
    });
}

}  // namespace

ClusterRead read_objects(const Texts& texts, dialect::ClusterOptions options) {
    options.has_owner = owners_by([&](const ObjectKey& key) { return texts.contains(key); });
    Attempts attempts(texts);
    ClusterRead out;
    out.input = attempts.run(options, {});
    set_incomplete_aside(out.input);
    out.malformed = attempts.take_problems();
    return out;
}

ClusterState read_state(const Texts& texts, const dialect::ClusterOptions& options,
                        const dialect::KubernetesContext& context) {
    Attempts attempts(texts);
    dialect::ClusterInput input = attempts.run(options, context);
    ClusterState out;
    sort_out(std::move(input.facts), out.listing);
    std::map<ObjectName, const dialect::PodTask*> tasks;
    for (const dialect::PodTask& task : input.pods) { tasks.emplace(object_name(task.pod), &task); }
    for (const Document& document : attempts.documents().all()) {
        const ObjectKey* key = attempts.find(std::string(document.file));
        if (key == nullptr) { continue; }
        if (key->kind == ObjectKind::node) {
            out.machines.emplace(key->name.second, uid_of(document.root->get_object()));
        }
        const auto task = tasks.find(key->name);
        if (key->kind != ObjectKind::pod || task == tasks.end()) { continue; }
        const json::object& pod = document.root->get_object();
        out.pods[task->second->workload].emplace(
            task->second->task, attempts.is_bare(*key)
                                    ? pod_of(*key, object_of(texts.at(*key)), options)
                                    : pod_of(*key, pod, options));
    }
    for (const std::string& origin : input.origins) {
        out.origins.push_back(*attempts.find(origin));
    }
    for (const dialect::RefusedWorkload& refused : input.refused) {
        if (const ObjectKey* key = attempts.find(refused.place.file)) {
            const std::string& path = refused.place.path;
            out.refused.push_back({*key,
                                   path.starts_with("spec")
                                       ? fmt::format("{}: {}", path, refused.text)
                                       : refused.text,
                                   refused.why});
        }
    }
    out.malformed = attempts.take_problems();
    for (const dialect::Warning& warning : input.warnings) {
        const ObjectKey* key = warning.is_fault ? attempts.find(warning.place.file) : nullptr;
        if (key != nullptr) {
            out.malformed.push_back(
                {*key, fmt::format("{}: {}", warning.place.path, warning.text)});
        }
    }
    out.context = std::move(input.context);
    return out;
}

}  // namespace muster::kube
