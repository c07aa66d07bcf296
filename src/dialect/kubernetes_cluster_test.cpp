#include "dialect/kubernetes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<ClusterInput> read(std::string text) {
    const std::vector<SourceText> sources = {{"cluster.yaml", std::move(text)}};
    return read_cluster(sources);
}

template <class T>
std::vector<T> facts_of(const ClusterInput& input) {
    std::vector<T> out;
    for (const Fact& fact : input.facts) {
        if (const T* found = std::get_if<T>(&fact)) { out.push_back(*found); }
    }
    return out;
}

NodeSpec node(std::string text) {
    const auto input = read("apiVersion: v1\nkind: Node\n" + std::move(text));
    EXPECT_TRUE(input) << (input ? "" : input.error().message);
    return input ? facts_of<NodeSet>(*input).at(0).node : NodeSpec{};
}

std::string error_of(std::string text) {
    const auto input = read(std::move(text));
    return input ? "no error" : input.error().message;
}

TEST(Node, ReadsWhatItOffers) {
    const NodeSpec spec = node(R"(metadata:
  name: n1
  labels: {topology.example.com/rack: r1, nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, nvidia.com/gpu.memory: "81559"}
spec:
  unschedulable: true
  taints: [{key: gpu, effect: NoSchedule}, {key: slow, value: x, effect: PreferNoSchedule}]
status:
  capacity: {cpu: "64", memory: 512Gi, pods: "200", nvidia.com/gpu: "4"}
  allocatable: {cpu: 63500m, memory: 500Gi, nvidia.com/gpu: "3", rdma/hca: "2"}
  conditions: [{type: DiskPressure, status: "False"}, {type: Ready, status: Unknown}]
)");

    EXPECT_EQ(spec.name, "n1");
    EXPECT_THAT(spec.labels, testing::Contains(Label{"kubernetes.io/hostname", "n1"}));
    EXPECT_EQ(spec.allocatable.milli_cpu, 63'500);
    EXPECT_EQ(spec.allocatable.memory, std::int64_t{500} << 30);
    EXPECT_THAT(spec.allocatable.extended, ElementsAre(Amount{"rdma/hca", 2}));
    EXPECT_EQ(spec.pods, 200);
    EXPECT_TRUE(spec.is_cordoned);
    EXPECT_FALSE(spec.is_ready);
    EXPECT_TRUE(spec.is_counted);
    ASSERT_EQ(spec.taints.size(), 2U);
    EXPECT_EQ(spec.taints[1].effect, TaintEffect::prefer_no_schedule);
    ASSERT_EQ(spec.gpus.size(), 4U);
    EXPECT_EQ(spec.gpus[0].model, "NVIDIA-H100-80GB-HBM3");
    EXPECT_EQ(spec.gpus[0].memory_mib, 81'559);
    EXPECT_TRUE(spec.gpus[2].is_healthy);
    EXPECT_FALSE(spec.gpus[3].is_healthy);  // counted, but not allocatable
}

TEST(Node, MigIsCountedWhenFixedAndCutWhenDynamic) {
    const char* status = "status: {capacity: {nvidia.com/gpu: 0, nvidia.com/mig-1g.10gb: 7}}\n";
    const NodeSpec fixed =
        node(std::string("metadata: {name: n, labels: {nvidia.com/gpu.count: \"2\"}}\n") + status);
    const NodeSpec dynamic = node(std::string("metadata: {name: n, labels: {nvidia.com/gpu.count: "
                                              "\"2\", muster.dev/mig: dynamic}}\n") +
                                  status);

    EXPECT_TRUE(fixed.gpus.empty());
    EXPECT_THAT(fixed.allocatable.extended, ElementsAre(Amount{"nvidia.com/mig-1g.10gb", 7}));
    ASSERT_EQ(dynamic.gpus.size(), 2U);
    EXPECT_EQ(dynamic.gpus[1].mig, MigMode::dynamic);
    EXPECT_TRUE(dynamic.gpus[1].is_healthy);
    EXPECT_FALSE(dynamic.is_counted);
    EXPECT_TRUE(dynamic.allocatable.extended.empty());
}

TEST(Node, OtherVendorsHaveTheirOwnLabels) {
    const NodeSpec spec = node(
        "metadata: {name: n, labels: {amd.com/gpu.product-name: MI300X, amd.com/gpu.vram: "
        "192Gi}}\nstatus: {capacity: {amd.com/gpu: 8}}\n");

    ASSERT_EQ(spec.gpus.size(), 8U);
    EXPECT_EQ(spec.gpus[0].model, "MI300X");
    EXPECT_EQ(spec.gpus[0].memory_mib, 192 * 1024);
    EXPECT_THAT(spec.labels, testing::Contains(Label{"muster.dev/gpu-vendor", "amd.com_gpu"}));
}

TEST(Node, HamiSaysWhatTheCardsReallyAre) {
    const NodeSpec old = node(
        "metadata: {name: n, annotations: {hami.io/node-nvidia-register: "
        "\"GPU-1,10,24576,100,NVIDIA-A10,0,true:GPU-2,10,24576,100,NVIDIA-A10,1,false:\"}}\nstatus:"
        " {capacity: {nvidia.com/gpu: 20}}\n");
    const NodeSpec young = node(
        "metadata: {name: n, annotations: {hami.io/node-nvidia-register: "
        "'[{\"id\":\"GPU-1\",\"count\":10,\"devmem\":24576,\"devcore\":100,\"type\":\"NVIDIA-A10\","
        "\"numa\":1,\"health\":true}]'}}\nstatus: {capacity: {nvidia.com/gpu: 10}}\n");

    ASSERT_EQ(old.gpus.size(), 2U);
    EXPECT_EQ(old.gpus[0].memory_mib, 24'576);
    EXPECT_FALSE(old.gpus[1].is_healthy);
    ASSERT_EQ(young.gpus.size(), 1U);
    EXPECT_EQ(young.gpus[0].model, "NVIDIA-A10");
    EXPECT_EQ(young.gpus[0].numa, 1);
}

TEST(Node, ReadsZonesAndLinksFromAnnotations) {
    const NodeSpec spec = node(
        "metadata:\n  name: n\n  annotations:\n    muster.dev/numa: '{\"policy\": "
        "\"single-numa-node\", \"zones\": [{\"cpu\": \"30\", \"gpus\": [0], \"nics\": "
        "[\"mlx5_0\"]}, {\"cpu\": 31.5, \"gpus\": [1]}]}'\n"
        "    muster.dev/topo-matrix: \"\\tGPU0\\tGPU1\\tCPU Affinity\\tNUMA Affinity\\nGPU0\\t X "
        "\\tNV12\\t0-31\\t0\\nGPU1\\tNV12\\t X \\t32-63\\t1\\n\"\n"
        "status: {capacity: {nvidia.com/gpu: 2}}\n");

    EXPECT_EQ(spec.numa_policy, NumaPolicy::single_numa_node);
    EXPECT_THAT(spec.numa, ElementsAre(NumaZone{30'000}, NumaZone{31'500}));
    EXPECT_EQ(spec.gpus[1].numa, 1);
    EXPECT_THAT(spec.nics, ElementsAre(NicSpec{"mlx5_0", 0}));
}

TEST(Node, AMatrixOfOtherGpusIsLeftOutAndTheNodeStays) {
    const std::pair<const char*, const char*> cases[] = {
        {"nonsense", "the matrix is left out"},
        {"\"\\tGPU0\\tCPU Affinity\\nGPU0\\t X \\t0-31\\n\"",
         "found a matrix of 1 GPUs, expected 2; the matrix is left out"},
    };

    for (const auto& [matrix, text] : cases) {
        const auto input =
            read(fmt::format("apiVersion: v1\nkind: Node\nmetadata: {{name: n, annotations: "
                             "{{muster.dev/topo-matrix: "
                             "{}}}}}\nstatus: {{capacity: {{nvidia.com/gpu: 2}}}}\n",
                             matrix));

        ASSERT_TRUE(input) << input.error().message;
        ASSERT_EQ(input->warnings.size(), 1U);
        EXPECT_TRUE(input->warnings[0].is_fault);
        EXPECT_THAT(input->warnings[0].message(), HasSubstr("muster.dev/topo-matrix"));
        EXPECT_THAT(input->warnings[0].text, HasSubstr(text));
        const NodeSpec spec = facts_of<NodeSet>(*input).at(0).node;
        EXPECT_EQ(spec.gpus.size(), 2U);
        EXPECT_TRUE(spec.links.paths.empty());
    }
}

TEST(Node, AGpuThatIsNotThereIsLeftOutOfItsZone) {
    const auto input = read(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n, annotations: {muster.dev/numa: "
        "'{\"zones\": [{\"cpu\": 8, \"gpus\": [0, 3]}]}'}}\n"
        "status: {capacity: {nvidia.com/gpu: 2}}\n");

    ASSERT_TRUE(input) << input.error().message;
    ASSERT_EQ(input->warnings.size(), 1U);
    EXPECT_TRUE(input->warnings[0].is_fault);
    EXPECT_THAT(input->warnings[0].text,
                HasSubstr("found GPU 3 in zone 0, expected one of 2 GPUs"));
    const NodeSpec spec = facts_of<NodeSet>(*input).at(0).node;
    EXPECT_EQ(spec.gpus.at(0).numa, 0);
    EXPECT_EQ(spec.numa.size(), 1U);
}

TEST(Node, RefusesBadValues) {
    const std::pair<const char*, const char*> cases[] = {
        {"metadata: {name: n}\nstatus: {capacity: {nvidia.com/gpu: 65}}\n",
         "expected at most 64 GPUs in a node"},
        {"metadata: {name: n}\nstatus: {capacity: {nvidia.com/gpu: -1}}\n",
         "found -1, expected a quantity ≥ 0"},
        {"metadata: {name: n}\nspec: {taints: [{key: a}]}\n",
         "spec.taints[0].effect: found nothing, expected NoSchedule"},
        {"metadata: {name: n}\nspec: {unschedulable: maybe}\n",
         "found \"maybe\", expected true or false"},
        {"metadata: {name: 5}\n", "metadata.name: found 5, expected text"},
        {"metadata: {name: n, labels: {nvidia.com/gpu.memory: lots}}\nstatus: {capacity: "
         "{nvidia.com/gpu: 1}}\n",
         "found \"lots\", expected a quantity"},
        {"metadata: {name: n, annotations: {muster.dev/numa: \"{}}\"}}\n",
         "metadata.annotations[\"muster.dev/numa\"]: "},
        {"metadata: {name: n}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n",
         "duplicate Node \"n\""},
    };

    for (const auto& [text, error] : cases) {
        EXPECT_THAT(error_of(std::string("apiVersion: v1\nkind: Node\n") + text), HasSubstr(error))
            << text;
    }
}

TEST(Node, ANodeWithoutGpusIsANode) {
    const NodeSpec spec =
        node("metadata: {name: n}\nstatus: {allocatable: {cpu: 4, nvidia.com/gpu: 0}}\n");

    EXPECT_TRUE(spec.gpus.empty());
    EXPECT_FALSE(spec.is_counted);
    EXPECT_TRUE(spec.is_ready);
    EXPECT_EQ(spec.pods, 110);
}

TEST(Cluster, TopologyObjectsGiveTheLevels) {
    const auto input = read(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: t}\nspec: {levels: "
        "[{nodeLabel: x.io/spine}, {nodeLabel: x.io/rack}, {nodeLabel: "
        "kubernetes.io/hostname}]}\n");

    ASSERT_TRUE(input);
    EXPECT_THAT(facts_of<TopologySet>(*input).at(0).levels,
                ElementsAre(Level{"spine", "x.io/spine"}, Level{"rack", "x.io/rack"}));
}

TEST(Cluster, HyperNodesGiveLevelsLabelsAndTiers) {
    const auto input = read(R"(apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: leaf-0}
spec: {tier: 1, tierName: leaf, members: [{type: Node, selector: {regexMatch: {pattern: "^n[0-9]$"}}}]}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j}
spec: {networkTopology: {highestTierAllowed: 1}, tasks: [{replicas: 2, template: {spec: {containers: [{name: c}]}}}]}
)");

    ASSERT_TRUE(input) << input.error().message;
    const Level level = facts_of<TopologySet>(*input).at(0).levels.at(0);
    EXPECT_EQ(level.name, "leaf");
    EXPECT_THAT(facts_of<NodeSet>(*input).at(0).node.labels,
                testing::Contains(Label{level.key, "leaf-0"}));
    EXPECT_THAT(input->context.tiers, ElementsAre(Tier{1, "leaf"}));
    EXPECT_EQ(facts_of<WorkloadSet>(*input).at(0).workload.groups.at(0).topology.required, "leaf");
}

TEST(Cluster, WithoutObjectsTheLabelsGiveTheLevels) {
    const auto input = read(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {topology.kubernetes.io/zone: "
        "z}}\n");

    ASSERT_TRUE(input);
    EXPECT_EQ(facts_of<TopologySet>(*input).at(0).levels.at(0).key, "topology.kubernetes.io/zone");
}

std::string pod(std::string_view name, std::string_view spec, std::string_view metadata = "",
                std::string_view phase = "Running") {
    return fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}, {}}}\nspec: {{{}, containers: "
        "[{{name: c, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}\nstatus: {{phase: {}}}\n",
        name, metadata, spec, phase);
}

TEST(Cluster, RunningPodsOfAnybodyHoldAndFinishedOnesDoNot) {
    const auto input =
        read(pod("a", "nodeName: n1, schedulerName: default-scheduler") +
             pod("b", "nodeName: n1", "", "Succeeded") + pod("c", "nodeName: n1", "", "Failed") +
             pod("d", "schedulerName: default-scheduler", "", "Pending") +
             pod("e", "schedulerName: muster", "", "Pending") +
             pod("f", "nodeName: n2", "", "Pending") + pod("g", "a: 1", "", "Pending"));

    ASSERT_TRUE(input) << input.error().message;
    std::vector<std::string> names;
    for (const auto& set : facts_of<WorkloadSet>(*input)) { names.push_back(set.workload.name); }
    EXPECT_THAT(names, ElementsAre("default/a", "default/e", "default/f"));
    const auto bound = facts_of<TaskBound>(*input);
    ASSERT_EQ(bound.size(), 2U);
    EXPECT_EQ(bound[0].workload, "default/a");
    EXPECT_EQ(bound[0].node, "n1");
    EXPECT_FALSE(bound[0].has_devices);
    EXPECT_EQ(bound[1].node, "n2");
}

TEST(Cluster, WaitingPodsThatAskForTheUnsupportedAreSetAside) {
    const std::string spread = "resourceClaims: [{name: a}]";
    const auto input = read(pod("a", "schedulerName: muster, " + spread, "", "Pending") +
                            pod("b", "nodeName: n1, " + spread));

    ASSERT_TRUE(input);
    ASSERT_EQ(input->refused.size(), 1U);
    EXPECT_EQ(input->refused[0].workload, "default/a");
    EXPECT_THAT(input->refused[0].text, HasSubstr("resourceClaims"));
    EXPECT_EQ(facts_of<WorkloadSet>(*input).size(), 1U);
}

constexpr const char* volcano_job = R"(---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, uid: u1}
spec:
  minAvailable: 3
  tasks:
  - {name: master, replicas: 1, template: {spec: {containers: [{name: c}]}}}
  - {name: worker, replicas: 4, minAvailable: 2, template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: train-u1, ownerReferences: [{kind: Job, name: train, apiVersion: batch.volcano.sh/v1alpha1}]}
spec: {minMember: 3}
)";

std::string worker(std::string_view task, int index, std::string_view spec,
                   std::string_view phase = "Running") {
    return pod(fmt::format("train-{}-{}", task, index), spec,
               fmt::format("annotations: {{scheduling.k8s.io/group-name: train-u1, "
                           "volcano.sh/job-name: train, volcano.sh/task-spec: {}}}",
                           task),
               phase);
}

TEST(Cluster, AVolcanoJobItsGroupAndItsPodsAreOneWorkload) {
    const auto input = read(volcano_job + worker("worker", 1, "nodeName: n1") +
                            worker("worker", 0, "schedulerName: volcano", "Pending") +
                            worker("master", 0, "nodeName: n2", "Succeeded") +
                            worker("worker", 9, "nodeName: n3"));

    ASSERT_TRUE(input) << input.error().message;
    const auto sets = facts_of<WorkloadSet>(*input);
    ASSERT_EQ(sets.size(), 2U);
    EXPECT_EQ(sets[0].workload.name,
              "default/train-worker-9");  // beyond the job's replicas, still holds
    EXPECT_EQ(sets[1].workload.name, "default/train");
    EXPECT_EQ(sets[1].workload.groups.size(), 3U);
    const auto bound = facts_of<TaskBound>(*input);
    ASSERT_EQ(bound.size(), 2U);
    EXPECT_EQ(bound[0].workload, "default/train");
    EXPECT_EQ(bound[0].task, 2U);
    const auto gone = facts_of<TaskGone>(*input);
    ASSERT_EQ(gone.size(), 1U);
    EXPECT_EQ(gone[0].task, 0U);
    EXPECT_TRUE(gone[0].is_finished);
    EXPECT_THAT(input->pods,
                testing::Contains(PodTask{"default/train-worker-0", "default/train", 1}));
}

TEST(Cluster, PodsOfAGangJobThatIsNotIndexedAreItsTasks) {
    const auto input = read(R"(apiVersion: batch/v1
kind: Job
metadata: {name: train, annotations: {muster.dev/gang: "true"}}
spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: c}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: train-x7k2p, labels: {job-name: train}}
spec: {schedulerName: muster, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: train-24567, labels: {job-name: train}}
spec: {schedulerName: muster, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: train-zzzzz, labels: {job-name: train}}
spec: {schedulerName: muster, containers: [{name: c}]}
)");
    ASSERT_TRUE(input) << (input ? "" : input.error().message);

    EXPECT_THAT(input->pods, ElementsAre(PodTask{"default/train-x7k2p", "default/train", 0},
                                         PodTask{"default/train-24567", "default/train", 1}));
}

TEST(Cluster, AFinishedJobAsksForNothing) {
    std::string text = volcano_job;
    text.insert(text.find("---\napiVersion: scheduling"), "status: {state: {phase: Completed}}\n");

    const auto input = read(text);

    ASSERT_TRUE(input) << input.error().message;
    EXPECT_TRUE(input->facts.empty());
}

TEST(Cluster, APodGroupOfTwoKindsWaitsForAllOfThem) {
    const std::string group =
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: "
        "{minMember: 3, minTaskMember: {a: 1}}\n";
    const auto member = [](std::string_view name, std::string_view role,
                           std::string_view selector) {
        return pod(name,
                   fmt::format("schedulerName: muster, nodeSelector: {{x: \"{}\"}}", selector),
                   fmt::format("annotations: {{scheduling.k8s.io/group-name: g, "
                               "volcano.sh/task-spec: {0}}}",
                               role),
                   "Pending");
    };

    const auto part = read(group + member("p1", "a", "1") + member("p2", "b", "2"));
    const auto whole =
        read(group + member("p1", "a", "1") + member("p2", "b", "2") + member("p3", "b", "2"));

    ASSERT_TRUE(part);
    ASSERT_EQ(part->refused.size(), 1U);
    EXPECT_EQ(part->refused[0].text, "2 of 3 pods are there; the others are not known yet");
    ASSERT_TRUE(whole);
    const WorkloadSpec workload = facts_of<WorkloadSet>(*whole).at(0).workload;
    EXPECT_EQ(workload.name, "default/g");
    ASSERT_EQ(workload.groups.size(), 3U);
    EXPECT_EQ(workload.groups[1].minimum, 1);
    EXPECT_EQ(workload.groups[2].minimum, 2);
}

TEST(Cluster, SubGroupsArePlacedAsOne) {
    std::string text = R"(apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g}
spec:
  minMember: 4
  networkTopology: {mode: soft, highestTierName: spine}
  subGroupPolicy:
  - {name: ring, labelSelector: {matchLabels: {app: a}}, matchLabelKeys: [ring], subGroupSize: 2, minSubGroups: 1, networkTopology: {highestTierName: rack}}
)";
    for (int i = 0; i < 4; ++i) {
        text += pod(
            fmt::format("p{}", i), "schedulerName: volcano",
            fmt::format(
                "labels: {{app: a, ring: r{}}}, annotations: {{scheduling.k8s.io/group-name: g}}",
                i % 2),
            "Pending");
    }

    const auto input = read(text);

    ASSERT_TRUE(input) << input.error().message;
    const WorkloadSpec workload = facts_of<WorkloadSet>(*input).at(0).workload;
    ASSERT_EQ(workload.groups.size(), 4U);
    EXPECT_EQ(workload.groups[0].topology.preferred, "spine");
    EXPECT_EQ(workload.groups[1].name, "ring");
    EXPECT_EQ(workload.groups[1].minimum, 1);
    EXPECT_EQ(workload.groups[2].minimum, 2);
    EXPECT_EQ(workload.groups[2].topology.required, "rack");
    EXPECT_THAT(
        input->pods,
        ElementsAre(PodTask{"default/p0", "default/g", 0}, PodTask{"default/p2", "default/g", 1},
                    PodTask{"default/p1", "default/g", 2}, PodTask{"default/p3", "default/g", 3}));
}

TEST(Cluster, ControllersAreNotCountedBesideTheirPods) {
    const auto input = read(
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {replicas: 3, template: "
        "{spec: {containers: [{name: c}]}}}\n");

    ASSERT_TRUE(input);
    EXPECT_TRUE(input->facts.empty());
}

TEST(Cluster, NamesThatTwoKindsShareStayApart) {
    const auto input = read(
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\nspec: {tasks: "
        "[{replicas: 1, template: {spec: {containers: [{name: c}]}}}]}\n" +
        pod("a", "nodeName: n1"));

    ASSERT_TRUE(input);
    EXPECT_EQ(facts_of<WorkloadSet>(*input).at(1).workload.name, "default/a@pod");
    EXPECT_EQ(facts_of<TaskBound>(*input).at(0).workload, "default/a@pod");
}

}  // namespace
}  // namespace muster::dialect
