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
constexpr const char* plugin_groups = "/apis/scheduling.x-k8s.io/v1alpha1/podgroups";

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
        switch (pick(19)) {
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
    json::object pod_spec() {
        json::object limits{{"cpu", "1"}};
        if (pick(2) == 0) { limits["nvidia.com/gpu"] = std::to_string(1 + pick(2)); }
        json::object container{{"name", "c"}, {"resources", {{"limits", std::move(limits)}}}};
        json::object spec{{"schedulerName", pick(5) == 0 ? "other" : "muster"}};
        spec["containers"] = json::array{std::move(container)};
        if (pick(4) == 0) { spec["priorityClassName"] = fmt::format("p{}", pick(2)); }
        return spec;
    }
    void put_job() {
        if (pick(2) == 0) {
            json::object one = object("batch/v1", "Job", name());
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
        if (pick(9) == 0) { annotations["yunikorn.apache.org/task-groups"] = "[]"; }
        one["metadata"].as_object()["labels"] = std::move(labels);
        one["metadata"].as_object()["annotations"] = std::move(annotations);
        if (pick(3) == 0) { choose_queue(one); }
        one["spec"] = pod_spec();
        if (pick(4) == 0) {
            one["spec"].as_object()["schedulingGroup"] = json::object{{"podGroupName", name()}};
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
    api.served = {classes,       jobs,           volcano_jobs,    queues,
                  hypernodes,    volcano_groups, upstream_groups, composites,
                  plugin_groups, cluster_queues, local_queues,    kai_queues};
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
        ClusterParts::Change change = parts.read_demand();
        for (const std::string& name : change.names) { known.erase(name); }
        for (ClusterParts::Workload& one : change.workloads) {
            RC_ASSERT(known.emplace(one.spec.name, one).second);
        }

        Texts texts;
        follower.objects.each(
            [&](const ObjectKey& key, std::string_view text) { texts.emplace(key, text); });
        const ClusterState state = read_state(texts, ours);
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

}  // namespace
}  // namespace muster::kube
