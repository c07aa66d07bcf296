// What one task needs of one node. Identical tasks are a role (see workload.h).
#pragma once

#include "model/node.h"
#include "model/resources.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

enum class GpuKind : std::uint8_t { none, whole, share, mig };

struct GpuNeed {
    GpuKind kind = GpuKind::none;
    std::int32_t count =
        0;  // whole: devices; share: devices that each give the share; mig: instances
    std::int32_t milli = 0;  // share: thousandths of a device, 1…1000; 0 = follows from mib
    std::int64_t mib = 0;    // share: device memory; 0 = follows from milli
    std::string profile;     // mig: "1g.10gb"
    std::vector<std::string> models;  // any of these products; empty = any
    bool near_nic = false;            // wants an RDMA NIC close to its GPUs

    bool operator==(const GpuNeed&) const = default;
};

enum class MatchOp : std::uint8_t { in, not_in, exists, does_not_exist, greater, less };

struct LabelMatch {
    std::string key;
    MatchOp op = MatchOp::in;
    std::vector<std::string> values;

    bool operator==(const LabelMatch&) const = default;
};

/// All of `matches` must hold. The key "metadata.name" matches the node's name; all nodes have the
/// key "metadata.cluster".
struct NodeTerm {
    std::vector<LabelMatch> matches;
    std::int32_t weight = 0;  // preferred terms only, 1…100

    bool operator==(const NodeTerm&) const = default;
};

/// `greater` and `less` compare the taint's value with the toleration's, both whole numbers.
enum class TolerationOp : std::uint8_t { equal, exists, greater, less };

struct Toleration {
    std::string key;  // empty with `exists`: every taint
    TolerationOp op = TolerationOp::equal;
    std::string value;
    bool is_any_effect = true;
    TaintEffect effect = TaintEffect::no_schedule;  // when not any

    bool operator==(const Toleration&) const = default;
};

/// Topology spread: no domain may have more than `max_skew` matching tasks above the emptiest one.
/// Domains are those of the nodes that the task itself may use, as the two flags say.
struct SpreadRule {
    std::int32_t max_skew = 0;     // 0 = no spread
    std::int32_t domains_min = 1;  // with fewer of them the emptiest one counts as empty
    bool is_wish = false;          // preferred, not required
    bool skips_unselected = true;  // nodes that its selector and `required` rule out do not count
    bool skips_tainted = false;    // nor those whose taints it does not tolerate

    bool operator==(const SpreadRule&) const = default;
};

/// Pod (anti-)affinity: about tasks whose labels match, in the same domain of `topology_key`. With
/// a spread rule: how they are spread over its domains.
struct PodTerm {
    std::vector<LabelMatch> selector;
    std::vector<std::string> namespaces;  // empty = the task's own
    std::string topology_key;
    bool is_anti = false;
    std::int32_t weight = 0;        // 0 = required, else preferred 1…100
    bool is_any_namespace = false;  // of whatever namespace; then `namespaces` says nothing
    SpreadRule spread;

    bool operator==(const PodTerm&) const = default;
};

struct TaskSpec {
    Resources request;
    GpuNeed gpu;
    std::vector<Label> node_selector;  // all must hold
    std::vector<NodeTerm> required;    // any one must hold; empty = no demand
    // As `required`, but of the task's volumes and GPUs, not its wish: what only this rules out
    // still counts for spread rules.
    std::vector<NodeTerm> implied;
    std::vector<NodeTerm> preferred;
    std::vector<Toleration> tolerations;
    std::vector<PodTerm> pod_terms;
    std::vector<Label> labels;  // the task's own, what pod terms of others look at
    std::string name_space = "default";
    bool is_cpu_exclusive =
        false;  // guaranteed, whole CPUs: pinned to one NUMA zone where the node says so

    bool operator==(const TaskSpec&) const = default;
};

}  // namespace muster
