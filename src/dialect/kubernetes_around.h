// What pods are read against that is neither a node nor work: claims, volumes and classes of
// storage, how many volumes a node attaches, and the labels of namespaces. Kept as small values,
// changed object by object; a value that can't be read is taken as not said, for the API server has
// looked at it.
#pragma once

#include "codec/document.h"
#include "model/task.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::dialect {

/// PersistentVolumeClaim.
struct ClaimObject {
    std::string uid;
    std::string volume;         // that it is bound to, or asks for by name
    std::string storage_class;  // empty: none
    std::string selected_node;  // for which its volume is being made
    std::string mode;           // Filesystem or Block
    std::vector<std::string> access;
    std::vector<LabelMatch> selector;
    std::int64_t bytes = 0;
    bool is_bound = false;
    bool is_lost = false;
    bool is_leaving = false;

    bool operator==(const ClaimObject&) const = default;
};

/// PersistentVolume.
struct VolumeObject {
    std::string uid;
    std::string version;
    std::string claim;  // "namespace/name" that it is kept for
    std::string claim_uid;
    std::string storage_class;
    std::string mode;
    std::string driver;  // of CSI
    std::vector<std::string> access;
    std::vector<Label> labels;
    std::vector<NodeTerm> terms;  // nodes that reach it, when is_local
    std::int64_t bytes = 0;
    bool is_local = false;
    bool is_available = false;

    bool operator==(const VolumeObject&) const = default;
};

struct ClassObject {
    std::vector<NodeTerm> topologies;  // where it may make volumes; empty: anywhere
    std::string provisioner;           // the driver that makes them
    bool waits = false;                // for a pod's node
    bool provisions = false;           // makes volumes

    bool operator==(const ClassObject&) const = default;
};

/// How many volumes of a driver a node can attach (CSINode).
using AttachLimits = std::map<std::string, std::int64_t, std::less<>>;

struct Surroundings {
    bool has_storage = false;     // claims, volumes and classes are known at all
    bool has_namespaces = false;  // and so are namespaces
    std::map<std::string, ClaimObject, std::less<>> claims;  // "namespace/name"
    std::map<std::string, VolumeObject, std::less<>> volumes;
    std::map<std::string, ClassObject, std::less<>> classes;
    std::map<std::string, std::vector<Label>, std::less<>> namespaces;
    std::map<std::string, AttachLimits, std::less<>> attach_limits;  // by node, those that have any
    std::map<std::string, std::int64_t, std::less<>> limited;        // drivers: on how many nodes
};

enum class AroundKind : std::uint8_t { none, claim, volume, storage_class, csi_node, name_space };
AroundKind around_kind(std::string_view kind, std::string_view api_version);

/// New or changed.
void put(Surroundings& around, const Document& document);
/// `name` of a claim is "namespace/name".
void take_out(Surroundings& around, AroundKind kind, std::string_view name);

/// A volume of a driver that some node limits, as a resource of nodes and pods.
inline constexpr std::string_view attach_prefix = "attach.muster.dev/";

/// The annotation by which a scheduler tells for which node a claim's volume is to be made.
inline constexpr std::string_view selected_node_key = "volume.kubernetes.io/selected-node";

}  // namespace muster::dialect
