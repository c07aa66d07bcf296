// Kubernetes objects as facts and workloads. Pure: text in, values out; reads no cluster and no
// clock.
//
// Read are Node, Pod, PriorityClass, batch/v1 Job, Deployment, StatefulSet, ReplicaSet, JobSet,
// LeaderWorkerSet, Volcano's Job, PodGroup, Queue and HyperNode, the PodGroups of scheduler-plugins
// and of Kubernetes itself, CompositePodGroup, the Workload of Kubernetes 1.35, Kueue's
// ClusterQueue and LocalQueue, KAI's Queue, and the Topology of both. Other kinds are counted in a
// warning. A value of the wrong type or range is an error with its place and nothing is returned. A
// scheduling constraint that Muster can't keep is never dropped: `read_jobs` fails with its name,
// `read_cluster` sets the workload aside in `refused`.
#pragma once

#include "base/result.h"
#include "codec/document.h"
#include "codec/field.h"
#include "model/fact.h"
#include "model/plan.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::dialect {

struct Warning {
    Place place;  // of the first one
    std::string text;
    std::int64_t count = 1;
    bool is_fault = false;  // what stands there can't be read, and its object is taken without it

    bool operator==(const Warning&) const = default;
    [[nodiscard]] std::string message() const;  // "job.yaml:3: spec.foo: … (12 times)"
};

struct PriorityClass {
    std::string name;
    std::int64_t value = 0;
    bool is_default = false;

    bool operator==(const PriorityClass&) const = default;
};

/// A Volcano tier, as a level of the topology.
struct Tier {
    std::int64_t number = 0;
    std::string level;

    bool operator==(const Tier&) const = default;
};

/// Kueue's name of a queue in a namespace.
struct LocalQueue {
    std::string name;  // "namespace/name"
    std::string queue;

    bool operator==(const LocalQueue&) const = default;
};

struct Surroundings;  // kubernetes_around.h

/// What objects refer to in other objects; comes out of the cluster, goes into the reading of jobs.
struct KubernetesContext {
    std::vector<PriorityClass> priority_classes;
    std::vector<Tier> tiers;
    std::vector<std::string> fixed_mig_profiles;  // counted by some node: "1g.10gb"
    bool has_other_vendors = false;               // GPUs other than NVIDIA's
    bool has_share_driver = false;                // some node runs HAMi, which enforces shares
    std::vector<LocalQueue> local_queues;
    std::shared_ptr<const Surroundings> around;  // null: nothing of it is known

    bool operator==(const KubernetesContext&) const = default;
};

/// Which task of which workload a pod is. Tasks count through the leaves in order.
struct PodTask {
    std::string pod;  // "namespace/name"
    std::string workload;
    std::uint32_t task = 0;

    bool operator==(const PodTask&) const = default;
};

/// A waiting workload that asks for what Muster can't keep, or is not there in whole.
struct RefusedWorkload {
    std::string workload;
    Place place;
    std::string text;
    Why why = Why::unknown_constraint;  // or pods_missing

    bool operator==(const RefusedWorkload&) const = default;
};

struct ClusterInput {
    std::vector<Fact>
        facts;  // in an order that an Engine takes: levels, nodes, queues, workloads, bindings
    std::vector<Warning> warnings;
    std::vector<RefusedWorkload> refused;
    std::vector<PodTask> pods;
    std::vector<std::string> origins;  // of each workload: the document at which it was made
    KubernetesContext context;
};

struct JobInput {
    std::vector<WorkloadSpec> workloads;  // in the order of the documents
    std::vector<Fact> facts;              // queues, nodes, levels that stood beside them
    std::vector<Warning> warnings;
};

/// The same as read_jobs, with every fault instead of the first; `input` is empty when there is
/// one.
struct JobReading {
    JobInput input;
    std::vector<Place> places;  // of each workload
    std::vector<Fault> faults;
};
JobReading inspect_jobs(const Documents& documents, const KubernetesContext& context);

struct ClusterOptions {
    std::vector<std::string> schedulers = {"muster", "volcano"};  // whose waiting pods are ours
    /// Whether the Job, JobSet, LeaderWorkerSet or StatefulSet "namespace/name" is there, of one
    /// who knows all of them. A waiting pod of one that is not there stays waiting: it may be of a
    /// gang, of which was not heard yet, or which was deleted. Null: it may be somewhere else, and
    /// its pods stand alone.
    std::function<bool(std::string_view kind, std::string_view name)> has_owner = {};
};

/// What runs where and what waits. Waiting pods of other schedulers are not ours; running ones hold
/// room.
Result<ClusterInput> read_cluster(std::span<const SourceText> sources,
                                  const ClusterOptions& options = {});

/// The same with every fault instead of the first; `input` is empty when there is one.
struct ClusterReading {
    ClusterInput input;
    std::vector<Fault> faults;
};
/// `context`: what objects that are read elsewhere say, see Links.
ClusterReading inspect_cluster(const Documents& documents, const ClusterOptions& options = {},
                               KubernetesContext context = {});

/// What ties a pod, a job or a group to others. Those that share a name are to be read together;
/// one that shares none with the others is read by itself, in the context that the nodes, priority
/// classes, HyperNodes and LocalQueues make, as it is together with all. A pod has its own name
/// beside these.
struct Links {
    std::vector<std::string> names;  // "namespace/name"
    std::vector<std::string> jobs;   // of a pod: tie it to those that declare their pods
    bool is_job = false;  // such a job, or one that says their queue; the first name is its own
    std::vector<std::string> claims;  // of storage, "namespace/name", that it looks at
    bool has_namespaces = false;      // it looks at the labels of namespaces
};
Links links_of(const Document& document);

/// What somebody is about to submit: every job and pod is taken as ours and as new.
Result<JobInput> read_jobs(std::span<const SourceText> sources,
                           const KubernetesContext& context = {});

}  // namespace muster::dialect
