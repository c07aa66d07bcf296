#include "dialect/kubernetes_owner.h"

#include "dialect/kubernetes_tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace muster::dialect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const std::string containers = "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]";

ClusterInput read(const std::string& text, const ClusterOptions& options = {}) {
    const std::vector<SourceText> sources = {{"cluster.yaml", text}};
    auto input = read_cluster(sources, options);
    EXPECT_TRUE(input) << (input ? "" : input.error().message);
    return input ? *std::move(input) : ClusterInput{};
}

std::map<std::string, WorkloadSpec> workloads_of(const ClusterInput& input) {
    std::map<std::string, WorkloadSpec> out;
    for (const Fact& fact : input.facts) {
        if (const auto* set = std::get_if<WorkloadSet>(&fact)) {
            out[set->workload.name] = set->workload;
        }
    }
    return out;
}

struct Size {
    std::int32_t count = 0;
    std::int32_t minimum = 0;

    bool operator==(const Size&) const = default;
};
/// Of each leaf that holds tasks.
std::vector<Size> leaves(const WorkloadSpec& workload) {
    std::vector<Size> out;
    for (const std::int32_t leaf : leaves_of(workload)) {
        const GroupSpec& group = workload.groups[static_cast<std::size_t>(leaf)];
        out.push_back({group.count, group.minimum});
    }
    return out;
}

std::string pod(const std::string& name, const std::string& metadata,
                const std::string& spec = "schedulerName: muster") {
    return fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}, namespace: team{}{}}}\nspec: {{{}, "
        "{}}}\n",
        name, metadata.empty() ? "" : ", ", metadata, spec, containers);
}

std::string job_set(const std::string& metadata, const std::string& rest = "",
                    const std::string& status = "") {
    return fmt::format(R"(---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: train, namespace: team, uid: u1{}}}
spec:
  {}
  replicatedJobs:
    - name: driver
      template: {{spec: {{template: {{spec: {{schedulerName: muster, {}}}}}}}}}
    - name: workers
      replicas: 2
      template: {{spec: {{parallelism: 3, completions: 3, template: {{spec: {{schedulerName: muster, {}}}}}}}}}
status: {{{}}}
)",
                       metadata, rest.empty() ? "suspend: false" : rest, containers, containers,
                       status);
}
std::string job_set_pod(const std::string& role, int job, int index, int attempt = 0,
                        const std::string& spec = "schedulerName: muster") {
    return pod(
        fmt::format("train-{}-{}-{}-a{}", role, job, index, attempt),
        fmt::format("labels: {{jobset.sigs.k8s.io/jobset-name: train, "
                    "jobset.sigs.k8s.io/replicatedjob-name: {}, "
                    "jobset.sigs.k8s.io/job-index: '{}', jobset.sigs.k8s.io/restart-attempt: '{}', "
                    "batch.kubernetes.io/job-name: train-{}-{}, "
                    "batch.kubernetes.io/job-completion-index: '{}'}}",
                    role, job, attempt, role, job, index),
        spec);
}

TEST(JobSet, IsOneGangOfItsDeclaredSizeOverAllItsJobs) {
    const auto input = read(job_set(", labels: {kueue.x-k8s.io/queue-name: research}") +
                            job_set_pod("workers", 1, 2));

    const auto found = workloads_of(input);
    ASSERT_THAT(found, ElementsAre(testing::Key("team/train")));
    EXPECT_EQ(found.at("team/train").queue, "research");
    EXPECT_EQ(found.at("team/train").groups.front().minimum, 2);
    EXPECT_THAT(leaves(found.at("team/train")), ElementsAre(Size{1, 1}, Size{6, 6}));
    EXPECT_THAT(input.pods, ElementsAre(PodTask{"team/train-workers-1-2-a0", "team/train", 6}));
}

TEST(JobSet, AsksForNothingUntilAPodIsThere) {
    EXPECT_THAT(workloads_of(read(job_set(""))), IsEmpty());
}

TEST(JobSet, MayLetItsPodsStandAlone) {
    const auto input = read(job_set(", annotations: {muster.dev/gang: 'false'}") +
                            job_set_pod("workers", 0, 0) + job_set_pod("workers", 0, 1));

    EXPECT_THAT(workloads_of(input), ElementsAre(testing::Key("team/train-workers-0-0-a0"),
                                                 testing::Key("team/train-workers-0-1-a0")));
}

TEST(JobSet, PodsThatNameAGroupAreThatGroups) {
    const auto input = read(job_set("") + R"(---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: own, namespace: team}
spec: {schedulingPolicy: {gang: {minCount: 1}}}
)" +
                            pod("train-driver-0-0",
                                "labels: {jobset.sigs.k8s.io/jobset-name: train, "
                                "jobset.sigs.k8s.io/replicatedjob-name: driver}",
                                "schedulerName: muster, schedulingGroup: {podGroupName: own}"));

    EXPECT_THAT(workloads_of(input), ElementsAre(testing::Key("team/own")));
}

TEST(JobSet, SpeaksForItsJobsThatAreGangs) {
    const auto input = read(job_set("") + R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: train-workers-0, namespace: team, labels: {jobset.sigs.k8s.io/jobset-name: train}, annotations: {muster.dev/gang: "true"}}
spec: {parallelism: 3, completions: 3, template: {spec: {schedulerName: muster, containers: [{name: c}]}}}
)" + job_set_pod("workers", 0, 0));

    EXPECT_THAT(workloads_of(input), ElementsAre(testing::Key("team/train")));
}

TEST(JobSet, ARestartIsAnotherRunAndWhatIsLeftHoldsItsRoom) {
    const auto input = read(job_set("", "", "restarts: 1") +
                            job_set_pod("workers", 0, 0, 0, "schedulerName: muster, nodeName: n1") +
                            job_set_pod("workers", 0, 0, 1));

    const auto found = workloads_of(input);
    EXPECT_THAT(found,
                ElementsAre(testing::Key("team/train"), testing::Key("team/train-workers-0-0-a0")));
    EXPECT_EQ(found.at("team/train").uid, "u1/1");
    EXPECT_THAT(input.pods,
                testing::Contains(PodTask{"team/train-workers-0-0-a1", "team/train", 1}));
}

TEST(JobSet, SuspendedOrDoneAsksForNothing) {
    for (const std::string& text :
         {job_set("", "suspend: true"),
          job_set("", "", "conditions: [{type: Completed, status: 'True'}]")}) {
        EXPECT_THAT(workloads_of(read(text + job_set_pod("driver", 0, 0))), IsEmpty()) << text;
    }
}

TEST(JobSet, RolesOfOtherSchedulersAreNoPartOfIt) {
    std::string text = job_set("");
    text.replace(text.find("schedulerName: muster"), 21, "schedulerName: other");

    const auto found = workloads_of(read(text + job_set_pod("workers", 0, 0)));

    EXPECT_THAT(leaves(found.at("team/train")), ElementsAre(Size{6, 6}));
}

TEST(JobSet, WhereNoTemplateNamesASchedulerThePodsDo) {
    std::string text = job_set("");
    for (std::size_t at = text.find("schedulerName: muster, "); at != std::string::npos;
         at = text.find("schedulerName: muster, ")) {
        text.erase(at, 23);
    }

    const auto ours = workloads_of(read(text + job_set_pod("workers", 0, 0)));
    const auto others = workloads_of(
        read(text + job_set_pod("workers", 0, 0, 0, "schedulerName: other, nodeName: n1")));

    EXPECT_THAT(leaves(ours.at("team/train")), ElementsAre(Size{1, 1}, Size{6, 6}));
    EXPECT_THAT(others, ElementsAre(testing::Key("team/train-workers-0-0-a0")));
}

TEST(JobSet, AJobThatWaitsForOthersIsNotPartOfTheMinimum) {
    std::string text = job_set("");
    const std::string at = "    - name: workers\n";
    text.insert(text.find(at) + at.size(), "      dependsOn: [{name: driver, status: Complete}]\n");

    const std::string in_order = job_set("", "startupPolicy: {startupPolicyOrder: InOrder}");

    for (const std::string& one : {text, in_order}) {
        const auto before = workloads_of(read(one + job_set_pod("driver", 0, 0)));
        const auto after =
            workloads_of(read(one + job_set_pod("driver", 0, 0) + job_set_pod("workers", 0, 0)));

        EXPECT_EQ(before.at("team/train").groups.front().minimum, 1);
        EXPECT_EQ(after.at("team/train").groups.front().minimum, 2);
    }
}

TEST(JobSet, ATopologyOfTheJobTemplateIsOfEachJob) {
    std::string text = job_set("");
    const std::string at = "      replicas: 2\n      template: {";
    text.insert(text.find(at) + at.size(),
                "metadata: {annotations: {muster.dev/required-topology: rack}}, ");

    const auto found = workloads_of(read(text + job_set_pod("workers", 1, 0)));

    const WorkloadSpec& workload = found.at("team/train");
    EXPECT_THAT(leaves(workload), ElementsAre(Size{1, 1}, Size{3, 3}, Size{3, 3}));
    EXPECT_EQ(workload.groups.back().topology.required, "rack");
}

TEST(JobSet, ExclusiveTopologyIsRefusedByName) {
    const auto input =
        read(job_set(", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}") +
             job_set_pod("driver", 0, 0));

    ASSERT_EQ(input.refused.size(), 1U);
    EXPECT_THAT(input.refused[0].text, HasSubstr("exclusive-topology is not supported"));
}

std::string leader_worker_set(const std::string& metadata = "") {
    return fmt::format(R"(---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: serve, namespace: team, uid: u2{}}}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    leaderTemplate: {{spec: {{schedulerName: muster, containers: [{{name: c, resources: {{limits: {{nvidia.com/gpu: 2}}}}}}]}}}}
    workerTemplate: {{spec: {{schedulerName: muster, {}}}}}
)",
                       metadata, containers);
}
std::string set_pod(int group, int worker, const std::string& spec = "schedulerName: muster") {
    return pod(
        worker == 0 ? fmt::format("serve-{}", group) : fmt::format("serve-{}-{}", group, worker),
        fmt::format("labels: {{leaderworkerset.sigs.k8s.io/name: serve, "
                    "leaderworkerset.sigs.k8s.io/group-index: '{}', "
                    "leaderworkerset.sigs.k8s.io/worker-index: '{}'}}",
                    group, worker),
        spec);
}

TEST(LeaderWorkerSet, IsAGangForEachGroupWithALeader) {
    const auto input = read(leader_worker_set() + set_pod(0, 0) + set_pod(1, 0) + set_pod(1, 2));

    const auto found = workloads_of(input);
    ASSERT_THAT(found, ElementsAre(testing::Key("team/serve-0"), testing::Key("team/serve-1")));
    EXPECT_THAT(leaves(found.at("team/serve-0")), ElementsAre(Size{1, 1}, Size{2, 2}));
    EXPECT_THAT(input.pods, ElementsAre(PodTask{"team/serve-0", "team/serve-0", 0},
                                        PodTask{"team/serve-1", "team/serve-1", 0},
                                        PodTask{"team/serve-1-2", "team/serve-1", 2}));
}

TEST(LeaderWorkerSet, DoesNotWaitForWorkersThatWaitForTheirLeader) {
    std::string text = leader_worker_set();
    text.insert(text.find("  replicas: 2"), "  startupPolicy: LeaderReady\n");

    const auto before = workloads_of(read(text + set_pod(0, 0)));
    const auto after = workloads_of(read(text + set_pod(0, 0) + set_pod(0, 1)));

    EXPECT_EQ(before.at("team/serve-0").groups.front().minimum, 1);
    EXPECT_EQ(after.at("team/serve-0").groups.front().minimum, 2);
}

TEST(LeaderWorkerSet, AGroupInSurgeIsAGangToo) {
    const auto found = workloads_of(read(leader_worker_set() + set_pod(2, 0)));

    EXPECT_THAT(found, ElementsAre(testing::Key("team/serve-2")));
}

TEST(LeaderWorkerSet, WithoutItsObjectPodsStandAlone) {
    const auto found = workloads_of(read(set_pod(0, 0) + set_pod(0, 1)));

    EXPECT_THAT(found, ElementsAre(testing::Key("team/serve-0"), testing::Key("team/serve-0-1")));
}

TEST(Owner, PodsWaitForOneThatIsNotThereAndWhatRunsHoldsItsRoom) {
    const std::string of_job =
        "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: sums, uid: u, controller: "
        "true}]";
    const std::string text =
        job_set_pod("workers", 0, 0) + pod("sums-0", of_job) +
        pod("sums-1", of_job, "schedulerName: muster, nodeName: n0") +
        pod("other", "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u}]");
    std::set<std::string> there;
    const ClusterOptions options{.has_owner = [&](std::string_view kind, std::string_view name) {
        return there.contains(fmt::format("{} {}", kind, name));
    }};

    const ClusterInput without = read(text, options);
    there = {"JobSet team/train", "Job team/sums"};
    const ClusterInput with = read(text, options);

    EXPECT_THAT(workloads_of(without), UnorderedElementsAre(Key("team/sums-1"), Key("team/other")));
    ASSERT_THAT(without.refused, SizeIs(2));
    EXPECT_EQ(without.refused[0].text, "its JobSet team/train is not there");
    EXPECT_EQ(without.refused[1].text, "its Job team/sums is not there");
    EXPECT_THAT(workloads_of(with), SizeIs(4));  // owners that are no gangs
    EXPECT_THAT(with.refused, IsEmpty());
}

TEST(StatefulSet, IsAGangOnlyWhenItAsks) {
    const auto set = [](const std::string& metadata, const std::string& policy = "Parallel") {
        return fmt::format(R"(---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: team{}}}
spec: {{replicas: 3, podManagementPolicy: {}, ordinals: {{start: 5}}, template: {{spec: {{schedulerName: muster, {}}}}}}}
)",
                           metadata, policy, containers);
    };
    const std::string member =
        pod("db-6", "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db}]");

    const auto alone = workloads_of(read(set("") + member));
    const auto gang = read(set(", annotations: {muster.dev/gang: 'true'}") + member);

    EXPECT_THAT(alone, ElementsAre(testing::Key("team/db-6")));
    EXPECT_THAT(leaves(workloads_of(gang).at("team/db")), ElementsAre(Size{3, 3}));
    EXPECT_THAT(gang.pods, ElementsAre(PodTask{"team/db-6", "team/db", 1}));
    const auto ordered =
        read(set(", annotations: {muster.dev/gang: 'true'}", "OrderedReady") + member);
    ASSERT_EQ(ordered.refused.size(), 1U);
    EXPECT_THAT(ordered.refused[0].text, HasSubstr("needs podManagementPolicy Parallel"));
}

const std::string old_workload = R"(---
apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: train, namespace: team}
spec:
  podGroups:
    - {name: workers, policy: {gang: {minCount: 3}}}
    - {name: rest, policy: {basic: {}}}
)";

std::string old_pod(const std::string& name, const std::string& group, const std::string& key) {
    return pod(name, "",
               fmt::format("schedulerName: muster, workloadRef: {{name: train, podGroup: {}{}}}",
                           group, key.empty() ? "" : ", podGroupReplicaKey: " + key));
}

TEST(OldWorkload, EachReplicaKeyIsAGangOfItsOwn) {
    const auto input =
        read(old_workload + old_pod("a", "workers", "one") + old_pod("b", "workers", "one") +
             old_pod("c", "workers", "two") + old_pod("d", "rest", ""));

    const auto found = workloads_of(input);
    ASSERT_THAT(found,
                ElementsAre(testing::Key("team/train-rest"), testing::Key("team/train-workers-one"),
                            testing::Key("team/train-workers-two")));
    EXPECT_THAT(leaves(found.at("team/train-workers-one")), ElementsAre(Size{3, 3}));
    EXPECT_THAT(leaves(found.at("team/train-rest")), ElementsAre(Size{1, 1}));
}

TEST(OldWorkload, PodsWaitForTheirWorkload) {
    const auto input = read(old_pod("a", "workers", ""));

    EXPECT_THAT(workloads_of(input), IsEmpty());
    ASSERT_EQ(input.refused.size(), 1U);
    EXPECT_EQ(input.refused[0].text, "its Workload team/train is not there");
}

TEST(Gates, AGangWaitsForThemAndARunningOneTakesThemLater) {
    const std::string group = R"(---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {schedulingPolicy: {gang: {minCount: 2}}}
)";
    const auto member = [](const std::string& name, const std::string& more) {
        return pod(name, "", "schedulerName: muster, schedulingGroup: {podGroupName: g}" + more);
    };
    const std::string gate = ", schedulingGates: [{name: kueue.x-k8s.io/admission}]";

    const auto none = read(group + member("a", gate) + member("b", gate));
    const auto some = read(group + member("a", "") + member("b", gate));
    const auto enough = read(group + member("a", "") + member("b", "") + member("c", gate));
    const auto running = read(group + member("a", ", nodeName: n1") + member("b", gate));

    EXPECT_THAT(workloads_of(none), IsEmpty());
    EXPECT_THAT(workloads_of(some), IsEmpty());
    EXPECT_THAT(some.refused.at(0).text,
                HasSubstr("1 of at least 2 pods have no scheduling gates"));
    EXPECT_THAT(leaves(workloads_of(enough).at("team/g")), ElementsAre(Size{2, 2}));
    EXPECT_THAT(running.pods, ElementsAre(PodTask{"team/a", "team/g", 0}));
}

TEST(Schedulers, AGangOfAnotherOneAsksUsForNothing) {
    const auto input = read(R"(apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, annotations: {muster.dev/gang: "true"}}
spec: {parallelism: 2, completions: 2, template: {spec: {schedulerName: other, containers: [{name: c}]}}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {schedulingPolicy: {gang: {minCount: 4}}}
)" + pod("a", "", "schedulerName: other, nodeName: n1, schedulingGroup: {podGroupName: g}"));

    const auto found = workloads_of(input);
    ASSERT_THAT(found, ElementsAre(testing::Key("team/a")));
    EXPECT_THAT(leaves(found.at("team/a")), ElementsAre(Size{1, 1}));
}

}  // namespace
}  // namespace muster::dialect
