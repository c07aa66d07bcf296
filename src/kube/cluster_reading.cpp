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

json::object parsed(const std::string& text) {
    boost::system::error_code error;
    json::value value = json::parse(text, error);
    return error || !value.is_object() ? json::object{} : std::move(value.get_object());
}

/// The group that a pod names, in the order in which the dialect looks.
std::string group_of(const json::object& pod) {
    for (const std::string_view name : {text_at(pod, "spec.schedulingGroup.podGroupName"),
                                        annotation_of(pod, "scheduling.k8s.io/group-name"),
                                        annotation_of(pod, "scheduling.volcano.sh/group-name"),
                                        label_of(pod, "scheduling.x-k8s.io/pod-group")}) {
        if (!name.empty()) { return std::string(name); }
    }
    return {};
}

/// What runs holds room, however odd its labels are: the pod without what people write into it.
std::string bare(const std::string& text) {
    const json::object pod = parsed(text);
    json::object out{{"apiVersion", "v1"}, {"kind", "Pod"}};
    out["metadata"] = {{"name", text_at(pod, "metadata.name")},
                       {"namespace", text_at(pod, "metadata.namespace")},
                       {"uid", text_at(pod, "metadata.uid")}};
    json::array containers;
    if (const json::array* list = array_at(pod, "spec.containers")) {
        for (const json::value& one : *list) {
            const json::object* container = one.if_object();
            const json::object* resources =
                container != nullptr ? object_at(*container, "resources") : nullptr;
            containers.push_back(
                {{"name", "c"}, {"resources", resources != nullptr ? *resources : json::object{}}});
        }
    }
    out["spec"] = {{"nodeName", text_at(pod, "spec.nodeName")},
                   {"containers", std::move(containers)}};
    out["status"] = {{"phase", text_at(pod, "status.phase")}};
    return json::serialize(out);
}

/// Reads until nothing that is left is faulty: each round leaves at least one object out.
class Attempts {
public:
    explicit Attempts(const std::map<ObjectKey, std::string>& texts) : texts_(texts) {}

    dialect::ClusterInput run(const dialect::ClusterOptions& options) {
        for (;;) {
            Documents documents;
            keys_.clear();
            seen_.clear();
            for (const auto& [key, text] : texts_) { add(key, text, documents); }
            dialect::ClusterReading reading = dialect::inspect_cluster(documents, options);
            if (reading.faults.empty()) { return std::move(reading.input); }
            for (const Fault& fault : reading.faults) { leave_out(fault); }
        }
    }
    [[nodiscard]] const ObjectKey* find(const Place& place) const {
        const auto found = keys_.find(place.file);
        return found == keys_.end() ? nullptr : &found->second;
    }
    std::vector<Problem> take_problems() { return std::move(problems_); }

private:
    void add(const ObjectKey& key, const std::string& text, Documents& documents) {
        if (out_.contains(key)) { return; }
        std::string name = key.text();
        const bool is_bare = bare_.contains(key);
        if (auto added = documents.add({name, is_bare ? bare(text) : text}); !added) {
            out_.insert(key);
            problems_.push_back({key, added.error().message});
            return;
        }
        keys_.emplace(std::move(name), key);
    }

    void leave_out(const Fault& fault) {
        const ObjectKey* found = find(fault.place);
        if (found == nullptr) { return leave_out_kind(fault.text); }
        const ObjectKey key = *found;
        if (!seen_.insert(key).second) { return; }  // its first fault is enough
        problems_.push_back({key, fmt::format("{}: {}", fault.place.path, fault.text)});
        const bool is_bound = key.kind == ObjectKind::pod && !bare_.contains(key) &&
                              !text_at(parsed(texts_.at(key)), "spec.nodeName").empty();
        (is_bound ? bare_ : out_).insert(key);
    }

    /// A fault of several objects together: HyperNodes that are no tree, queues in a circle.
    void leave_out_kind(const std::string& text) {
        for (const ObjectKind kind : {ObjectKind::hypernode, ObjectKind::volcano_queue,
                                      ObjectKind::pod, ObjectKind::node}) {
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

    const std::map<ObjectKey, std::string>& texts_;
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
    return {.name = key.name,
            .uid = std::string(uid_of(object)),
            .node = std::string(text_at(object, "spec.nodeName")),
            .group = group_of(object),
            .is_finished = phase == "Succeeded" || phase == "Failed",
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

ClusterState read_state(const std::map<ObjectKey, std::string>& texts,
                        const dialect::ClusterOptions& options) {
    Attempts attempts(texts);
    dialect::ClusterInput input = attempts.run(options);
    ClusterState out;
    sort_out(std::move(input.facts), out.listing);
    for (const dialect::PodTask& task : input.pods) {
        const auto slash = task.pod.find('/');
        const ObjectKey key{ObjectKind::pod,
                            {task.pod.substr(0, slash), task.pod.substr(slash + 1)}};
        const auto text = texts.find(key);
        if (text == texts.end()) { continue; }
        out.pods[task.workload].emplace(task.task, pod_of(key, parsed(text->second), options));
    }
    for (const NodeSpec& node : out.listing.nodes) {
        const auto text = texts.find({ObjectKind::node, {"", node.name}});
        if (text == texts.end()) { continue; }
        out.machines.emplace(node.name, uid_of(parsed(text->second)));
    }
    for (const dialect::RefusedWorkload& refused : input.refused) {
        if (const ObjectKey* key = attempts.find(refused.place)) {
            out.refused.push_back({*key, refused.text});
        }
    }
    out.malformed = attempts.take_problems();
    for (const dialect::Warning& warning : input.warnings) {
        const ObjectKey* key = warning.is_fault ? attempts.find(warning.place) : nullptr;
        if (key != nullptr) {
            out.malformed.push_back(
                {*key, fmt::format("{}: {}", warning.place.path, warning.text)});
        }
    }
    return out;
}

}  // namespace muster::kube
