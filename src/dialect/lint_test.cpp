#include "dialect/lint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::dialect {
namespace {

using testing::HasSubstr;

std::vector<Finding> findings(std::string text, const ClusterInput* cluster = nullptr) {
    const std::vector<SourceText> sources = {{"job.yaml", std::move(text)}};
    auto found = lint(sources, cluster);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return found ? std::move(found).value() : std::vector<Finding>{};
}

std::string all(const std::vector<Finding>& found) {
    std::string out;
    for (const Finding& finding : found) {
        out += fmt::format("{} {}: {} [{}]\n",
                           finding.severity == Severity::error ? "error" : "warning",
                           finding.place.text(), finding.text, finding.advice);
    }
    return out;
}

std::string volcano(std::string_view spec,
                    std::string_view resources = "limits: {nvidia.com/gpu: 1}") {
    return fmt::format(
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {{name: j}}\nspec: {{{}, "
        "tasks: [{{name: w, "
        "replicas: 2, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, resources: "
        "{{{}}}}}]}}}}}}]}}\n",
        spec, resources);
}

ClusterInput cluster() {
    const std::vector<SourceText> sources = {{"cluster.yaml", R"(apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.example.com/rack: r1}}
status: {capacity: {cpu: 8, memory: 16Gi, nvidia.com/gpu: 4}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: t}
spec: {levels: [{nodeLabel: topology.example.com/rack}]}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: vision}
spec: {}
)"}};
    auto input = read_cluster(sources);
    EXPECT_TRUE(input);
    return std::move(input).value();
}

TEST(Lint, AGoodJobHasNoFindings) {
    const ClusterInput known = cluster();

    EXPECT_EQ(all(findings(volcano("minAvailable: 2, queue: vision"), &known)), "");
}

TEST(Lint, FindsTheClassicSlips) {
    const auto pod = [](std::string_view kind, std::string_view spec) {
        return fmt::format(
            "apiVersion: {}\nkind: {}\nmetadata: {{name: p}}\nspec: {{template: {{spec: "
            "{{{}}}}}}}\n",
            kind == "Job" ? "batch/v1" : "apps/v1", kind, spec);
    };
    const std::string gpu = "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]";
    const std::pair<std::string, const char*> cases[] = {
        {pod("Job", "restartPolicy: Never, " + gpu),
         "warning job.yaml:4: spec.template.spec.schedulerName: the pods ask for GPUs and are left "
         "to the default scheduler"},
        {volcano("minAvailable: 3"),
         "error job.yaml:4: spec.minAvailable: minAvailable 3 is over the 2 replicas"},
        {volcano("minAvailable: 2", "requests: {nvidia.com/gpu: 1}"),
         "nvidia.com/gpu is requested without a limit"},
        {volcano("minAvailable: 2", "requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}"),
         "a limit other than its request"},
        {pod("Job", "schedulerName: muster, " + gpu),
         "error job.yaml:4: spec.template.spec.restartPolicy: a Job's pods can't have"},
        {pod("Deployment", "schedulerName: muster, restartPolicy: Never, " + gpu),
         "a Deployment's pods need restartPolicy Always"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {gpu-fraction: "
         "\"0.5\"}}\nspec: {schedulerName: muster, containers: [{name: c}]}\n",
         "gpu-fraction reserves a share, but nothing keeps the pod inside it"},
        {"apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: j}\nspec: "
         "{minMember: 1}\n---\n" +
             volcano("minAvailable: 2"),
         "warning job.yaml:4: spec.minMember: minMember 1 is not the minAvailable 2 of Job j"},
        {"apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: g}\nspec: "
         "{minMember: 4}\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: k}\n"
         "spec: {parallelism: 3, template: {metadata: {labels: {scheduling.x-k8s.io/pod-group: "
         "g}}, spec: {schedulerName: muster, restartPolicy: Never, containers: [{name: c}]}}}\n",
         "error job.yaml:4: spec.minMember: minMember 4 is over the 3 pods of the group"},
        {volcano("minAvailable: six"),
         "error job.yaml:4: spec.minAvailable: found \"six\", expected a whole number"},
        {volcano("glitter: 1"), "warning job.yaml:4: spec.glitter: unknown field glitter"},
    };

    for (const auto& [text, finding] : cases) {
        EXPECT_THAT(all(findings(text)), HasSubstr(finding)) << text;
    }
}

TEST(Lint, AskedWithAClusterChecksWhatTheJobRefersTo) {
    const ClusterInput known = cluster();
    const std::pair<std::string, const char*> cases[] = {
        {volcano("queue: visoin"), "queue \"visoin\" is not known [known queues: default, vision]"},
        {volcano("networkTopology: {highestTierName: rakc}"),
         "topology level \"rakc\" is not known [known levels: rack]"},
        {volcano("minAvailable: 2", "limits: {nvidia.com/gpu: 8}"),
         "no node can hold one task of w: it asks for 8 GPU; the most of each that any node has is "
         "4 GPU"},
        {volcano("minAvailable: 2", "limits: {cpu: 9}"), "it asks for 9000 milli-CPU"},
        {volcano("minAvailable: 2", "limits: {nvidia.com/gpu: 3}"),
         "the gang's minimum asks for 6 GPU, the whole cluster has 4"},
        {volcano("minAvailable: 2", "limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 1000}"),
         "no node has a driver that enforces one"},
    };

    for (const auto& [text, finding] : cases) {
        EXPECT_THAT(all(findings(text, &known)), HasSubstr(finding)) << text;
    }
    EXPECT_EQ(all(findings(volcano("networkTopology: {highestTierName: topology.example.com/rack}"),
                           &known)),
              "");
}

TEST(Lint, SaysEachSlipOnce) {
    const auto found = findings(volcano("minAvailable: 3"));

    EXPECT_EQ(found.size(), 1U) << all(found);
}

TEST(Lint, TextThatIsNoDocumentIsAnError) {
    const std::vector<SourceText> sources = {{"job.yaml", "{"}};

    EXPECT_FALSE(lint(sources));
}

}  // namespace
}  // namespace muster::dialect
