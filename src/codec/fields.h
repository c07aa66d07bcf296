// The model's fields, told once: `fields(visit, value)` calls visit(key, member) for each in the
// order of the record format. Bytes, JSON and whatever else walks the model are visitors of this;
// keys are those of docs/reference/json.md. fields_test.cpp fails when a struct has a field that is
// not here. A change raises `record_format`: docs/decisions/0006.
#pragma once

#include "model/order.h"
#include "model/plan.h"
#include "model/policy.h"
#include "model/snapshot.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <variant>

namespace muster {

inline constexpr unsigned record_format = 5;

/// One function serves values that are read and values that are filled.
template <class T, class Of>
concept Is = std::is_same_v<std::remove_const_t<T>, Of>;

/// A mask of GPUs: a number in bytes, a list of indices in JSON.
template <class T>
struct GpuBits {
    T& mask;
};
template <class T>
GpuBits(T&) -> GpuBits<T>;

// --- what exists ------------------------------------------------------------------------------

void fields(auto& visit, Is<Label> auto& v) {
    visit("key", v.key);
    visit("value", v.value);
}
void fields(auto& visit, Is<Amount> auto& v) {
    visit("name", v.name);
    visit("count", v.count);
}
void fields(auto& visit, Is<Resources> auto& v) {
    visit("milli_cpu", v.milli_cpu);
    visit("memory", v.memory);
    visit("extended", v.extended);
}
void fields(auto& visit, Is<Level> auto& v) {
    visit("name", v.name);
    visit("key", v.key);
}
void fields(auto& visit, Is<Taint> auto& v) {
    visit("key", v.key);
    visit("value", v.value);
    visit("effect", v.effect);
}
void fields(auto& visit, Is<GpuSpec> auto& v) {
    visit("model", v.model);
    visit("memory_mib", v.memory_mib);
    visit("numa", v.numa);
    visit("mig", v.mig);
    visit("healthy", v.is_healthy);
}
void fields(auto& visit, Is<NicSpec> auto& v) {
    visit("name", v.name);
    visit("numa", v.numa);
}
void fields(auto& visit, Is<LinkMatrix> auto& v) {
    visit("paths", v.paths);
    visit("nvlinks", v.nvlinks);
}
void fields(auto& visit, Is<NumaZone> auto& v) { visit("milli_cpu", v.milli_cpu); }
void fields(auto& visit, Is<NodeSpec> auto& v) {
    visit("name", v.name);
    visit("labels", v.labels);
    visit("taints", v.taints);
    visit("allocatable", v.allocatable);
    visit("pods", v.pods);
    visit("gpus", v.gpus);
    visit("nics", v.nics);
    visit("links", v.links);
    visit("numa", v.numa);
    visit("numa_policy", v.numa_policy);
    visit("ready", v.is_ready);
    visit("cordoned", v.is_cordoned);
    visit("rank", v.rank);
    visit("counted", v.is_counted);
}
void fields(auto& visit, Is<Quota> auto& v) { visit("amounts", v.amounts); }
void fields(auto& visit, Is<QueueSpec> auto& v) {
    visit("name", v.name);
    visit("parent", v.parent);
    visit("cap", v.cap);
    visit("entitlement", v.entitlement);
    visit("guarantee", v.guarantee);
    visit("weight", v.weight);
    visit("priority", v.priority);
    visit("head", v.head);
}
void fields(auto& visit, Is<LeaseBlock> auto& v) {
    visit("node", v.node);
    visit("gpus", GpuBits{v.gpus});
    visit("milli_cpu", v.milli_cpu);
    visit("memory", v.memory);
}
void fields(auto& visit, Is<LeaseSpec> auto& v) {
    visit("name", v.name);
    visit("holder", v.holder);
    visit("state", v.state);
    visit("epoch", v.epoch);
    visit("notice_s", v.notice_s);
    visit("deadline", v.deadline);
    visit("blocks", v.blocks);
}

// --- what is asked for ------------------------------------------------------------------------

void fields(auto& visit, Is<GpuNeed> auto& v) {
    visit("kind", v.kind);
    visit("count", v.count);
    visit("milli", v.milli);
    visit("mib", v.mib);
    visit("profile", v.profile);
    visit("models", v.models);
    visit("near_nic", v.near_nic);
}
void fields(auto& visit, Is<LabelMatch> auto& v) {
    visit("key", v.key);
    visit("op", v.op);
    visit("values", v.values);
}
void fields(auto& visit, Is<NodeTerm> auto& v) {
    visit("matches", v.matches);
    visit("weight", v.weight);
}
void fields(auto& visit, Is<Toleration> auto& v) {
    visit("key", v.key);
    visit("op", v.op);
    visit("value", v.value);
    visit("any_effect", v.is_any_effect);
    visit("effect", v.effect);
}
void fields(auto& visit, Is<SpreadRule> auto& v) {
    visit("max_skew", v.max_skew);
    visit("domains_min", v.domains_min);
    visit("wish", v.is_wish);
    visit("skips_unselected", v.skips_unselected);
    visit("skips_tainted", v.skips_tainted);
}
void fields(auto& visit, Is<PodTerm> auto& v) {
    visit("selector", v.selector);
    visit("namespaces", v.namespaces);
    visit("topology_key", v.topology_key);
    visit("anti", v.is_anti);
    visit("weight", v.weight);
    visit("any_namespace", v.is_any_namespace);
    visit("spread", v.spread);
}
void fields(auto& visit, Is<TaskSpec> auto& v) {
    visit("request", v.request);
    visit("gpu", v.gpu);
    visit("node_selector", v.node_selector);
    visit("required", v.required);
    visit("implied", v.implied);
    visit("preferred", v.preferred);
    visit("tolerations", v.tolerations);
    visit("pod_terms", v.pod_terms);
    visit("labels", v.labels);
    visit("namespace", v.name_space);
    visit("cpu_exclusive", v.is_cpu_exclusive);
}
void fields(auto& visit, Is<TopologyWish> auto& v) {
    visit("required", v.required);
    visit("preferred", v.preferred);
}
void fields(auto& visit, Is<GroupSpec> auto& v) {
    visit("name", v.name);
    visit("parent", v.parent);
    visit("minimum", v.minimum);
    visit("count", v.count);
    visit("task", v.task);
    visit("topology", v.topology);
}
void fields(auto& visit, Is<WorkloadSpec> auto& v) {
    visit("name", v.name);
    visit("queue", v.queue);
    visit("user", v.user);
    visit("uid", v.uid);
    visit("priority", v.priority);
    visit("submitted", v.submitted);
    visit("groups", v.groups);
    visit("linked", v.linked);
    visit("runtime_estimate_s", v.runtime_estimate_s);
}
void fields(auto& visit, Is<MixEntry> auto& v) {
    visit("milli_cpu", v.milli_cpu);
    visit("gpu_milli", v.gpu_milli);
    visit("gpu_count", v.gpu_count);
    visit("models", v.models);
    visit("weight", v.weight);
}
void fields(auto& visit, Is<Policy> auto& v) { visit("mix", v.mix); }

// --- what happens -----------------------------------------------------------------------------

void fields(auto& visit, Is<MigSlot> auto& v) {
    visit("gpu", v.gpu);
    visit("start", v.start);
}
void fields(auto& visit, Is<Devices> auto& v) {
    visit("gpus", GpuBits{v.gpus});
    visit("mig", v.mig);
    visit("numa", v.numa);
}
void fields(auto& visit, Is<TopologySet> auto& v) { visit("levels", v.levels); }
void fields(auto& visit, Is<NodeSet> auto& v) { visit("node", v.node); }
void fields(auto& visit, Is<NodeGone> auto& v) { visit("node", v.node); }
void fields(auto& visit, Is<GpuHealth> auto& v) {
    visit("node", v.node);
    visit("gpu", v.gpu);
    visit("healthy", v.is_healthy);
}
void fields(auto& visit, Is<QueueSet> auto& v) { visit("queue", v.queue); }
void fields(auto& visit, Is<QueueGone> auto& v) { visit("queue", v.queue); }
void fields(auto& visit, Is<WorkloadSet> auto& v) { visit("workload", v.workload); }
void fields(auto& visit, Is<WorkloadGone> auto& v) { visit("workload", v.workload); }
void fields(auto& visit, Is<TaskGone> auto& v) {
    visit("workload", v.workload);
    visit("task", v.task);
    visit("finished", v.is_finished);
}
void fields(auto& visit, Is<TaskBound> auto& v) {
    visit("workload", v.workload);
    visit("task", v.task);
    visit("node", v.node);
    visit("has_devices", v.has_devices);
    visit("devices", v.devices);
}
void fields(auto& visit, Is<LeaseSet> auto& v) { visit("lease", v.lease); }
void fields(auto& visit, Is<TimeIs> auto& v) { visit("now", v.now); }

/// The alternatives of a variant by name, in its order.
template <class Variant>
inline constexpr int alternatives = 0;
template <>
inline constexpr std::array<std::string_view, std::variant_size_v<Fact>> alternatives<Fact> = {
    "topology_set", "node_set",      "node_gone", "gpu_health", "queue_set", "queue_gone",
    "workload_set", "workload_gone", "task_gone", "task_bound", "lease_set", "time_is"};

// --- what was decided -------------------------------------------------------------------------

void fields(auto& visit, Is<CauseCount> auto& v) {
    visit("cause", v.cause);
    visit("nodes", v.nodes);
}
void fields(auto& visit, Is<Reason> auto& v) {
    visit("link", v.link);
    visit("why", v.why);
    visit("role", v.role);
    visit("subject", v.subject);
    visit("needed", v.needed);
    visit("have", v.have);
    visit("closest", v.closest);
    visit("nodes", v.nodes);
    visit("causes", v.causes);
    visit("known", v.known);
    visit("wakes", v.wakes);
    visit("text", v.text);
}
void fields(auto& visit, Is<TaskPlace> auto& v) {
    visit("task", v.task);
    visit("node", v.node);
    visit("counted", v.is_counted);
    visit("devices", v.devices);
}
void fields(auto& visit, Is<Placement> auto& v) {
    visit("workload", v.workload);
    visit("level", v.level);
    visit("domain", v.domain);
    visit("crossings", v.crossings);
    visit("tasks", v.tasks);
}
void fields(auto& visit, Is<Refusal> auto& v) {
    visit("workload", v.workload);
    visit("reason", v.reason);
}
void fields(auto& visit, Is<Release> auto& v) {
    visit("workload", v.workload);
    visit("tasks", v.tasks);
}
void fields(auto& visit, Is<Plan> auto& v) {
    visit("cycle", v.cycle);
    visit("releases", v.releases);
    visit("placements", v.placements);
    visit("refusals", v.refusals);
}
void fields(auto& visit, Is<Ordered> auto& v) {
    visit("kind", v.kind);
    visit("workload", v.workload);
    visit("cycle", v.cycle);
    visit("tasks", v.tasks);
}
void fields(auto& visit, Is<Conflict> auto& v) {
    visit("fact", v.fact);
    visit("rule", v.rule);
    visit("text", v.text);
}

// --- what is known ----------------------------------------------------------------------------

void fields(auto& visit, Is<TaskStatus> auto& v) {
    visit("state", v.state);
    visit("confirmed", v.is_confirmed);
    visit("conflict", v.is_conflict);
    visit("node", v.node);
    visit("devices", v.devices);
    visit("claim", v.claim);
}
void fields(auto& visit, Is<WorkloadStatus> auto& v) {
    visit("spec", v.spec);
    visit("running", v.is_running);
    visit("held_minimums", v.held_minimums);
    visit("tasks", v.tasks);
    visit("has_reason", v.has_reason);
    visit("reason", v.reason);
}
void fields(auto& visit, Is<MixCount> auto& v) {
    visit("milli_cpu", v.milli_cpu);
    visit("gpu_milli", v.gpu_milli);
    visit("gpu_count", v.gpu_count);
    visit("models", v.models);
    visit("count", v.count);
}
void fields(auto& visit, Is<MixStatus> auto& v) {
    visit("counts", v.counts);
    visit("recent", v.recent);
    visit("left", v.left);
    visit("due_at", v.due_at);
    visit("built_churn", v.built_churn);
}
void fields(auto& visit, Is<Snapshot> auto& v) {
    visit("now", v.now);
    visit("cycle", v.cycle);
    visit("gpu_models", v.gpu_models);
    visit("levels", v.levels);
    visit("nodes", v.nodes);
    visit("queues", v.queues);
    visit("leases", v.leases);
    visit("workloads", v.workloads);
    visit("mix", v.mix);
    visit("policy", v.policy);
}

// --- enumerations -----------------------------------------------------------------------------

/// The last value of each; readers refuse what is beyond.
template <class Enum>
inline constexpr Enum last_of = Enum::none_is_told;
template <>
inline constexpr TaintEffect last_of<TaintEffect> = TaintEffect::no_execute;
template <>
inline constexpr MigMode last_of<MigMode> = MigMode::dynamic;
template <>
inline constexpr Link last_of<Link> = Link::unknown;
template <>
inline constexpr NumaPolicy last_of<NumaPolicy> = NumaPolicy::single_numa_node;
template <>
inline constexpr HeadRule last_of<HeadRule> = HeadRule::best_effort;
template <>
inline constexpr LeaseState last_of<LeaseState> = LeaseState::returned;
template <>
inline constexpr GpuKind last_of<GpuKind> = GpuKind::mig;
template <>
inline constexpr MatchOp last_of<MatchOp> = MatchOp::less;
template <>
inline constexpr TolerationOp last_of<TolerationOp> = TolerationOp::less;
template <>
inline constexpr ChainLink last_of<ChainLink> = ChainLink::bind;
template <>
inline constexpr Cause last_of<Cause> = Cause::numa;
template <>
inline constexpr Why last_of<Why> = Why::pods_missing;
template <>
inline constexpr Wake last_of<Wake> = Wake::tasks_leave;
template <>
inline constexpr OrderKind last_of<OrderKind> = OrderKind::evict;
template <>
inline constexpr ConflictRule last_of<ConflictRule> = ConflictRule::over_cap_waits;
template <>
inline constexpr TaskState last_of<TaskState> = TaskState::finished;

}  // namespace muster
