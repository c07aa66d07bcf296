#include "dialect/kubernetes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace muster::dialect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

ClusterInput read(std::string text) {
    const std::vector<SourceText> sources = {{"cluster.yaml", std::move(text)}};
    auto input = read_cluster(sources);
    EXPECT_TRUE(input) << (input ? "" : input.error().message);
    return input ? std::move(*input) : ClusterInput{};
}

std::map<std::string, QueueSpec> queues_of(const ClusterInput& input) {
    std::map<std::string, QueueSpec> out;
    for (const Fact& fact : input.facts) {
        if (const auto* set = std::get_if<QueueSet>(&fact)) { out[set->queue.name] = set->queue; }
    }
    return out;
}

std::map<std::string, std::string> queue_by_workload(const ClusterInput& input) {
    std::map<std::string, std::string> out;
    for (const Fact& fact : input.facts) {
        if (const auto* set = std::get_if<WorkloadSet>(&fact)) {
            out[set->workload.name] = set->workload.queue;
        }
    }
    return out;
}

TEST(KueueQueue, HasItsNominalQuotaAloneAndMayBorrowInACohort) {
    const auto queues = queues_of(read(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: alone}
spec:
  queueingStrategy: StrictFIFO
  resourceGroups:
    - coveredResources: [cpu, nvidia.com/gpu]
      flavors:
        - {name: h100, resources: [{name: cpu, nominalQuota: 4}, {name: nvidia.com/gpu, nominalQuota: 8}]}
        - {name: a100, resources: [{name: cpu, nominalQuota: 4}, {name: nvidia.com/gpu, nominalQuota: 4}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: member}
spec:
  cohortName: all
  resourceGroups:
    - flavors:
        - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 2, borrowingLimit: 3}, {name: cpu, nominalQuota: 1}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: other}
spec:
  cohortName: all
  resourceGroups:
    - flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 6}]}]
)"));

    ASSERT_THAT(queues, SizeIs(4));
    EXPECT_EQ(queues.at("alone").head, HeadRule::strict);
    EXPECT_THAT(queues.at("alone").cap.amounts,
                UnorderedElementsAre(Amount{"cpu", 8'000}, Amount{"gpu", 12'000}));
    EXPECT_EQ(queues.at("alone").parent, "");
    EXPECT_THAT(queues.at("member").cap.amounts, ElementsAre(Amount{"gpu", 5'000}));
    EXPECT_THAT(queues.at("member").entitlement.amounts,
                UnorderedElementsAre(Amount{"cpu", 1'000}, Amount{"gpu", 2'000}));
    EXPECT_EQ(queues.at("member").parent, "all");
    EXPECT_THAT(queues.at("all").cap.amounts,
                UnorderedElementsAre(Amount{"cpu", 1'000}, Amount{"gpu", 8'000}));
}

TEST(KueueQueue, MayHaveTheNameOfItsCohort) {
    const auto queues = queues_of(read(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec: {cohortName: all}
)"));

    EXPECT_EQ(queues.at("all").parent, "all@cohort");
    EXPECT_EQ(queues.at("all@cohort").parent, "");
}

TEST(KueueQueue, IsWhatItsLocalQueueAndItsJobMean) {
    const auto queues = queue_by_workload(read(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: user-queue, namespace: team}
spec: {clusterQueue: research}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: user-queue}}
spec: {template: {spec: {containers: [{name: c}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: train-x, namespace: team, labels: {batch.kubernetes.io/job-name: train}}
spec: {schedulerName: muster, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: labelled, namespace: team, labels: {kueue.x-k8s.io/queue-name: user-queue}}
spec: {schedulerName: muster, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: elsewhere, namespace: other, labels: {kueue.x-k8s.io/queue-name: user-queue}}
spec: {schedulerName: muster, containers: [{name: c}]}
)"));

    EXPECT_EQ(queues.at("team/train-x"), "research");
    EXPECT_EQ(queues.at("team/labelled"), "research");
    EXPECT_EQ(queues.at("other/elsewhere"), "user-queue");  // a name, where no LocalQueue is
}

TEST(KueueQueue, IsMeantByALocalQueueThatWasReadElsewhere) {
    const std::vector<SourceText> sources = {{"pod.yaml", R"(
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: team, labels: {kueue.x-k8s.io/queue-name: user-queue}}
spec: {schedulerName: muster, containers: [{name: c}]}
)"}};
    const auto documents = read_documents(sources);
    ASSERT_TRUE(documents);

    const ClusterReading reading =
        inspect_cluster(*documents, {}, {.local_queues = {{"team/user-queue", "research"}}});

    EXPECT_EQ(queue_by_workload(reading.input).at("team/one"), "research");
}

TEST(KueueQueue, TiesAPlainJobToItsPods) {
    const std::vector<SourceText> sources = {{"jobs.yaml", R"(
apiVersion: batch/v1
kind: Job
metadata: {name: queued, namespace: team, labels: {kueue.x-k8s.io/queue-name: user-queue}}
spec: {template: {spec: {containers: [{name: c}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: plain, namespace: team}
spec: {template: {spec: {containers: [{name: c}]}}}
)"}};
    const auto documents = read_documents(sources);
    ASSERT_TRUE(documents);

    const Links queued = links_of(documents->all()[0]);
    EXPECT_THAT(queued.names, ElementsAre("team/queued"));
    EXPECT_TRUE(queued.is_job);
    EXPECT_THAT(links_of(documents->all()[1]).names, IsEmpty());
}

TEST(KaiQueue, ReadsQuotasInDevicesThousandthsAndMegabytes) {
    const auto queues = queues_of(read(R"(
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: department}
spec:
  resources: {gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team}
spec:
  parentQueue: department
  priority: 200
  resources:
    gpu: {quota: 1.5, limit: 4, overQuotaWeight: 3}
    cpu: {quota: 2000, limit: -1}
    memory: {quota: 100}
)"));

    EXPECT_THAT(queues.at("department").cap.amounts, IsEmpty());
    EXPECT_EQ(queues.at("department").priority, 100);
    const QueueSpec& team = queues.at("team");
    EXPECT_EQ(team.parent, "department");
    EXPECT_EQ(team.priority, 200);
    EXPECT_EQ(team.weight, 3);
    EXPECT_THAT(team.entitlement.amounts,
                UnorderedElementsAre(Amount{"gpu", 1'500}, Amount{"cpu", 2'000},
                                     Amount{"memory", 100'000'000}));
    // A limit that is not said lets nothing run.
    EXPECT_THAT(team.cap.amounts, UnorderedElementsAre(Amount{"gpu", 4'000}, Amount{"memory", 0}));
}

TEST(ForeignQueues, OfOneNameAreOneQueueAndAWarning) {
    const ClusterInput input = read(R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {capability: {nvidia.com/gpu: 4}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
)");

    EXPECT_THAT(queues_of(input), SizeIs(1));
    ASSERT_THAT(input.warnings, SizeIs(1));
    EXPECT_THAT(input.warnings[0].text, HasSubstr("a second queue research"));
}

}  // namespace
}  // namespace muster::dialect
