#include "dialect/kubernetes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::HasSubstr;

Result<JobInput> read(std::string text, const KubernetesContext& context = {}) {
    const std::vector<SourceText> sources = {{"job.yaml", std::move(text)}};
    return read_jobs(sources, context);
}

WorkloadSpec only(std::string text, const KubernetesContext& context = {}) {
    const auto input = read(std::move(text), context);
    EXPECT_TRUE(input) << (input ? "" : input.error().message);
    if (!input || input->workloads.size() != 1) {
        ADD_FAILURE() << "not one workload";
        return {};
    }
    return input->workloads[0];
}

std::string error_of(std::string text) {
    const auto input = read(std::move(text));
    return input ? "no error" : input.error().message;
}

constexpr const char* demo = R"(apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: dist-train-demo}
spec:
  minAvailable: 6
  schedulerName: volcano
  queue: default
  tasks:
  - replicas: 6
    name: worker
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: trainer
          image: busybox:1.36
          command: [sh, -c, "echo gang-member-up && sleep 600"]
          resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}
)";

std::string volcano(std::string_view spec) {
    return std::string(
               "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, namespace: "
               "team}\nspec: ") +
           std::string(spec) + "\n";
}

std::string task(std::string_view fields, std::string_view pod = "") {
    return "{" + std::string(fields) + ", template: {spec: {" + std::string(pod) +
           "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}";
}

TEST(VolcanoJob, TheIssuesManifestIsOneGangOfSix) {
    const WorkloadSpec workload = only(demo);

    EXPECT_EQ(workload.name, "default/dist-train-demo");
    EXPECT_EQ(workload.queue, "default");
    ASSERT_EQ(workload.groups.size(), 1U);
    EXPECT_EQ(workload.groups[0].name, "worker");
    EXPECT_EQ(workload.groups[0].parent, -1);
    EXPECT_EQ(workload.groups[0].minimum, 6);
    EXPECT_EQ(workload.groups[0].count, 6);
    EXPECT_EQ(workload.groups[0].task.gpu, (GpuNeed{.kind = GpuKind::whole, .count = 1}));
    EXPECT_EQ(workload.groups[0].task.request, Resources{});
}

struct Share {
    const char* name;
    std::string spec;
    std::int32_t root;
    std::vector<std::int32_t> minima;
};

TEST(VolcanoJob, SharesItsMinimumOutOverTheTasks) {
    const std::string two = ", tasks: [" + task("name: ps, replicas: 2") + ", " +
                            task("name: worker, replicas: 4") + "]}";
    const std::string own = ", tasks: [" + task("name: ps, replicas: 2, minAvailable: 1") + ", " +
                            task("name: worker, replicas: 4, minAvailable: 2") + "]}";
    const Share cases[] = {
        {"default is all", "{queue: q" + two, 2, {2, 4}},
        {"zero is all", "{minAvailable: 0" + two, 2, {2, 4}},
        {"default with the tasks' own", "{queue: q" + own, 2, {1, 2}},
        {"as many as the tasks' own", "{minAvailable: 3" + own, 2, {1, 2}},
        {"more than the tasks' own, in order", "{minAvailable: 5" + own, 2, {2, 3}},
        {"fewer than the tasks' own: they are forgotten", "{minAvailable: 2" + own, 2, {1, 1}},
        {"part of the replicas", "{minAvailable: 4" + two, 2, {2, 2}},
        {"fewer than the roles", "{minAvailable: 1" + two, 1, {1, 1}},
    };

    for (const Share& item : cases) {
        const WorkloadSpec workload = only(volcano(item.spec));
        ASSERT_EQ(workload.groups.size(), 3U) << item.name;
        EXPECT_EQ(workload.groups[0].minimum, item.root) << item.name;
        EXPECT_EQ(workload.groups[0].name, "j") << item.name;
        for (std::size_t i = 0; i < item.minima.size(); ++i) {
            EXPECT_EQ(workload.groups[i + 1].minimum, item.minima[i]) << item.name;
            EXPECT_EQ(workload.groups[i + 1].parent, 0) << item.name;
        }
    }
}

TEST(VolcanoJob, SaysHowItTookAMinimumThatNamesNoTask) {
    const auto input = read(volcano("{minAvailable: 4, tasks: [" + task("name: ps, replicas: 2") +
                                    ", " + task("name: worker, replicas: 4") + "]}"));

    ASSERT_TRUE(input);
    ASSERT_EQ(input->warnings.size(), 1U);
    EXPECT_THAT(
        input->warnings[0].message(),
        HasSubstr(
            "spec.minAvailable: minAvailable 4 over 2 tasks is taken as 2 of ps, 2 of worker"));
}

TEST(VolcanoJob, ReadsTopologyPartitionsAndEstimates) {
    const KubernetesContext context{.tiers = {{.number = 2, .level = "spine"}}};
    const WorkloadSpec workload =
        only(volcano("{runningEstimate: 1h30m, networkTopology: {mode: hard, highestTierAllowed: "
                     "2}, tasks: [" +
                     task("name: w, replicas: 8, partitionPolicy: {totalPartitions: 4, "
                          "partitionSize: 2, minPartitions: 3, "
                          "networkTopology: {mode: soft, highestTierName: rack}}") +
                     "]}"),
             context);

    EXPECT_EQ(workload.runtime_estimate_s, 5400);
    ASSERT_EQ(workload.groups.size(), 5U);
    EXPECT_EQ(workload.groups[0].topology.required, "spine");
    EXPECT_EQ(workload.groups[0].minimum, 3);
    EXPECT_EQ(workload.groups[4].name, "w/3");
    EXPECT_EQ(workload.groups[4].minimum, 2);
    EXPECT_EQ(workload.groups[4].topology.preferred, "rack");
}

TEST(VolcanoJob, TakesRequiredAndPreferredLevelsAtOnce) {
    const WorkloadSpec workload = only(R"(apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: j
  annotations: {muster.dev/required-topology: spine, muster.dev/preferred-topology: rack}
spec: {tasks: [)" + task("name: w, replicas: 2") +
                                       "]}\n");

    EXPECT_EQ(workload.groups[0].topology,
              (TopologyWish{.required = "spine", .preferred = "rack"}));
}

TEST(VolcanoJob, RefusesWhatItCannotKeepOrMakesNoSense) {
    const std::string tasks = "tasks: [" + task("name: w, replicas: 2") + "]";
    const std::pair<std::string, const char*> cases[] = {
        {"{minAvailable: 3, " + tasks + "}",
         "job.yaml:4: spec.minAvailable: found 3, expected at most 2"},
        {"{minAvailable: -1, " + tasks + "}",
         "spec.minAvailable: found -1, expected a whole number ≥ 0"},
        {"{minAvailable: six, " + tasks + "}", "found \"six\", expected a whole number ≥ 0"},
        {"{tasks: []}", "expected at least one task with replicas"},
        {"{}", "spec.tasks: found nothing, expected at least one task"},
        {"{tasks: 5}", "spec.tasks: found 5, expected a list"},
        {"{tasks: [" + task("name: w, replicas: 99999999999") + "]}",
         "spec.tasks[0].replicas: found 99999999999"},
        {"{tasks: [" + task("name: w, replicas: -2") + "]}", "spec.tasks[0].replicas: found -2"},
        {"{tasks: [" + task("name: w, minAvailable: 2") + "]}",
         "spec.tasks[0].minAvailable: found 2, expected a whole number from 0 to 1"},
        {"{tasks: [" + task("name: w") + ", " + task("name: w") + "]}",
         "two tasks are called \"w\""},
        {"{tasks: [" + task("name: w, topologyPolicy: single-numa-node") + "]}",
         "topologyPolicy single-numa-node is not supported"},
        {"{networkTopology: {mode: hard}, " + tasks + "}",
         "expected one of highestTierAllowed and highestTierName"},
        {"{networkTopology: {mode: hard, highestTierAllowed: 1, highestTierName: a}, " + tasks +
             "}",
         "expected only one of"},
        {"{networkTopology: {mode: firm, highestTierName: a}, " + tasks + "}",
         "expected hard or soft"},
        {"{networkTopology: {highestTierName: a, spread: 2}, " + tasks + "}",
         "networkTopology.spread is not supported"},
        {"{tasks: [" +
             task("name: w, replicas: 5, partitionPolicy: {totalPartitions: 2, partitionSize: 2}") +
             "]}",
         "expected as many tasks as the 5 replicas"},
        {"{tasks: [" +
             task("name: w", "topologySpreadConstraints: [{topologyKey: z, evenly: true}], ") +
             "]}",
         "evenly of a spread is not supported"},
        {"{tasks: [" + task("name: w", "hyperThreads: 1, ") + "]}",
         "unknown field hyperThreads of a pod"},
        {"{tasks: [" + task("name: w", "resourceClaims: [{name: g}], ") + "]}", "resourceClaims"},
        {"{tasks: [" + task("name: w", "nodeName: n1, ") + "]}",
         "nodeName goes past the scheduler"},
    };

    for (const auto& [spec, error] : cases) {
        EXPECT_THAT(error_of(volcano(spec)), HasSubstr(error)) << spec;
    }
}

TEST(VolcanoJob, WarnsOfFieldsByName) {
    const auto input = read(volcano("{sparkles: 1, tasks: [" +
                                    task("name: w, glitter: 2, dependsOn: {name: [x]}") + "]}"));

    ASSERT_TRUE(input) << input.error().message;
    std::string all;
    for (const Warning& warning : input->warnings) { all += warning.message() + "\n"; }
    EXPECT_THAT(
        all,
        HasSubstr(
            "job.yaml:4: spec.sparkles: unknown field sparkles of a Volcano Job is not looked at"));
    EXPECT_THAT(all, HasSubstr("unknown field glitter of a Volcano task"));
    EXPECT_THAT(all, HasSubstr("dependsOn is not kept"));
}

constexpr const char* pod_template =
    "template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, resources: {limits: "
    "{nvidia.com/gpu: 2}}}]}}";

TEST(Jobs, PlainOnesAreSinglePods) {
    const auto input = read(std::string("apiVersion: batch/v1\nkind: Job\nmetadata: {name: "
                                        "j}\nspec: {parallelism: 3, completions: 2, ") +
                            pod_template +
                            "}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, "
                            "namespace: x}\nspec: {replicas: 2, " +
                            pod_template + "}\n");

    ASSERT_TRUE(input) << input.error().message;
    ASSERT_EQ(input->workloads.size(), 4U);
    EXPECT_EQ(input->workloads[1].name, "default/j-1");
    EXPECT_EQ(input->workloads[3].name, "x/d-1");
    EXPECT_EQ(input->workloads[3].groups[0].task.gpu.count, 2);
    EXPECT_EQ(input->workloads[3].groups[0].task.name_space, "x");
}

TEST(Jobs, AnAnnotatedOneIsAGang) {
    const WorkloadSpec workload =
        only(std::string("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: "
                         "{muster.dev/gang: \"true\"}}\nspec: {parallelism: 3, completions: 3, ") +
             pod_template + "}\n");

    EXPECT_EQ(workload.groups[0].minimum, 3);
    EXPECT_THAT(
        error_of(
            std::string("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: "
                        "{muster.dev/gang: \"true\"}}\nspec: {parallelism: 3, completions: 9, ") +
            pod_template + "}\n"),
        HasSubstr("spec.completions: found 9, expected as many as the parallelism of 3 in a gang"));
}

TEST(Jobs, PodsOfAGroupAreOneWorkload) {
    const auto text = [](std::string_view group, std::string_view name) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + std::string(name) + ", " +
               std::string(group) +
               "}\nspec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
    };
    struct Case {
        const char* object;
        const char* label;
    };
    const Case cases[] = {
        {"apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: "
         "{minMember: 3, queue: vision}\n",
         "annotations: {scheduling.k8s.io/group-name: g}"},
        {"apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: g, labels: "
         "{muster.dev/queue: vision}}\nspec: {minMember: 3}\n",
         "labels: {scheduling.x-k8s.io/pod-group: g}"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nothing}\n",
         "labels: {kueue.x-k8s.io/pod-group-name: g, kueue.x-k8s.io/queue-name: vision}, "
         "annotations: {kueue.x-k8s.io/pod-group-total-count: \"3\"}"},
    };

    for (const Case& item : cases) {
        const WorkloadSpec workload =
            only(item.object + text(item.label, "a") + text(item.label, "b"));
        EXPECT_EQ(workload.name, "default/g") << item.label;
        EXPECT_EQ(workload.queue, "vision") << item.label;
        ASSERT_EQ(workload.groups.size(), 1U) << item.label;
        EXPECT_EQ(workload.groups[0].minimum, 3) << item.label;
        EXPECT_EQ(workload.groups[0].count, 3) << item.label;  // the third pod is still to come
    }
    EXPECT_THAT(error_of(text("annotations: {scheduling.k8s.io/group-name: g}", "a")),
                HasSubstr("its PodGroup default/g is not there"));
}

TEST(Jobs, UpstreamGroupsNestInComposites) {
    const auto group = [](std::string name, std::string min, std::string parent) {
        return "---\napiVersion: scheduling.k8s.io/v1alpha3\nkind: PodGroup\nmetadata: {name: " +
               name + "}\nspec: {schedulingPolicy: {gang: {minCount: " + min +
               "}}, schedulingConstraints: {topology: [{key: example.com/rack}]}, "
               "parentCompositePodGroupName: " +
               parent + "}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod-" + name +
               "}\nspec: {schedulingGroup: {podGroupName: " + name +
               "}, containers: [{name: c}]}\n";
    };
    const WorkloadSpec workload = only(
        "apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\nmetadata: {name: "
        "top}\nspec: {schedulingPolicy: {gang: {minGroupCount: 2}}}\n" +
        group("a", "2", "top") + group("b", "1", "top"));

    EXPECT_EQ(workload.name, "default/top");
    ASSERT_EQ(workload.groups.size(), 3U);
    EXPECT_EQ(workload.groups[0].minimum, 2);
    EXPECT_EQ(workload.groups[1].count, 2);
    EXPECT_EQ(workload.groups[1].topology.required, "example.com/rack");
    EXPECT_EQ(workload.groups[2].parent, 0);
}

TEST(Jobs, QueuesAreFactsInTheUnitsOfAQuota) {
    const auto input = read(R"(apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: vision}
spec:
  parent: research
  weight: 3
  priority: 10
  dequeueStrategy: fifo
  capability: {cpu: "64", memory: 1Gi, nvidia.com/gpu: 8}
  deserved: {nvidia.com/gpu: 4}
  guarantee: {resource: {nvidia.com/gpu: 2}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {parent: root}
)");

    ASSERT_TRUE(input) << input.error().message;
    ASSERT_EQ(input->facts.size(), 2U);
    EXPECT_EQ(std::get<QueueSet>(input->facts[0]).queue.name, "research");
    EXPECT_EQ(std::get<QueueSet>(input->facts[0]).queue.parent, "");
    const QueueSpec& queue = std::get<QueueSet>(input->facts[1]).queue;
    EXPECT_THAT(queue.cap.amounts,
                testing::UnorderedElementsAre(Amount{"cpu", 64'000}, Amount{"memory", 1 << 30},
                                              Amount{"gpu", 8'000}));
    EXPECT_EQ(queue.entitlement.amounts, (std::vector<Amount>{{"gpu", 4'000}}));
    EXPECT_EQ(queue.guarantee.amounts, (std::vector<Amount>{{"gpu", 2'000}}));
    EXPECT_EQ(queue.weight, 3);
    EXPECT_EQ(queue.priority, 10);
    EXPECT_EQ(queue.head, HeadRule::strict);
}

TEST(Jobs, RefuseCyclesDuplicatesAndNamelessObjects) {
    const auto queue = [](std::string name, std::string parent) {
        return "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " +
               name + "}\nspec: {parent: " + parent + "}\n";
    };

    EXPECT_THAT(error_of(queue("a", "b") + queue("b", "a")), HasSubstr("its parents form a cycle"));
    EXPECT_THAT(error_of(queue("a", "root") + queue("a", "root")),
                HasSubstr("job.yaml:9: metadata.name: duplicate Queue \"a\""));
    EXPECT_THAT(error_of("kind: Pod\nmetadata: {name: a}\n"),
                HasSubstr("apiVersion: found nothing"));
    EXPECT_THAT(error_of("apiVersion: v1\nmetadata: {name: a}\n"),
                HasSubstr("kind: found nothing"));
    EXPECT_THAT(error_of("apiVersion: v1\nkind: Pod\nmetadata: {}\n"),
                HasSubstr("metadata.name: found nothing"));
}

TEST(Jobs, UnknownKindsAreCountedInAWarning) {
    const auto input =
        read("apiVersion: x.io/v1\nkind: Widget\n---\napiVersion: x.io/v1\nkind: Widget\n");

    ASSERT_TRUE(input);
    ASSERT_EQ(input->warnings.size(), 1U);
    EXPECT_EQ(input->warnings[0].message(),
              "job.yaml:1: kind Widget of x.io/v1 is not looked at (2 times)");
}

TEST(Jobs, PriorityClassesComeFromTheClusterOrTheFile) {
    const std::string pod =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priorityClassName: high, "
        "containers: [{name: c}]}\n";

    EXPECT_EQ(only(pod, {.priority_classes = {{.name = "high", .value = 7}}}).priority, 7);
    EXPECT_EQ(only(pod + "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: "
                         "{name: high}\nvalue: 9\n")
                  .priority,
              9);
    const auto unknown = read(pod);
    ASSERT_TRUE(unknown);
    EXPECT_THAT(unknown->warnings.at(0).text, HasSubstr("priority class \"high\" is not known"));
}

}  // namespace
}  // namespace muster::dialect
