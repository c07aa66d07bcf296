// What single pods ask for. Pods are written as the text after `spec:` on one line.
#include "dialect/kubernetes.h"

#include "dialect/kubernetes_gpu.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string pod(std::string_view spec, std::string_view metadata = "") {
    return fmt::format("apiVersion: v1\nkind: Pod\nmetadata: {{name: p, {}}}\nspec: {{{}}}\n",
                       metadata, spec);
}

Result<JobInput> read(const std::string& text, const KubernetesContext& context = {}) {
    const std::vector<SourceText> sources = {{"pod.yaml", text}};
    return read_jobs(sources, context);
}

TaskSpec task(std::string_view spec, std::string_view metadata = "",
              const KubernetesContext& context = {}) {
    const auto input = read(pod(spec, metadata), context);
    EXPECT_TRUE(input) << (input ? "" : input.error().message);
    return input ? input->workloads.at(0).groups.at(0).task : TaskSpec{};
}

std::string error_of(std::string_view spec, std::string_view metadata = "") {
    const auto input = read(pod(spec, metadata));
    return input ? "no error" : input.error().message;
}

std::string container(std::string_view resources, std::string_view more = "") {
    return fmt::format("{{name: c, resources: {{{}}}{}}}", resources, more);
}
std::string limits(std::string_view list) { return container(fmt::format("limits: {{{}}}", list)); }

TEST(PodRequest, AddsContainersAndTakesLimitsForRequests) {
    const TaskSpec spec = task(
        fmt::format("containers: [{}, {}]",
                    container("requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 2, memory: 2Gi}"),
                    limits("cpu: 1, ephemeral-storage: 1Ki, rdma/hca: 1")));

    EXPECT_EQ(spec.request.milli_cpu, 1500);
    EXPECT_EQ(spec.request.memory, std::int64_t{1} << 30);
    EXPECT_THAT(spec.request.extended,
                ElementsAre(Amount{"ephemeral-storage", 1}, Amount{"rdma/hca", 1}));
    EXPECT_FALSE(spec.is_cpu_exclusive);
}

TEST(PodRequest, InitContainersRaiseItAndSidecarsStay) {
    // init 1: 3; sidecar 1; init 2: 1 + 4; then containers 2 + sidecar 1; overhead 250m on top.
    const TaskSpec spec =
        task(fmt::format("initContainers: [{}, {}, {}], containers: [{}], overhead: {{cpu: 250m}}",
                         limits("cpu: 3"), container("limits: {cpu: 1}", ", restartPolicy: Always"),
                         limits("cpu: 4"), limits("cpu: 2")));

    EXPECT_EQ(spec.request.milli_cpu, 5250);
}

TEST(PodRequest, GuaranteedWithWholeCpusIsExclusive) {
    EXPECT_TRUE(
        task(fmt::format("containers: [{}]", limits("cpu: 4, memory: 1Gi"))).is_cpu_exclusive);
    EXPECT_FALSE(
        task(fmt::format("containers: [{}]", limits("cpu: 1500m, memory: 1Gi"))).is_cpu_exclusive);
    EXPECT_FALSE(task(fmt::format("containers: [{}]", limits("cpu: 4"))).is_cpu_exclusive);
    EXPECT_FALSE(task(fmt::format("containers: [{}]",
                                  container("requests: {cpu: 2}, limits: {cpu: 4, memory: 1Gi}")))
                     .is_cpu_exclusive);
}

TEST(PodRequest, RefusesBadAmounts) {
    const std::pair<const char*, const char*> cases[] = {
        {"cpu: -1", "expected a quantity ≥ 0"},
        {"memory: 5Zi", "found \"5Zi\", expected a quantity"},
        {"nvidia.com/gpu: 0.5",
         "spec.containers[0].resources.limits[\"nvidia.com/gpu\"]: found 0.5, expected a whole "
         "number"},
        {"nvidia.com/gpu: [1]", "found a list, expected a quantity"},
        {"memory: 9000000P", "expected"},
        {"cpu: 9999999999999999999999", "expected"},
    };

    for (const auto& [list, error] : cases) {
        EXPECT_THAT(error_of(fmt::format("containers: [{}]", limits(list))), HasSubstr(error))
            << list;
    }
    EXPECT_THAT(error_of("containers: []"), HasSubstr("expected at least one container"));
    EXPECT_THAT(error_of(fmt::format("containers: [{0}, {0}]", limits("memory: 1Pi"))),
                HasSubstr("add up to too much"));
}

TEST(PodGpus, ReadsEveryWayToAskForThem) {
    struct Case {
        const char* name;
        std::string resources;
        std::string metadata;
        GpuNeed need;
    };
    const Case cases[] = {
        {"whole", "nvidia.com/gpu: 4", "", {.kind = GpuKind::whole, .count = 4}},
        {"near a nic",
         "nvidia.com/gpu: 1",
         "annotations: {muster.dev/near-nic: \"true\"}",
         {.kind = GpuKind::whole, .count = 1, .near_nic = true}},
        {"kai fraction",
         "cpu: 1",
         "annotations: {gpu-fraction: \"0.25\"}",
         {.kind = GpuKind::share, .count = 1, .milli = 250}},
        {"kai fraction of two",
         "cpu: 1",
         "annotations: {gpu-fraction: \"0.5\", gpu-fraction-num-devices: \"2\"}",
         {.kind = GpuKind::share, .count = 2, .milli = 500}},
        {"kai memory",
         "cpu: 1",
         "annotations: {gpu-memory: \"4096\"}",
         {.kind = GpuKind::share, .count = 1, .mib = 4096}},
        {"kai all of it",
         "cpu: 1",
         "annotations: {gpu-fraction: \"1\"}",
         {.kind = GpuKind::whole, .count = 1}},
        {"hami memory",
         "nvidia.com/gpu: 2, nvidia.com/gpumem: 3000",
         "",
         {.kind = GpuKind::share, .count = 2, .mib = 3000}},
        {"hami memory and cores",
         "nvidia.com/gpu: 1, nvidia.com/gpumem: 3000, nvidia.com/gpucores: 30",
         "",
         {.kind = GpuKind::share, .count = 1, .milli = 300, .mib = 3000}},
        {"hami percentage",
         "nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 50, nvidia.com/gpucores: 20",
         "",
         {.kind = GpuKind::share, .count = 1, .milli = 500}},
        {"hami without a count",
         "nvidia.com/gpumem: 1000",
         "",
         {.kind = GpuKind::share, .count = 1, .mib = 1000}},
        {"hami cores alone keep the card",
         "nvidia.com/gpu: 1, nvidia.com/gpucores: 30",
         "",
         {.kind = GpuKind::whole, .count = 1}},
        {"mig",
         "nvidia.com/mig-1g.10gb: 2",
         "",
         {.kind = GpuKind::mig, .count = 2, .profile = "1g.10gb"}},
        {"mig with media engines",
         "nvidia.com/mig-1g.10gb.me: 1",
         "",
         {.kind = GpuKind::mig, .count = 1, .profile = "1g.10gb+me"}},
    };

    for (const Case& item : cases) {
        EXPECT_EQ(task(fmt::format("containers: [{}]", limits(item.resources)), item.metadata).gpu,
                  item.need)
            << item.name;
    }
}

TEST(PodGpus, AFixedMigLayoutIsCounted) {
    const KubernetesContext context{.fixed_mig_profiles = {"1g.10gb"}};
    const std::string spec = fmt::format("containers: [{}]", limits("nvidia.com/mig-1g.10gb: 1"));

    EXPECT_EQ(task(spec, "", context).gpu.kind, GpuKind::none);
    EXPECT_THAT(task(spec, "", context).request.extended,
                ElementsAre(Amount{"nvidia.com/mig-1g.10gb", 1}));
    EXPECT_EQ(task(spec, "annotations: {muster.dev/mig: dynamic}", context).gpu.kind, GpuKind::mig);
}

TEST(PodGpus, OneVendorsRequestStaysOffAnothersNodes) {
    const TaskSpec amd = task(fmt::format("containers: [{}]", limits("amd.com/gpu: 1")));
    const TaskSpec nvidia = task(fmt::format("containers: [{}]", limits("nvidia.com/gpu: 1")), "",
                                 {.has_other_vendors = true});

    const std::string key = "muster.dev/gpu-vendor";
    const NodeTerm with{{{key, MatchOp::in, {"amd.com_gpu"}}}, 0};
    const NodeTerm without{{{key, MatchOp::does_not_exist, {}}}, 0};
    EXPECT_THAT(amd.implied, ElementsAre(with));
    EXPECT_THAT(nvidia.implied, ElementsAre(without));
    EXPECT_EQ(gpu_resource_of(amd), "amd.com/gpu");
    EXPECT_EQ(gpu_resource_of(nvidia), "nvidia.com/gpu");
}

TEST(PodGpus, RefusesContradictions) {
    EXPECT_THAT(error_of(fmt::format("containers: [{}]", limits("nvidia.com/gpu: 1")),
                         "annotations: {gpu-fraction: \"0.5\"}"),
                HasSubstr("a share of a GPU beside GPU resources"));
    EXPECT_THAT(error_of(fmt::format("containers: [{}]", limits("cpu: 1")),
                         "annotations: {gpu-fraction: \"1.5\"}"),
                HasSubstr("metadata.annotations.gpu-fraction: found \"1.5\", expected a fraction"));
    EXPECT_THAT(error_of(fmt::format("containers: [{}]", limits("cpu: 1")),
                         "annotations: {gpu-memory: \"-4\"}"),
                HasSubstr("expected a whole number from 1"));
    EXPECT_THAT(
        error_of(fmt::format("containers: [{}]", limits("nvidia.com/gpu: 1, amd.com/gpu: 1"))),
        HasSubstr("two vendors"));
    EXPECT_THAT(error_of(fmt::format("containers: [{}]",
                                     limits("nvidia.com/gpu: 1, nvidia.com/mig-1g.10gb: 1"))),
                HasSubstr("beside other GPUs"));
    EXPECT_THAT(error_of(fmt::format("containers: [{}]",
                                     limits("nvidia.com/gpu: 1, nvidia.com/gpucores: 101"))),
                HasSubstr("at most 100"));
}

TEST(PodAffinity, ReadsSelectorsTermsAndTolerations) {
    const TaskSpec spec = task(R"(nodeSelector: {pool: a}, containers: [{name: c}],
  tolerations: [{operator: Exists}, {key: gpu, value: "yes", effect: NoSchedule}, {key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 5}],
  affinity: {nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
      {matchExpressions: [{key: z, operator: In, values: [a, b]}, {key: n, operator: Gt, values: ["5"]}]},
      {},
      {matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]}]},
    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: {matchExpressions: [{key: y, operator: DoesNotExist}]}}]},
   podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack, namespaces: [x], labelSelector: {matchLabels: {app: a}}, matchLabelKeys: [hash, none]}]},
   podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 9, podAffinityTerm: {topologyKey: host, labelSelector: {matchExpressions: [{key: app, operator: Exists}]}}}]}})",
                               "namespace: team, labels: {hash: h1}");

    EXPECT_THAT(spec.node_selector, ElementsAre(Label{"pool", "a"}));
    ASSERT_EQ(spec.required.size(), 2U);  // the empty term matches nothing
    EXPECT_EQ(spec.required[0].matches[1], (LabelMatch{"n", MatchOp::greater, {"5"}}));
    EXPECT_EQ(spec.required[1].matches[0], (LabelMatch{"metadata.name", MatchOp::not_in, {"n1"}}));
    EXPECT_EQ(spec.preferred.at(0).weight, 7);
    ASSERT_EQ(spec.tolerations.size(), 3U);
    EXPECT_TRUE(spec.tolerations[0].is_any_effect);
    EXPECT_EQ(spec.tolerations[1].value, "yes");
    EXPECT_EQ(spec.tolerations[2].effect, TaintEffect::no_execute);
    ASSERT_EQ(spec.pod_terms.size(), 2U);
    EXPECT_EQ(spec.pod_terms[0].namespaces, (std::vector<std::string>{"x"}));
    EXPECT_EQ(spec.pod_terms[0].selector.at(1), (LabelMatch{"hash", MatchOp::in, {"h1"}}));
    EXPECT_FALSE(spec.pod_terms[0].is_anti);
    EXPECT_TRUE(spec.pod_terms[1].is_anti);
    EXPECT_EQ(spec.pod_terms[1].weight, 9);
    EXPECT_EQ(spec.name_space, "team");
}

TEST(PodAffinity, RefusesWhatItCannotKeep) {
    const std::string end = "containers: [{name: c}]";
    const std::pair<std::string, const char*> cases[] = {
        {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [{}]}}}",
         "match no node at all"},
        {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Near}]}]}}}",
         "found \"Near\", expected In, NotIn, Exists, DoesNotExist, Gt or Lt"},
        {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]}}}",
         "expected one whole number beside Gt or Lt"},
        {"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: "
         "101, preference: {}}]}}",
         "found 101, expected a whole number from 1 to 100"},
        {"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
         "r, labelSelector: {}, namespaceSelector: {matchLabels: {a: b}}}]}}",
         "the labels of the namespaces are not known here"},
        {"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "[{labelSelector: {}}]}}",
         "topologyKey: found nothing"},
        {"tolerations: [{key: a, operator: Gt, value: \"x\"}]",
         "expected a whole number beside Gt or Lt"},
        {"tolerations: [{key: a, operator: Near}]", "toleration operator Near is not supported"},
        {"tolerations: [{value: a}]", "expected a key, or operator Exists"},
        {"tolerations: [{key: a, effect: Never}]",
         "expected NoSchedule, PreferNoSchedule or NoExecute"},
        {"topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, sizeOf: 2}]",
         "spec.topologySpreadConstraints[0].sizeOf: sizeOf of a spread is not supported"},
        {"topologySpreadConstraints: [{topologyKey: z, maxSkew: 0}]",
         "maxSkew: found 0, expected a whole number from 1"},
        {"sparkles: true", "spec.sparkles: unknown field sparkles of a pod"},
        {"resourceClaims: [{name: a}]", "resourceClaims"},
        {"nodeName: n1", "pod.yaml:4: spec.nodeName: nodeName goes past the scheduler"},
    };

    for (const auto& [spec, error] : cases) {
        EXPECT_THAT(error_of(spec + ", " + end), HasSubstr(error)) << spec;
    }
    EXPECT_THAT(error_of(end, "labels: {gang.scheduling.koordinator.sh/name: g}"),
                HasSubstr("a gang by gang.scheduling.koordinator.sh/name is not supported"));
}

TEST(PodAffinity, VolumesOfWhichNothingIsKnownAreSaid) {
    const auto input = read(pod(
        "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: c}]"));

    ASSERT_TRUE(input);
    ASSERT_EQ(input->warnings.size(), 1U);
    EXPECT_THAT(input->warnings[0].text, HasSubstr("no storage is known here"));
}

TEST(PodAffinity, ReadsSpreadAndComparingTolerations) {
    const TaskSpec spec = task(
        "containers: [{name: c}], tolerations: [{key: sla, operator: Gt, value: \"900\"}], "
        "topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2, whenUnsatisfiable: "
        "DoNotSchedule, minDomains: 3, nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore, "
        "labelSelector: {matchLabels: {app: a}}, matchLabelKeys: [hash, none]}, {topologyKey: "
        "host, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]",
        "labels: {hash: h1}");

    EXPECT_EQ(spec.tolerations.at(0).op, TolerationOp::greater);
    ASSERT_EQ(spec.pod_terms.size(), 2U);
    EXPECT_EQ(spec.pod_terms[0].spread, (SpreadRule{.max_skew = 2,
                                                    .domains_min = 3,
                                                    .is_wish = false,
                                                    .skips_unselected = false,
                                                    .skips_tainted = true}));
    EXPECT_THAT(spec.pod_terms[0].selector, ElementsAre(LabelMatch{"app", MatchOp::in, {"a"}},
                                                        LabelMatch{"hash", MatchOp::in, {"h1"}}));
    EXPECT_TRUE(spec.pod_terms[1].spread.is_wish);
}

TEST(PodAffinity, HostPortsKeepPodsApart) {
    const TaskSpec spec = task(
        "hostNetwork: true, containers: [{name: c, ports: [{containerPort: 80}, {containerPort: "
        "53, "
        "hostIP: 10.0.0.1, protocol: UDP}]}], initContainers: [{name: i, ports: [{hostPort: 7}]}]");

    std::vector<std::string> labels;
    for (const Label& label : spec.labels) { labels.push_back(label.key); }
    EXPECT_THAT(labels, ElementsAre("port.muster.dev/TCP-80", "port.muster.dev/TCP-80/0.0.0.0",
                                    "port.muster.dev/UDP-53", "port.muster.dev/UDP-53/10.0.0.1"));
    std::vector<std::string> away;
    for (const PodTerm& term : spec.pod_terms) {
        EXPECT_TRUE(term.is_anti && term.is_any_namespace && term.weight == 0);
        away.push_back(term.selector.at(0).key);
    }
    EXPECT_THAT(away, ElementsAre("port.muster.dev/TCP-80", "port.muster.dev/UDP-53/10.0.0.1",
                                  "port.muster.dev/UDP-53/0.0.0.0"));
}

TEST(PodHead, ReadsQueueTimePriorityAndLinks) {
    const auto input = read(pod("priority: 5, containers: [{name: c}]",
                                "namespace: team, creationTimestamp: 2026-03-01T00:00:01Z, labels: "
                                "{kai.scheduler/queue: vision}, "
                                "annotations: {muster.dev/user: ada, muster.dev/linked: \"other, "
                                "x/y\", muster.dev/runtime-estimate: 2h}"));

    ASSERT_TRUE(input) << input.error().message;
    const WorkloadSpec& workload = input->workloads.at(0);
    EXPECT_EQ(workload.name, "team/p");
    EXPECT_EQ(workload.queue, "vision");
    EXPECT_EQ(workload.user, "ada");
    EXPECT_EQ(workload.priority, 5);
    EXPECT_EQ(workload.submitted, 1772323201000);
    EXPECT_EQ(workload.runtime_estimate_s, 7200);
    EXPECT_THAT(workload.linked, ElementsAre("team/other", "x/y", "team/p"));
}

TEST(PodHead, RefusesBadTimesAndDurations) {
    EXPECT_THAT(error_of("containers: [{name: c}]", "creationTimestamp: yesterday"),
                HasSubstr("expected a time"));
    EXPECT_THAT(error_of("containers: [{name: c}]", "creationTimestamp: 2026-13-01T00:00:00Z"),
                HasSubstr("expected a time"));
    EXPECT_THAT(
        error_of("containers: [{name: c}]", "annotations: {muster.dev/runtime-estimate: 5x}"),
        HasSubstr("expected a duration"));
    EXPECT_THAT(error_of("containers: [{name: c}]",
                         "annotations: {muster.dev/runtime-estimate: 99999999999999999999h}"),
                HasSubstr("expected a duration"));
}

}  // namespace
}  // namespace muster::dialect
