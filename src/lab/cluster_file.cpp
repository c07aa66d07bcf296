#include "lab/cluster_file.h"

#include "codec/scenario.h"
#include "dialect/kubernetes.h"
#include "lab/metadata.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace muster::lab {

namespace json = boost::json;

namespace {

/// What others stand on comes first; what is not named here comes before pods.
constexpr std::array<std::string_view, 7> first_kinds{
    "Namespace", "CustomResourceDefinition", "PriorityClass", "ServiceAccount", "Queue", "Node",
    "HyperNode"};

std::size_t rank_of(const json::object& object) {
    const auto* found = std::find(first_kinds.begin(), first_kinds.end(), text_at(object, "kind"));
    if (found != first_kinds.end()) {
        return static_cast<std::size_t>(found - first_kinds.begin());
    }
    return first_kinds.size() + (text_at(object, "kind") == "Pod" ? 1 : 0);
}

/// Who wrote it, when, and who owned it is of the other cluster.
void forget_origin(json::object& object) {
    json::object& metadata = child(object, "metadata");
    for (const char* key :
         {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink",
          "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
        metadata.erase(key);
    }
    // Their owners are kinds that are not served here, and pods would wait for them.
    if (json::value* labels = metadata.if_contains("labels"); labels && labels->is_object()) {
        labels->get_object().erase("jobset.sigs.k8s.io/jobset-name");
        labels->get_object().erase("leaderworkerset.sigs.k8s.io/name");
    }
}

void make_fake(json::object& node) {
    child(child(node, "metadata"), "annotations")["lab.muster/fake"] = "true";
    if (json::value* status = node.if_contains("status"); status && status->is_object()) {
        for (const char* key : {"images", "volumesInUse", "volumesAttached", "config"}) {
            status->get_object().erase(key);
        }
    }
}

std::string_view effect_name(TaintEffect effect) {
    switch (effect) {
        case TaintEffect::no_schedule: return "NoSchedule";
        case TaintEffect::prefer_no_schedule: return "PreferNoSchedule";
        case TaintEffect::no_execute: return "NoExecute";
    }
    return {};
}

json::object numa_of(const NodeSpec& node) {
    json::array zones;
    for (std::size_t zone = 0; zone < node.numa.size(); ++zone) {
        json::array gpus;
        json::array nics;
        for (std::size_t i = 0; i < node.gpus.size(); ++i) {
            if (node.gpus[i].numa == static_cast<std::int32_t>(zone)) { gpus.push_back(i); }
        }
        for (const NicSpec& nic : node.nics) {
            if (nic.numa == static_cast<std::int32_t>(zone)) { nics.emplace_back(nic.name); }
        }
        zones.push_back(json::object{{"cpu", fmt::format("{}m", node.numa[zone].milli_cpu)},
                                     {"gpus", std::move(gpus)},
                                     {"nics", std::move(nics)}});
    }
    return {
        {"policy", node.numa_policy == NumaPolicy::single_numa_node ? "single-numa-node" : "none"},
        {"zones", std::move(zones)}};
}

/// Muster's own node in Kubernetes' words.
json::object node_object(const NodeSpec& node) {
    json::object labels{{"kubernetes.io/hostname", node.name}};
    for (const Label& label : node.labels) { labels[label.key] = label.value; }
    json::object annotations;
    json::object capacity{{"cpu", fmt::format("{}m", node.allocatable.milli_cpu)},
                          {"memory", std::to_string(node.allocatable.memory)},
                          {"pods", std::to_string(node.pods)}};
    for (const Amount& amount : node.allocatable.extended) {
        capacity[amount.name] = std::to_string(amount.count);
    }
    json::object allocatable = capacity;
    if (!node.gpus.empty()) {
        const GpuSpec& gpu = node.gpus.front();
        labels["nvidia.com/gpu.present"] = "true";
        labels["nvidia.com/gpu.count"] = std::to_string(node.gpus.size());
        if (!gpu.model.empty()) {
            std::string product = gpu.model;
            std::replace(product.begin(), product.end(), ' ', '-');
            labels["nvidia.com/gpu.product"] = product;
        }
        if (gpu.memory_mib > 0) {
            labels["nvidia.com/gpu.memory"] = std::to_string(gpu.memory_mib);
        }
        if (gpu.mig == MigMode::dynamic) { annotations["muster.dev/mig"] = "dynamic"; }
        const auto healthy = std::count_if(node.gpus.begin(), node.gpus.end(),
                                           [](const GpuSpec& one) { return one.is_healthy; });
        capacity["nvidia.com/gpu"] = std::to_string(node.gpus.size());
        allocatable["nvidia.com/gpu"] = std::to_string(healthy);
    }
    if (!node.numa.empty()) { annotations["muster.dev/numa"] = json::serialize(numa_of(node)); }
    json::object spec;
    if (node.is_cordoned) { spec["unschedulable"] = true; }
    for (const Taint& taint : node.taints) {
        json::value& taints = spec["taints"];
        if (!taints.is_array()) { taints.emplace_array(); }
        json::object one{{"key", taint.key}, {"effect", effect_name(taint.effect)}};
        if (!taint.value.empty()) { one["value"] = taint.value; }
        taints.as_array().push_back(std::move(one));
    }
    if (!node.is_ready) { annotations["lab.muster/failed"] = "not ready in the scenario"; }
    return {{"apiVersion", "v1"},
            {"kind", "Node"},
            {"metadata", {{"name", node.name}, {"labels", labels}, {"annotations", annotations}}},
            {"spec", spec},
            {"status", {{"capacity", capacity}, {"allocatable", allocatable}}}};
}

Result<> add_scenario(const SourceText& source, std::vector<FileObject>& out,
                      std::vector<std::string>& left_out) {
    std::size_t others = 0;
    MUSTER_TRY(scenario, read_scenario(source.name, source.text));
    for (const Command& command : scenario.commands) {
        const auto* fact = std::get_if<Fact>(&command.action);
        const auto* node = fact ? std::get_if<NodeSet>(fact) : nullptr;
        if (node == nullptr) {
            ++others;
            continue;
        }
        out.emplace_back(fmt::format("{}:{}", source.name, command.line), node_object(node->node));
    }
    if (others > 0) {
        left_out.push_back(fmt::format("{}: {} commands that make no node", source.name, others));
    }
    return {};
}

/// Namespaces that nobody lists are made for what is in them.
void add_namespaces(std::vector<FileObject>& all) {
    std::set<std::string> known{"default", "kube-system", "kube-public", "kube-node-lease"};
    std::set<std::pair<std::string, std::string>> missing;  // and where it was first named
    for (const FileObject& one : all) {
        if (text_at(one.second, "kind") == "Namespace") {
            known.emplace(text_at(one.second, "metadata.name"));
        }
    }
    for (const FileObject& one : all) {
        const std::string space(text_at(one.second, "metadata.namespace"));
        if (!space.empty() && known.insert(space).second) { missing.emplace(space, one.first); }
    }
    for (const auto& [space, place] : missing) {
        all.emplace_back(place, json::object{{"apiVersion", "v1"},
                                             {"kind", "Namespace"},
                                             {"metadata", {{"name", space}}}});
    }
}

}  // namespace

Result<std::vector<FileObject>> read_cluster_files(std::span<const SourceText> sources,
                                                   std::vector<std::string>& left_out) {
    std::vector<FileObject> out;
    std::vector<SourceText> objects;
    for (const SourceText& source : sources) {
        if (source.name.ends_with(".muster")) {
            MUSTER_CHECK(add_scenario(source, out, left_out));
        } else {
            objects.push_back(source);
        }
    }
    MUSTER_CHECK(dialect::read_cluster(objects));
    MUSTER_TRY(documents, read_documents(objects));
    for (const Document& document : documents.all()) {
        const std::string place = document.place_of(*document.root).text();
        if (!document.root->is_object()) {
            return fail(Code::invalid, fmt::format("{}: expected an object", place));
        }
        json::object object = document.root->get_object();
        object["kind"] = document.kind;
        object["apiVersion"] = document.api_version;
        const std::string_view phase = text_at(object, "status.phase");
        if (document.kind == "Pod" && (phase == "Succeeded" || phase == "Failed")) { continue; }
        forget_origin(object);
        out.emplace_back(place, std::move(object));
    }
    bool has_node = false;
    for (FileObject& one : out) {
        if (text_at(one.second, "kind") != "Node") { continue; }
        has_node = true;
        make_fake(one.second);
    }
    if (!has_node) {
        return fail(Code::invalid,
                    fmt::format("{}: no nodes; expected Node objects, such as of kubectl get nodes "
                                "-o yaml",
                                sources.empty() ? "--cluster" : sources.front().name));
    }
    add_namespaces(out);
    std::vector<FileObject> ordered;
    for (std::size_t rank = 0; rank <= first_kinds.size() + 1; ++rank) {
        for (FileObject& one : out) {
            if (!one.second.empty() && rank_of(one.second) == rank) {
                ordered.push_back(std::move(one));
                one.second.clear();
            }
        }
    }
    return ordered;
}

const ResourceType* find_type(const json::object& object, const Registry& registry) {
    const std::string_view kind = text_at(object, "kind");
    const std::string_view version = text_at(object, "apiVersion");
    for (const ResourceType& type : registry.served()) {
        if (type.kind == kind && type.api_version() == version && !type.is_create_only) {
            return &type;
        }
    }
    return nullptr;
}

}  // namespace muster::lab
