#include "dialect/kubernetes_around.h"

#include "base/text.h"
#include "codec/field.h"
#include "dialect/kubernetes_affinity.h"
#include "dialect/kubernetes_scope.h"
#include "model/limits.h"

#include <utility>

namespace muster::dialect {

namespace {

constexpr std::string_view no_provisioner = "kubernetes.io/no-provisioner";

std::vector<std::string> read_texts(const Field& list) {
    std::vector<std::string> out;
    for (const Field& item : list.items()) { out.emplace_back(item.text()); }
    return out;
}

/// A class as a field says it, or as the annotation did before there was one.
std::string read_class(const Field& object) {
    const Field annotation =
        object["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"];
    return std::string(annotation.is_present() ? annotation.text()
                                               : object["spec"]["storageClassName"].text());
}

std::int64_t read_bytes(const Field& quantity) {
    return quantity.is_present() ? quantity.quantity(INT64_MAX / 4) : 0;
}

ClaimObject read_claim(const Field& object) {
    const Field metadata = object["metadata"];
    const Field spec = object["spec"];
    ClaimObject out;
    out.uid = metadata["uid"].text();
    out.volume = spec["volumeName"].text();
    out.storage_class = read_class(object);
    out.selected_node = metadata["annotations"][selected_node_key].text();
    out.mode = spec["volumeMode"].text("Filesystem");
    out.access = read_texts(spec["accessModes"]);
    if (const Field selector = spec["selector"]; selector.is_present()) {
        out.selector = read_selector(selector);
    }
    out.bytes = read_bytes(spec["resources"]["requests"]["storage"]);
    out.is_bound = !out.volume.empty() &&
                   metadata["annotations"]["pv.kubernetes.io/bind-completed"].is_present();
    out.is_lost = object["status"]["phase"].text() == "Lost";
    out.is_leaving = metadata["deletionTimestamp"].is_present();
    return out;
}

/// Volumes of older clusters say their zone in labels, several with "__" between them.
void add_zones(const Field& labels, std::vector<NodeTerm>& terms) {
    for (const std::string_view key :
         {"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
          "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"}) {
        const std::string_view value = labels[key].text();
        if (value.empty()) { continue; }
        LabelMatch match{std::string(key), MatchOp::in, {}};
        for (std::string_view rest = value; !rest.empty();) {
            const std::size_t at = rest.find("__");
            if (at != 0) { match.values.emplace_back(rest.substr(0, at)); }
            rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 2);
        }
        if (match.values.empty()) { continue; }
        if (terms.empty()) { terms.emplace_back(); }
        for (NodeTerm& term : terms) { term.matches.push_back(match); }
    }
}

VolumeObject read_volume(const Field& object) {
    const Field metadata = object["metadata"];
    const Field spec = object["spec"];
    VolumeObject out;
    out.uid = metadata["uid"].text();
    out.version = metadata["resourceVersion"].text();
    if (const Field claim = spec["claimRef"]; claim.is_present()) {
        out.claim =
            std::string(claim["namespace"].text()) + "/" + std::string(claim["name"].text());
        out.claim_uid = claim["uid"].text();
    }
    out.storage_class = read_class(object);
    out.mode = spec["volumeMode"].text("Filesystem");
    out.driver = spec["csi"]["driver"].text();
    out.access = read_texts(spec["accessModes"]);
    out.labels = read_labels(metadata["labels"]);
    out.bytes = read_bytes(spec["capacity"]["storage"]);
    if (const Field required = spec["nodeAffinity"]["required"]; required.is_present()) {
        out.is_local = true;
        out.terms = read_node_terms(required["nodeSelectorTerms"]);
    }
    if (!out.is_local || !out.terms.empty()) { add_zones(metadata["labels"], out.terms); }
    out.is_local = out.is_local || !out.terms.empty();
    const std::string_view phase = object["status"]["phase"].text();
    out.is_available = !metadata["deletionTimestamp"].is_present() &&
                       (phase == "Available" || phase == "Pending" || phase.empty());
    return out;
}

ClassObject read_storage_class(const Field& object) {
    ClassObject out;
    out.waits = object["volumeBindingMode"].text() == "WaitForFirstConsumer";
    out.provisioner = object["provisioner"].text();
    out.provisions = !out.provisioner.empty() && out.provisioner != no_provisioner;
    for (const Field& topology : object["allowedTopologies"].items()) {
        NodeTerm term;
        for (const Field& match : topology["matchLabelExpressions"].items()) {
            term.matches.push_back(
                {std::string(match["key"].text()), MatchOp::in, read_texts(match["values"])});
        }
        if (!term.matches.empty()) { out.topologies.push_back(std::move(term)); }
    }
    return out;
}

/// A driver without a count has no limit.
AttachLimits read_attach_limits(const Field& object) {
    AttachLimits out;
    for (const Field& driver : object["spec"]["drivers"].items()) {
        const Field count = driver["allocatable"]["count"];
        if (!count.is_present()) { continue; }
        out[std::string(driver["name"].text())] = count.integer(0, extended_count_max);
    }
    return out;
}

void put_attach_limits(Surroundings& around, std::string_view node, AttachLimits limits) {
    if (const auto known = around.attach_limits.find(node); known != around.attach_limits.end()) {
        for (const auto& [driver, count] : known->second) {
            if (--around.limited[driver] == 0) { around.limited.erase(driver); }
        }
        around.attach_limits.erase(known);
    }
    if (limits.empty()) { return; }
    for (const auto& [driver, count] : limits) { ++around.limited[driver]; }
    around.attach_limits.emplace(node, std::move(limits));
}

}  // namespace

AroundKind around_kind(std::string_view kind, std::string_view api_version) {
    if (api_version == "v1") {
        if (kind == "PersistentVolumeClaim") { return AroundKind::claim; }
        if (kind == "PersistentVolume") { return AroundKind::volume; }
        if (kind == "Namespace") { return AroundKind::name_space; }
    }
    if (api_version == "storage.k8s.io/v1") {
        if (kind == "StorageClass") { return AroundKind::storage_class; }
        if (kind == "CSINode") { return AroundKind::csi_node; }
    }
    return AroundKind::none;
}

void put(Surroundings& around, const Document& document) {
    Faults ignored;
    const Field object(document, ignored);
    const Field metadata = object["metadata"];
    std::string name(metadata["name"].text());
    switch (around_kind(document.kind, document.api_version)) {
        case AroundKind::none: break;
        case AroundKind::claim:
            around.has_storage = true;
            around.claims[full_name(metadata)] = read_claim(object);
            break;
        case AroundKind::volume:
            around.has_storage = true;
            around.volumes[std::move(name)] = read_volume(object);
            break;
        case AroundKind::storage_class:
            around.has_storage = true;
            around.classes[std::move(name)] = read_storage_class(object);
            break;
        case AroundKind::csi_node:
            put_attach_limits(around, name, read_attach_limits(object));
            break;
        case AroundKind::name_space: {
            around.has_namespaces = true;
            std::vector<Label> labels = read_labels(metadata["labels"]);
            // The API server writes it; a manifest need not.
            constexpr std::string_view own = "kubernetes.io/metadata.name";
            if (!metadata["labels"][own].is_present()) {
                labels.push_back({std::string(own), name});
            }
            around.namespaces[std::move(name)] = std::move(labels);
            break;
        }
    }
}

void take_out(Surroundings& around, AroundKind kind, std::string_view name) {
    const auto erase = [&](auto& from) {
        if (const auto found = from.find(name); found != from.end()) { from.erase(found); }
    };
    switch (kind) {
        case AroundKind::none: break;
        case AroundKind::claim: return erase(around.claims);
        case AroundKind::volume: return erase(around.volumes);
        case AroundKind::storage_class: return erase(around.classes);
        case AroundKind::csi_node: return put_attach_limits(around, name, {});
        case AroundKind::name_space: return erase(around.namespaces);
    }
}

}  // namespace muster::dialect
