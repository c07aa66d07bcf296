#include "kube/cluster_parts.h"

#include "kube/cluster_source.h"
#include "kube/fake_api_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

namespace muster::kube {
namespace {

const dialect::ClusterOptions ours{.schedulers = {"muster", "volcano"}};

constexpr const char* nodes = "/api/v1/nodes";
constexpr const char* pods = "/api/v1/pods";
constexpr const char* classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
constexpr const char* jobs = "/apis/batch/v1/jobs";
constexpr const char* volcano_jobs = "/apis/batch.volcano.sh/v1alpha1/jobs";
constexpr const char* queues = "/apis/scheduling.volcano.sh/v1beta1/queues";
constexpr const char* hypernodes = "/apis/topology.volcano.sh/v1alpha1/hypernodes";
constexpr const char* volcano_groups = "/apis/scheduling.volcano.sh/v1beta1/podgroups";
constexpr const char* upstream_groups = "/apis/scheduling.k8s.io/v1beta1/podgroups";
constexpr const char* composites = "/apis/scheduling.k8s.io/v1beta1/compositepodgroups";
constexpr const char* cluster_queues = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";
constexpr const char* local_queues = "/apis/kueue.x-k8s.io/v1beta2/localqueues";
constexpr const char* kai_queues = "/apis/scheduling.run.ai/v2/queues";
constexpr const char* claims = "/api/v1/persistentvolumeclaims";
constexpr const char* volumes = "/api/v1/persistentvolumes";
constexpr const char* storage_classes = "/apis/storage.k8s.io/v1/storageclasses";
constexpr const char* csi_nodes = "/apis/storage.k8s.io/v1/csinodes";
constexpr const char* namespaces = "/api/v1/namespaces";
constexpr const char* plugin_groups = "/apis/scheduling.x-k8s.io/v1alpha1/podgroups";
constexpr const char* stateful_sets = "/apis/apps/v1/statefulsets";
constexpr const char* job_sets = "/apis/jobset.x-k8s.io/v1alpha2/jobsets";
constexpr const char* worker_sets = "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets";
constexpr const char* workloads = "/apis/scheduling.k8s.io/v1alpha1/workloads";

/// One that follows the cluster, and what it has been told.
struct Follower {
    explicit Follower(FakeApi& api)
        : transport(api),
          objects(transport, [&api](std::int64_t) { api.pump(); }),
          source(objects, ours) {}

    FakeTransport transport;
    ClusterObjects objects;
    ClusterSource source;
};

/// For messages.
std::string shown(const Fact& fact) {
    struct Show {
        std::string operator()(const TopologySet&) const { return "levels"; }
        std::string operator()(const NodeSet& f) const { return "node " + f.node.name; }
        std::string operator()(const NodeGone& f) const { return "no node " + f.node; }
        std::string operator()(const GpuHealth& f) const { return "health " + f.node; }
        std::string operator()(const QueueSet& f) const { return "queue " + f.queue.name; }
        std::string operator()(const QueueGone& f) const { return "no queue " + f.queue; }
        std::string operator()(const WorkloadSet& f) const { return "has " + f.workload.name; }
        std::string operator()(const WorkloadGone& f) const { return "no " + f.workload; }
        std::string operator()(const TaskGone& f) const {
            return fmt::format("{} of {} went{}", f.task, f.workload, f.is_finished ? "" : " lost");
        }
        std::string operator()(const TaskBound& f) const {
            return fmt::format("{} of {} on {}", f.task, f.workload, f.node);
        }
        std::string operator()(const LeaseSet&) const { return "lease"; }
        std::string operator()(const TimeIs&) const { return "time"; }
    };
    return std::visit(Show{}, fact);
}

std::vector<std::string> all_shown(const std::vector<Fact>& facts) {
    std::vector<std::string> out;
    for (const Fact& fact : facts) { out.push_back(shown(fact)); }
    return out;
}

std::vector<Problem> sorted(std::vector<Problem> problems) {
    std::sort(problems.begin(), problems.end());
    return problems;
}

/// A small cluster in which names meet in all ways that they can.
class Chaos {
public:
    Chaos(FakeApi& api, std::uint32_t seed) : api_(api), random_(seed) {}

    void step() {
        switch (pick(25)) {
            case 0: put_node(); break;
            case 1: erase(nodes); break;
            case 2: put_class(); break;
            case 3: put_queue(); break;
            case 4: put_group(); break;
            case 5:
                erase(any_of({volcano_groups, upstream_groups, composites, plugin_groups}));
                break;
            case 6: put_job(); break;
            case 7: erase(any_of({jobs, volcano_jobs, queues, classes, hypernodes})); break;
            case 8: erase(pods); break;
            case 9: put_hypernode(); break;
            case 10:
            case 11: change_pod(); break;
            case 12:
            case 13: change_node(); break;
            case 14: put_kueue_queue(); break;
            case 15: put_kai_queue(); break;
            case 16: erase(any_of({cluster_queues, local_queues, kai_queues})); break;
            case 17: put_owner(); break;
            case 18: erase(any_of({stateful_sets, job_sets, worker_sets, workloads})); break;
            case 19: put_claim(); break;
            case 20: put_storage(); break;
            case 21: put_namespace(); break;
            case 22:
                erase(any_of({claims, volumes, storage_classes, csi_nodes, namespaces}));
                break;
            default: put_pod(); break;
        }
    }
    std::uint32_t pick(std::uint32_t count) {
        return static_cast<std::uint32_t>(random_() % count);
    }
    std::string name() { return fmt::format("x{}", pick(6)); }

private:
    const char* any_of(std::vector<const char*> all) {
        return all[pick(static_cast<std::uint32_t>(all.size()))];
    }
    json::object object(std::string_view version, std::string_view kind, std::string name,
                        bool has_space = true) {
        json::object metadata{{"name", name}, {"uid", fmt::format("{}-{}", name, pick(3))}};
        if (has_space) { metadata["namespace"] = "team"; }
        metadata["creationTimestamp"] = fmt::format("2026-01-01T00:00:{:02}Z", pick(60));
        return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
    }
    void erase(const char* collection) {
        auto& all = api_.collections[collection];
        if (all.empty()) { return; }
        const ObjectName name =
            std::next(all.begin(), pick(static_cast<std::uint32_t>(all.size())))->first;
        api_.erase(collection, name);
    }
    void put_node() {
        json::object node = object("v1", "Node", fmt::format("n{}", pick(4)), false);
        const json::object amounts{{"nvidia.com/gpu", std::to_string(pick(3) * 4)},
                                   {"cpu", "64"},
                                   {"memory", pick(30) == 0 ? "odd" : "256Gi"},
                                   {"pods", "110"}};
        node["metadata"].as_object()["labels"] =
            json::object{{"topology.kubernetes.io/zone", fmt::format("z{}", pick(2))}};
        node["spec"] = json::object{{"unschedulable", pick(4) == 0}};
        node["status"] = json::object{
            {"capacity", amounts},
            {"allocatable", amounts},
            {"conditions", json::array{json::object{{"type", "Ready"}, {"status", "True"}}}}};
        api_.put(nodes, std::move(node));
    }
    /// The same machine, which often changes nothing that others are read against.
    void change_node() {
        auto& all = api_.collections[nodes];
        if (all.empty()) { return; }
        json::object one =
            std::next(all.begin(), pick(static_cast<std::uint32_t>(all.size())))->second;
        json::object& allocatable = one["status"].as_object()["allocatable"].as_object();
        switch (pick(6)) {
            case 0: allocatable["nvidia.com/mig-1g.10gb"] = std::to_string(pick(3)); break;
            case 1: allocatable["amd.com/gpu"] = std::to_string(pick(3)); break;
            case 2: allocatable["memory"] = "128Gi"; break;
            default: one["spec"] = json::object{{"unschedulable", pick(2) == 0}}; break;
        }
        one["status"].as_object()["capacity"] = allocatable;
        api_.put(nodes, std::move(one));
    }
    void put_class() {
        json::object one =
            object("scheduling.k8s.io/v1", "PriorityClass", fmt::format("p{}", pick(2)), false);
        one["value"] = pick(3) * 10;
        one["globalDefault"] = pick(3) == 0;
        api_.put(classes, std::move(one));
    }
    void put_queue() {
        json::object one =
            object("scheduling.volcano.sh/v1beta1", "Queue", fmt::format("q{}", pick(3)), false);
        one["spec"] = json::object{{"weight", 1 + pick(3)}};
        if (pick(2) == 0) { one["spec"].as_object()["parent"] = fmt::format("q{}", pick(3)); }
        api_.put(queues, std::move(one));
    }
    /// Queues of all dialects share their names.
    void put_kueue_queue() {
        const std::string version = "kueue.x-k8s.io/v1beta2";
        if (pick(2) == 0) {
            json::object one = object(version, "LocalQueue", fmt::format("l{}", pick(3)));
            one["spec"] = json::object{{"clusterQueue", fmt::format("q{}", pick(4))}};
            return api_.put(local_queues, std::move(one));
        }
        json::object one = object(version, "ClusterQueue", fmt::format("q{}", pick(4)), false);
        const json::object gpus{{"name", "nvidia.com/gpu"},
                                {"nominalQuota", pick(9) == 0 ? "odd" : std::to_string(pick(5))}};
        const json::object flavor{{"name", "f"}, {"resources", json::array{gpus}}};
        one["spec"] = json::object{
            {"resourceGroups", json::array{json::object{{"flavors", json::array{flavor}}}}}};
        if (pick(2) == 0) { one["spec"].as_object()["cohortName"] = fmt::format("q{}", pick(5)); }
        api_.put(cluster_queues, std::move(one));
    }
    void put_kai_queue() {
        json::object one =
            object("scheduling.run.ai/v2", "Queue", fmt::format("q{}", pick(4)), false);
        one["spec"] = json::object{{"resources", {{"gpu", {{"limit", pick(4)}, {"quota", 1}}}}}};
        if (pick(2) == 0) { one["spec"].as_object()["parentQueue"] = fmt::format("q{}", pick(4)); }
        api_.put(kai_queues, std::move(one));
    }
    /// Of the queue's own name, of a local one, or none.
    void choose_queue(json::object& of) {
        if (pick(3) == 0) { return; }
        json::object& metadata = of["metadata"].as_object();
        if (!metadata.contains("labels")) { metadata["labels"] = json::object(); }
        metadata["labels"].as_object()["kueue.x-k8s.io/queue-name"] =
            pick(3) == 0 ? fmt::format("q{}", pick(4)) : fmt::format("l{}", pick(3));
    }
    void put_hypernode() {
        if (pick(3) != 0) { return; }
        json::object one =
            object("topology.volcano.sh/v1alpha1", "HyperNode", fmt::format("h{}", pick(2)), false);
        json::array members;
        for (std::uint32_t i = pick(2); i < 4; i += 2) {
            members.push_back(
                json::object{{"type", "Node"},
                             {"selector", {{"exactMatch", {{"name", fmt::format("n{}", i)}}}}}});
        }
        one["spec"] = json::object{{"tier", 1}, {"members", std::move(members)}};
        api_.put(hypernodes, std::move(one));
    }
    void put_group() {
        switch (pick(4)) {
            case 0: {
                json::object one = object("scheduling.volcano.sh/v1beta1", "PodGroup", name());
                one["spec"] = json::object{{"minMember", 1 + pick(3)}};
                if (pick(3) == 0) { one["spec"].as_object()["priorityClassName"] = "p0"; }
                if (pick(3) == 0) {
                    one["metadata"].as_object()["ownerReferences"] = json::array{
                        json::object{{"kind", "Job"}, {"name", name()}, {"controller", true}}};
                }
                choose_queue(one);
                return api_.put(volcano_groups, std::move(one));
            }
            case 1: {
                json::object one = object("scheduling.k8s.io/v1beta1", "PodGroup", name());
                one["spec"] =
                    json::object{{"schedulingPolicy", {{"gang", {{"minCount", 1 + pick(3)}}}}}};
                if (pick(2) == 0) {
                    one["spec"].as_object()["parentCompositePodGroupName"] = name();
                }
                return api_.put(upstream_groups, std::move(one));
            }
            case 2: {
                json::object one = object("scheduling.k8s.io/v1beta1", "CompositePodGroup", name());
                one["spec"] = json::object{
                    {"schedulingPolicy", {{"gang", {{"minGroupCount", 1 + pick(2)}}}}}};
                return api_.put(composites, std::move(one));
            }
            default: {
                json::object one = object("scheduling.x-k8s.io/v1alpha1", "PodGroup", name());
                one["spec"] = json::object{{"minMember", 1 + pick(3)}};
                return api_.put(plugin_groups, std::move(one));
            }
        }
    }
    void put_claim() {
        json::object one = object("v1", "PersistentVolumeClaim", fmt::format("c{}", pick(3)));
        json::object spec{{"accessModes", json::array{"ReadWriteOnce"}}};
        if (pick(3) != 0) { spec["storageClassName"] = fmt::format("s{}", pick(2)); }
        if (pick(3) == 0) {
            spec["volumeName"] = fmt::format("v{}", pick(3));
            one["metadata"].as_object()["annotations"] =
                json::object{{"pv.kubernetes.io/bind-completed", "yes"}};
        }
        if (pick(6) == 0) { spec["accessModes"] = json::array{"ReadWriteOncePod"}; }
        one["spec"] = std::move(spec);
        api_.put(claims, std::move(one));
    }
    void put_storage() {
        if (pick(4) == 0) {
            json::object one =
                object("storage.k8s.io/v1", "CSINode", fmt::format("n{}", pick(4)), false);
            json::object driver{{"name", "csi"}, {"nodeID", "x"}};
            if (pick(2) == 0) { driver["allocatable"] = json::object{{"count", 1 + pick(2)}}; }
            one["spec"] = json::object{{"drivers", json::array{std::move(driver)}}};
            return api_.put(csi_nodes, std::move(one));
        }
        if (pick(2) == 0) {
            json::object one =
                object("storage.k8s.io/v1", "StorageClass", fmt::format("s{}", pick(2)), false);
            one["provisioner"] = pick(2) == 0 ? "kubernetes.io/no-provisioner" : "csi";
            one["volumeBindingMode"] = pick(3) == 0 ? "Immediate" : "WaitForFirstConsumer";
            return api_.put(storage_classes, std::move(one));
        }
        json::object one = object("v1", "PersistentVolume", fmt::format("v{}", pick(3)), false);
        json::object match{{"key", "topology.kubernetes.io/zone"}, {"operator", "In"}};
        match["values"] = json::array{json::value(fmt::format("z{}", pick(2)))};
        json::object spec{{"accessModes", json::array{"ReadWriteOnce"}},
                          {"storageClassName", fmt::format("s{}", pick(2))}};
        json::array terms;
        terms.push_back(json::object{{"matchExpressions", json::array{std::move(match)}}});
        spec["nodeAffinity"] =
            json::object{{"required", {{"nodeSelectorTerms", std::move(terms)}}}};
        if (pick(3) == 0) {
            spec["claimRef"] =
                json::object{{"namespace", "team"}, {"name", fmt::format("c{}", pick(3))}};
        }
        one["spec"] = std::move(spec);
        api_.put(volumes, std::move(one));
    }
    void put_namespace() {
        json::object one = object("v1", "Namespace", fmt::format("t{}", pick(2)), false);
        one["metadata"].as_object()["labels"] = json::object{{"kind", pick(2) == 0 ? "a" : "b"}};
        api_.put(namespaces, std::move(one));
    }
    json::object pod_spec() {
        json::object limits{{"cpu", "1"}};
        if (pick(2) == 0) { limits["nvidia.com/gpu"] = std::to_string(1 + pick(2)); }
        json::object container{{"name", "c"}, {"resources", {{"limits", std::move(limits)}}}};
        json::object spec{{"schedulerName", pick(5) == 0 ? "other" : "muster"}};
        spec["containers"] = json::array{std::move(container)};
        if (pick(4) == 0) { spec["priorityClassName"] = fmt::format("p{}", pick(2)); }
        if (pick(4) == 0) {
            json::object volume{{"name", "v"}};
            volume["persistentVolumeClaim"] =
                json::object{{"claimName", fmt::format("c{}", pick(3))}};
            spec["volumes"] = json::array{std::move(volume)};
        }
        if (pick(6) == 0) {
            json::object term{{"topologyKey", "kubernetes.io/hostname"},
                              {"labelSelector", json::object{}},
                              {"namespaceSelector", {{"matchLabels", {{"kind", "a"}}}}}};
            json::object anti;
            anti["requiredDuringSchedulingIgnoredDuringExecution"] = json::array{std::move(term)};
            spec["affinity"] = json::object{{"podAntiAffinity", std::move(anti)}};
        }
        return spec;
    }
    void put_job() {
        if (pick(2) == 0) {
            json::object one = object("batch/v1", "Job", name());
            if (pick(4) == 0) {
                one["metadata"].as_object()["labels"] =
                    json::object{{"jobset.sigs.k8s.io/jobset-name", name()}};
            }
            if (pick(3) != 0) {
                one["metadata"].as_object()["annotations"] =
                    json::object{{"muster.dev/gang", "true"}};
            }
            one["spec"] = json::object{{"parallelism", 2},
                                       {"completions", 2},
                                       {"completionMode", pick(2) == 0 ? "Indexed" : "NonIndexed"},
                                       {"template", {{"spec", pod_spec()}}}};
            choose_queue(one);
            return api_.put(jobs, std::move(one));
        }
        json::object one = object("batch.volcano.sh/v1alpha1", "Job", name());
        json::array tasks{
            json::object{{"name", "w"}, {"replicas", 2}, {"template", {{"spec", pod_spec()}}}}};
        if (pick(2) == 0) {
            tasks.push_back(json::object{{"name", "v"},
                                         {"replicas", 1},
                                         {"dependsOn", {{"name", json::array{"w"}}}},
                                         {"template", {{"spec", pod_spec()}}}});
        }
        one["spec"] = json::object{{"minAvailable", 1 + pick(2)},
                                   {"schedulerName", "volcano"},
                                   {"tasks", std::move(tasks)}};
        choose_queue(one);
        api_.put(volcano_jobs, std::move(one));
    }
    /// Whose pods are gangs though nobody says so.
    void put_owner() {
        const json::object pod{{"spec", pod_spec()}};
        const auto put = [&](const char* where, json::object one, json::object spec) {
            if (pick(4) == 0) {
                one["metadata"].as_object()["annotations"] =
                    json::object{{"muster.dev/gang", pick(2) == 0 ? "true" : "false"}};
            }
            one["spec"] = std::move(spec);
            choose_queue(one);
            api_.put(where, std::move(one));
        };
        switch (pick(4)) {
            case 0:
                return put(stateful_sets, object("apps/v1", "StatefulSet", name()),
                           {{"replicas", 1 + pick(3)}, {"template", pod}});
            case 1: {
                json::object one = object("jobset.x-k8s.io/v1alpha2", "JobSet", name());
                one["status"] = json::object{{"restarts", pick(2)}};
                json::object child{{"name", "w"}, {"replicas", 1 + pick(2)}};
                child["template"] = json::object{{"spec", {{"template", pod}}}};
                return put(job_sets, std::move(one),
                           {{"suspend", pick(5) == 0}, {"replicatedJobs", json::array{child}}});
            }
            case 2:
                return put(
                    worker_sets, object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name()),
                    {{"replicas", 3},
                     {"leaderWorkerTemplate", {{"size", 1 + pick(3)}, {"workerTemplate", pod}}}});
            default: {
                json::object gang{{"name", "a"},
                                  {"policy", {{"gang", {{"minCount", 1 + pick(3)}}}}}};
                json::object basic{{"name", "b"}, {"policy", {{"basic", json::object()}}}};
                return put(workloads, object("scheduling.k8s.io/v1alpha1", "Workload", name()),
                           {{"podGroups", json::array{gang, basic}}});
            }
        }
    }
    /// As the controllers of those owners label them.
    void choose_owner(json::object& labels, json::object& pod) {
        switch (pick(12)) {
            case 0:
                labels["jobset.sigs.k8s.io/jobset-name"] = name();
                labels["jobset.sigs.k8s.io/replicatedjob-name"] = pick(5) == 0 ? "v" : "w";
                labels["jobset.sigs.k8s.io/job-index"] = std::to_string(pick(3));
                labels["jobset.sigs.k8s.io/restart-attempt"] = std::to_string(pick(2));
                break;
            case 1:
                labels["leaderworkerset.sigs.k8s.io/name"] = name();
                labels["leaderworkerset.sigs.k8s.io/group-index"] = std::to_string(pick(3));
                labels["leaderworkerset.sigs.k8s.io/worker-index"] = std::to_string(pick(3));
                break;
            case 2:
                pod["metadata"].as_object()["ownerReferences"] = json::array{json::object{
                    {"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}, {"name", name()}}};
                break;
            default: break;
        }
    }
    void put_pod() {
        const std::string own = pick(3) == 0 ? name() : fmt::format("{}-{}", name(), pick(3));
        json::object one = object("v1", "Pod", own);
        json::object labels;
        json::object annotations;
        const char* groups[] = {"scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"};
        if (pick(2) == 0) { annotations[groups[pick(2)]] = name(); }
        if (pick(5) == 0) { labels["scheduling.x-k8s.io/pod-group"] = name(); }
        if (pick(3) == 0) { labels["job-name"] = name(); }
        if (pick(6) == 0) { labels["volcano.sh/job-name"] = name(); }
        if (pick(4) == 0) { labels["volcano.sh/task-spec"] = pick(3) == 0 ? "v" : "w"; }
        if (pick(9) == 0) {
            annotations["scheduling.volcano.sh/group-min-member"] = pick(2) == 0 ? "2" : "odd";
        }
        choose_owner(labels, one);
        if (pick(9) == 0) { annotations["yunikorn.apache.org/task-groups"] = "[]"; }
        one["metadata"].as_object()["labels"] = std::move(labels);
        one["metadata"].as_object()["annotations"] = std::move(annotations);
        if (pick(3) == 0) { choose_queue(one); }
        one["spec"] = pod_spec();
        if (pick(4) == 0) {
            one["spec"].as_object()["schedulingGroup"] = json::object{{"podGroupName", name()}};
        }
        if (pick(8) == 0) {
            json::object ref{{"name", name()}, {"podGroup", pick(2) == 0 ? "a" : "b"}};
            if (pick(2) == 0) { ref["podGroupReplicaKey"] = fmt::format("k{}", pick(2)); }
            one["spec"].as_object()["workloadRef"] = std::move(ref);
        }
        if (pick(8) == 0) {
            one["spec"].as_object()["schedulingGates"] = json::array{json::object{{"name", "g"}}};
        }
        one["status"] = json::object{{"phase", "Pending"}};
        api_.put(pods, std::move(one));
    }
    void change_pod() {
        auto& all = api_.collections[pods];
        if (all.empty()) { return; }
        json::object one =
            std::next(all.begin(), pick(static_cast<std::uint32_t>(all.size())))->second;
        json::object& spec = one["spec"].as_object();
        switch (pick(4)) {
            case 0:
                one["status"] = json::object{{"phase", pick(3) == 0 ? "Failed" : "Succeeded"}};
                break;
            case 1:
                one["metadata"].as_object()["deletionTimestamp"] = "2026-01-02T00:00:00Z";
                break;
            default:
                if (!spec.contains("nodeName")) { spec["nodeName"] = fmt::format("n{}", pick(4)); }
                one["status"] = json::object{{"phase", "Running"}};
                break;
        }
        api_.put(pods, std::move(one));
    }

    FakeApi& api_;
    std::minstd_rand random_;
};

void start(FakeApi& api) {
    api.served = {
        classes,         jobs,       volcano_jobs,  queues,         hypernodes,      volcano_groups,
        upstream_groups, composites, plugin_groups, cluster_queues, local_queues,    kai_queues,
        stateful_sets,   job_sets,   worker_sets,   workloads,      storage_classes, csi_nodes};
}

RC_GTEST_PROP(ClusterSource, TellsOfPartsWhatItTellsOfAll, (std::uint32_t seed)) {
    FakeApi api;
    start(api);
    Chaos chaos(api, seed + 1);
    for (std::uint32_t i = chaos.pick(30); i > 0; --i) { chaos.step(); }
    Follower parts(api);
    Follower all(api);
    RC_ASSERT(parts.source.begin({}).has_value());
    RC_ASSERT(all.source.begin({}).has_value());

    for (int round = 0; round < 40; ++round) {
        for (std::uint32_t i = chaos.pick(4); i > 0; --i) { chaos.step(); }
        while (!api.work.empty()) { api.pump(); }
        const std::string workload = "team/" + chaos.name();
        const std::uint32_t task = chaos.pick(3);
        const bool is_missing = chaos.pick(8) == 0;
        for (Follower* one : {&parts, &all}) {
            if (is_missing) {
                one->source.note_missing(workload, task);
            } else {
                one->source.note_ordered(workload, task);
            }
        }
        parts.objects.touch();
        all.source.look_again();
        const auto told = parts.source.observe(0);
        const auto wanted = all.source.observe(0);

        RC_ASSERT(all_shown(*told) == all_shown(*wanted));
        RC_ASSERT(*told == *wanted);
        RC_ASSERT(sorted(parts.source.malformed()) == sorted(all.source.malformed()));
        RC_ASSERT(sorted(parts.source.refused()) == sorted(all.source.refused()));
    }
}

/// What was read of all parts so far, put together.
RC_GTEST_PROP(ClusterParts, ComeToWhatAllObjectsComeTo, (std::uint32_t seed)) {
    FakeApi api;
    start(api);
    Chaos chaos(api, seed + 1);
    Follower follower(api);
    RC_ASSERT(follower.objects.start().has_value());
    ClusterParts parts(follower.objects, ours);
    std::map<std::string, ClusterParts::Workload> known;

    for (int round = 0; round < 60; ++round) {
        for (std::uint32_t i = chaos.pick(4); i > 0; --i) { chaos.step(); }
        while (!api.work.empty()) { api.pump(); }
        parts.read_frame(follower.objects.take_changed());
        for (const auto& [pod, node] : follower.objects.take_bound()) {
            parts.touch({ObjectKind::pod, pod});
        }
        ClusterParts::Change change = parts.read_demand();
        for (const std::string& name : change.names) { known.erase(name); }
        for (ClusterParts::Workload& one : change.workloads) {
            RC_ASSERT(known.emplace(one.spec.name, one).second);
        }

        Texts texts;
        follower.objects.each(
            [&](const ObjectKey& key, std::string text) { texts.emplace(key, std::move(text)); });
        // That there is nothing of a kind which is followed is known too.
        dialect::Surroundings around;
        around.has_storage = true;
        around.has_namespaces = true;
        dialect::KubernetesContext context;
        context.around = std::make_shared<dialect::Surroundings>(around);
        dialect::ClusterOptions options = ours;
        options.has_owner = owners_by([&](const ObjectKey& key) { return texts.contains(key); });
        const ClusterState state = read_state(texts, options, context);
        std::vector<const ClusterParts::Workload*> ordered;
        for (const auto& [name, one] : known) { ordered.push_back(&one); }
        std::sort(ordered.begin(), ordered.end(),
                  [](const auto* a, const auto* b) { return a->origin < b->origin; });
        std::vector<WorkloadSpec> specs;
        for (const auto* one : ordered) { specs.push_back(one->spec); }
        RC_ASSERT(specs == state.listing.workloads);
        for (const auto* one : ordered) {
            const auto has = state.pods.find(one->spec.name);
            const TaskPods wanted = has != state.pods.end() ? has->second : TaskPods{};
            RC_ASSERT(one->pods.size() == wanted.size());
            for (const auto& [task, pod] : wanted) {
                const TaskPod& found = one->pods.at(task);
                RC_ASSERT(found.uid == pod.uid);
                RC_ASSERT(found.node == pod.node);
                RC_ASSERT(found.group == pod.group);
                RC_ASSERT(found.is_ours == pod.is_ours);
            }
        }
        RC_ASSERT(parts.frame().listing.nodes == state.listing.nodes);
        RC_ASSERT(parts.frame().listing.levels == state.listing.levels);
        RC_ASSERT(parts.frame().listing.queues == state.listing.queues);
        RC_ASSERT(parts.frame().machines == state.machines);
        RC_ASSERT(sorted(parts.malformed()) == sorted(state.malformed));
        RC_ASSERT(sorted(parts.refused()) == sorted(state.refused));
    }
}

/// An owner, a group, a job and their pods, in whatever order they come and go.
struct Team {
    std::vector<std::pair<const char*, json::object>> objects;

    Team() {
        const json::object containers{{"name", "c"},
                                      {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}};
        const json::object pod_spec{{"schedulerName", "muster"},
                                    {"containers", json::array{containers}}};
        const json::object job{
            {"parallelism", 2}, {"completions", 2}, {"template", {{"spec", pod_spec}}}};
        json::object child{{"name", "w"}, {"replicas", 2}, {"template", {{"spec", job}}}};
        add(job_sets, "JobSet", "set", {{"spec", {{"replicatedJobs", json::array{child}}}}});
        add(jobs, "Job", "set-w-0", {{"spec", job}},
            {{"labels", {{"jobset.sigs.k8s.io/jobset-name", "set"}}},
             {"annotations", {{"muster.dev/gang", "true"}}}});
        add(worker_sets, "LeaderWorkerSet", "serve",
            {{"spec",
              {{"replicas", 2},
               {"leaderWorkerTemplate",
                {{"size", 2}, {"workerTemplate", {{"spec", pod_spec}}}}}}}});
        add(workloads, "Workload", "old",
            {{"spec",
              {{"podGroups", json::array{json::object{
                                 {"name", "g"}, {"policy", {{"gang", {{"minCount", 2}}}}}}}}}}});
        add(upstream_groups, "PodGroup", "new",
            {{"spec", {{"schedulingPolicy", {{"gang", {{"minCount", 2}}}}}}}});
        for (int i = 0; i < 4; ++i) {
            const std::string index = std::to_string(i % 2);
            const std::string part = std::to_string(i / 2);
            add(pods, "Pod", "set-" + std::to_string(i), {{"spec", pod_spec}},
                {{"labels",
                  {{"jobset.sigs.k8s.io/jobset-name", "set"},
                   {"jobset.sigs.k8s.io/replicatedjob-name", "w"},
                   {"jobset.sigs.k8s.io/job-index", part},
                   {"batch.kubernetes.io/job-name", "set-w-" + part},
                   {"batch.kubernetes.io/job-completion-index", index}}}});
            add(pods, "Pod", "serve-" + std::to_string(i), {{"spec", pod_spec}},
                {{"labels",
                  {{"leaderworkerset.sigs.k8s.io/name", "serve"},
                   {"leaderworkerset.sigs.k8s.io/group-index", part},
                   {"leaderworkerset.sigs.k8s.io/worker-index", index}}}});
            json::object in_old = pod_spec;
            in_old["workloadRef"] = json::object{
                {"name", "old"}, {"podGroup", "g"}, {"podGroupReplicaKey", "k" + part}};
            add(pods, "Pod", "old-" + std::to_string(i), {{"spec", in_old}});
            json::object in_new = pod_spec;
            in_new["schedulingGroup"] = json::object{{"podGroupName", "new"}};
            add(pods, "Pod", "new-" + std::to_string(i), {{"spec", in_new}});
        }
    }

    void add(const char* where, const char* kind, const std::string& name, json::object object,
             json::object metadata = {}) {
        metadata["name"] = name;
        metadata["namespace"] = "team";
        metadata["uid"] = std::string(kind) + name;
        object["kind"] = kind;
        object["apiVersion"] = std::string_view(where).starts_with("/api/v1") ? "v1" : "x/v1";
        object["metadata"] = std::move(metadata);
        objects.emplace_back(where, std::move(object));
    }
};

RC_GTEST_PROP(Owners, AnyOrderOfArrivalGivesTheSameWorkloadsAndAnyOfLeavingNone,
              (std::uint32_t seed)) {
    std::minstd_rand random(seed + 1);
    Team team;
    FakeApi api;
    start(api);
    Follower follower(api);
    std::map<std::string, WorkloadSpec> known;
    const std::map<std::string, std::pair<std::size_t, std::int32_t>> wanted{
        {"team/new", {4, 2}},     {"team/old-g-k0", {2, 2}}, {"team/old-g-k1", {2, 2}},
        {"team/serve-0", {2, 2}}, {"team/serve-1", {2, 2}},  {"team/set", {4, 4}}};
    const auto hear = [&] {
        while (!api.work.empty()) { api.pump(); }
        follower.objects.touch();
        const auto facts = follower.source.observe(0);
        RC_ASSERT(facts.has_value());
        for (const Fact& fact : *facts) {
            if (const auto* set = std::get_if<WorkloadSet>(&fact)) {
                known[set->workload.name] = set->workload;
            }
            if (const auto* gone = std::get_if<WorkloadGone>(&fact)) {
                known.erase(gone->workload);
            }
        }
        // No pod stands alone.
        for (const auto& [name, spec] : known) { RC_ASSERT(wanted.contains(name)); }
    };
    RC_ASSERT(follower.source.begin({}).has_value());

    std::shuffle(team.objects.begin(), team.objects.end(), random);
    for (const auto& [where, object] : team.objects) {
        api.put(where, object);
        if (random() % 3 == 0) { hear(); }
    }
    hear();

    std::map<std::string, std::pair<std::size_t, std::int32_t>> tasks;
    for (const auto& [name, spec] : known) {
        std::size_t count = 0;
        for (const Leaf& leaf : leaves_of(spec)) { count += leaf.count; }
        tasks[name] = {count, spec.groups.front().minimum};
    }
    RC_ASSERT(tasks == wanted);
    for (const auto& [name, spec] : known) {
        RC_ASSERT(follower.source.pods_of(name)->size() == tasks.at(name).first);
    }

    std::shuffle(team.objects.begin(), team.objects.end(), random);
    for (const auto& [where, object] : team.objects) {
        api.erase(where, name_of(object));
        if (random() % 3 == 0) { hear(); }
    }
    hear();
    RC_ASSERT(known.empty());
}

TEST(Owners, AJobIsHeardOfByThePodsThatOnlyReferToIt) {
    FakeApi api;
    start(api);
    Follower follower(api);
    ASSERT_TRUE(follower.source.begin({}));
    const auto told = [&] {
        while (!api.work.empty()) { api.pump(); }
        follower.objects.touch();
        EXPECT_TRUE(follower.source.observe(0));
        return follower.source.find_workload("team/sum") != nullptr;
    };
    Team team;
    json::object pod = team.objects.back().second;
    pod["spec"].as_object().erase("schedulingGroup");
    pod["metadata"] = {
        {"name", "sum"},
        {"namespace", "team"},
        {"uid", "p"},
        {"ownerReferences",
         json::array{json::object{
             {"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", "sums"}, {"uid", "j"}}}}};
    json::object job{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
    job["metadata"] = {{"name", "sums"}, {"namespace", "team"}, {"uid", "j"}};
    job["spec"] = {{"template", {{"spec", pod["spec"]}}}};

    api.put(pods, pod);
    EXPECT_FALSE(told());
    api.put(jobs, job);
    EXPECT_TRUE(told());
    api.erase(jobs, {"team", "sums"});
    EXPECT_FALSE(told());
}

}  // namespace
}  // namespace muster::kube
