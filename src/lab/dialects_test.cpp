// What users of other schedulers bring, from a manifest to pods on nodes: the API, controllers,
// fake kubelets and Muster's scheduler together.
#include "lab/plugin_group_status.h"
#include "lab/whole_lab_test.h"

#include <gmock/gmock.h>

#include <ostream>
#include <set>

namespace muster::lab {
namespace {

namespace json = boost::json;
using kube::condition_of;
using kube::int_at;
using kube::text_at;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string group_path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/";

class Dialects : public WholeLab {
protected:
    void SetUp() override {
        start("2x4");
        start_scheduler();
    }
    /// Another Job as in the examples, with more pods than there are GPUs.
    void too_many(const std::string& metadata, const std::string& spec) {
        apply(fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: large}}
spec:
  parallelism: 10
  completions: 10
  template:
    metadata: {{{}}}
    spec:
      {}
      schedulerName: muster
      restartPolicy: Never
      containers:
        - {{name: w, image: "busybox:1", command: [sleep, "60"], resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
)",
                          metadata, spec));
        live(3'000);
    }
    std::string message_of(const Object& object, std::string_view type) {
        const json::array* list = kube::array_at(object, "status.conditions");
        for (const json::value& one : list == nullptr ? json::array() : *list) {
            if (text_at(one.as_object(), "type") != type) { continue; }
            return std::string(text_at(one.as_object(), "message"));
        }
        return "none";
    }
};

TEST_F(Dialects, AGangOfKubernetesStartsWholeOrNotAtAll) {
    apply_example("lab/upstream-gang.yaml");
    live(4'000);
    const std::string path = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/";
    EXPECT_EQ(bound("job-name=train"), "6/6");
    EXPECT_EQ(condition_of(get(path + "train"), "PodGroupInitiallyScheduled"), "True");

    apply(R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: large}
spec: {schedulingPolicy: {gang: {minCount: 10}}}
)");
    too_many("", "schedulingGroup: {podGroupName: large}");

    EXPECT_EQ(bound("job-name=large"), "0/10");
    const Object group = get(path + "large");
    EXPECT_EQ(condition_of(group, "PodGroupInitiallyScheduled"), "False");
    EXPECT_EQ(message_of(group, "PodGroupInitiallyScheduled"), "10 tasks of 1 gpu; room for 2");
    EXPECT_THAT(events("PodGroup"), Contains("Unschedulable: 10 tasks of 1 gpu; room for 2"));
}

TEST_F(Dialects, AGroupOfVolcanoIsReadFromAnAnnotation) {
    apply_example("lab/volcano-groups.yaml");
    live(4'000);
    EXPECT_EQ(bound("job-name=train"), "6/6");
    EXPECT_EQ(text_at(get(group_path + "train"), "status.phase"), "Running");
    EXPECT_EQ(int_at(get(group_path + "train"), "status.running"), 6);

    apply(R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: large}
spec: {minMember: 10}
)");
    too_many("annotations: {scheduling.k8s.io/group-name: large}", "");

    EXPECT_EQ(bound("job-name=large"), "0/10");
    const Object group = get(group_path + "large");
    EXPECT_EQ(text_at(group, "status.phase"), "Inqueue");
    EXPECT_EQ(condition_of(group, "Unschedulable"), "True");
    EXPECT_THAT(
        events("PodGroup"),
        Contains("Unschedulable: 8/10 tasks in gang unschedulable: pod group is not ready, 10 "
                 "Pending, 10 minAvailable; Pending: 8 Unschedulable, 2 Schedulable. 10 tasks of 1 "
                 "gpu; room for 2"));
}

TEST_F(Dialects, DefinitionsMayComeWhileTheSchedulerRuns) {
    apply_example("lab/scheduler-plugins-crd.yaml");
    live(6'000);

    apply_example("lab/scheduler-plugins-gang.yaml");
    live(5'000);

    EXPECT_EQ(bound("job-name=train"), "6/6");
    const std::string path = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/";
    const Object group = get(path + "train");
    EXPECT_EQ(text_at(group, "status.phase"), "Running");
    EXPECT_EQ(int_at(group, "status.scheduled"), 6);
    EXPECT_EQ(text_at(group, "status.occupiedBy"), "default/train");

    apply(R"(
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: large}
spec: {minMember: 10}
)");
    too_many("labels: {scheduling.x-k8s.io/pod-group: large}", "");

    EXPECT_EQ(bound("job-name=large"), "0/10");
    EXPECT_EQ(text_at(get(path + "large"), "status.phase"), "Scheduling");
    EXPECT_THAT(events("PodGroup"), Contains("Unschedulable: 10 tasks of 1 gpu; room for 2"));
}

TEST_F(Dialects, AQueueOfKueueBoundsItsJobs) {
    apply_example("lab/kueue-crds.yaml");
    live(6'000);

    apply_example("lab/kueue-jobs.yaml");
    live(5'000);

    EXPECT_EQ(bound("job-name=first"), "3/3");
    EXPECT_EQ(bound("job-name=second"), "0/2");
    EXPECT_THAT(events("Pod"),
                Contains(AllOf(StartsWith("FailedScheduling: "), HasSubstr("queue research"))));
    live(70'000);
    EXPECT_EQ(bound("job-name=second"), "2/2");
}

TEST_F(Dialects, PodsOfAPlainJobWaitInTheQueueOfTheirJob) {
    apply_example("lab/kueue-crds.yaml");
    live(6'000);
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: small}
spec:
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: f, resources: [{name: nvidia.com/gpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: mine}
spec: {clusterQueue: small}
---
apiVersion: batch/v1
kind: Job
metadata: {name: plain, labels: {kueue.x-k8s.io/queue-name: mine}}
spec:
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      containers:
        - {name: w, image: "busybox:1", command: [sleep, "60"], resources: {limits: {nvidia.com/gpu: 1}}}
)");
    live(5'000);

    EXPECT_EQ(bound("job-name=plain"), "2/3");
}

TEST_F(Dialects, AQueueThatNobodyMadeIsNamedInTheReason) {
    apply(R"(
apiVersion: v1
kind: Pod
metadata: {name: lost, labels: {kueue.x-k8s.io/queue-name: nowhere}}
spec:
  schedulerName: muster
  containers: [{name: w, image: "busybox:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)");
    live(2'000);

    EXPECT_EQ(bound(), "0/1");
    EXPECT_THAT(events("Pod"), Contains(HasSubstr("unknown queue nowhere; known: default")));
}

TEST_F(Dialects, FractionsOfKaiShareGpusWithinTheirQueue) {
    apply_example("lab/kai-crd.yaml");
    live(6'000);

    apply_example("lab/kai-fractions.yaml");
    live(5'000);

    EXPECT_EQ(bound("app=notebook"), "3/4");
    EXPECT_THAT(events("Pod"),
                Contains(AllOf(StartsWith("FailedScheduling: "), HasSubstr("queue team"))));
}

TEST_F(Dialects, SharesOfHamiStandOnOneCard) {
    apply_example("lab/hami-shares.yaml");
    live(5'000);

    EXPECT_EQ(bound("app=inference"), "4/4");
}

TEST_F(Dialects, APodThatFitsNowhereSaysWhatIsMissing) {
    apply(R"(
apiVersion: v1
kind: Pod
metadata: {name: big}
spec:
  containers: [{name: w, image: "busybox:1", resources: {limits: {nvidia.com/gpu: 5}}}]
)");
    live(2'000);

    EXPECT_THAT(events("Pod"), Contains(testing::StartsWith(
                                   "FailedScheduling: 0/2 nodes are available: 2 Insufficient "
                                   "nvidia.com/gpu. ")));
}

TEST_F(Dialects, ARunningGangThatAsksForMoreKeepsWhatItHas) {
    apply_example("lab/gang-job.yaml");
    live(5'000);
    ASSERT_EQ(bound("volcano.sh/job-name=dist-train-demo"), "6/6");
    std::set<std::string> before;
    for (const Object& pod : list("/api/v1/pods")) {
        before.insert(std::string(kube::uid_of(pod)));
    }

    Object job = get("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/dist-train-demo");
    job["spec"].as_object()["minAvailable"] = 10;
    job["spec"].at("tasks").at(0).as_object()["replicas"] = 10;
    const auto put =
        send("PUT", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/dist-train-demo",
             json::serialize(job));
    ASSERT_EQ(put.status, 200) << put.body;
    live(5'000);

    // All ten pods are there, the six still run, and of the others none holds anything alone.
    EXPECT_EQ(bound("volcano.sh/job-name=dist-train-demo"), "6/10");
    const auto pods = list("/api/v1/pods");
    EXPECT_EQ(pods.size(), 10U);
    std::size_t kept = 0;
    for (const Object& pod : pods) {
        if (before.contains(std::string(kube::uid_of(pod)))) {
            ++kept;
            EXPECT_EQ(text_at(pod, "status.phase"), "Running");
        }
    }
    EXPECT_EQ(kept, 6U);
    const auto groups_now = list("/apis/scheduling.volcano.sh/v1beta1/podgroups");
    ASSERT_EQ(groups_now.size(), 1U);
    EXPECT_EQ(int_at(groups_now[0], "spec.minMember"), 10);
    const Object& least = *kube::object_at(groups_now[0], "spec.minResources");
    EXPECT_EQ(least.at("nvidia.com/gpu"), json::value("10"));
}

TEST_F(Dialects, AJobOfPytorchFindsItsMasterAndCompletesWithIt) {
    const std::string job = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/pytorch-job";
    apply_example("lab/pytorch-job.yaml");
    live(5'000);
    EXPECT_EQ(bound("volcano.sh/job-name=pytorch-job"), "3/3");
    EXPECT_EQ(text_at(get(job), "status.state.phase"), "Running");
    const Object worker = get("/api/v1/namespaces/default/pods/pytorch-job-worker-1");
    EXPECT_THAT(
        json::serialize(worker),
        AllOf(HasSubstr(R"({"name":"MASTER_ADDR","value":"pytorch-job-master-0.pytorch-job"})"),
              HasSubstr(R"({"name":"RANK","value":"2"})")));
    EXPECT_FALSE(get("/api/v1/namespaces/default/services/pytorch-job").empty());

    live(60'000);

    EXPECT_EQ(text_at(get(job), "status.state.phase"), "Completed");
}

TEST_F(Dialects, AJobOfMpiWaitsForItsWorkersAndGoesWhenItsTimeIsOver) {
    const std::string job = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/mpi-job";
    apply_example("lab/mpi-job.yaml");
    run_for(1'000);  // nothing is scheduled yet
    EXPECT_EQ(bound("volcano.sh/task-spec=mpiworker"), "0/2");
    EXPECT_EQ(bound("volcano.sh/task-spec=mpimaster"), "0/0");
    live(10'000);
    EXPECT_EQ(bound("volcano.sh/task-spec=mpiworker"), "2/2");
    EXPECT_EQ(bound("volcano.sh/task-spec=mpimaster"), "1/1")
        << testing::PrintToString(events("Pod"));
    const Object secret = get("/api/v1/namespaces/default/secrets/mpi-job-ssh");
    EXPECT_NE(kube::value_at(secret, "data.id_rsa"), nullptr);
    EXPECT_NE(kube::value_at(secret, "data.config"), nullptr);

    live(30'000);
    EXPECT_EQ(text_at(get(job), "status.state.phase"), "Completed");
    live(70'000);
    EXPECT_TRUE(get(job).empty());
}

struct PhaseCase {
    std::string_view name;
    std::string_view before;
    PluginMembers members;
    std::string_view after;
};
void PrintTo(const PhaseCase& of, std::ostream* out) { *out << of.name; }

class PluginPhase : public testing::TestWithParam<PhaseCase> {};

TEST_P(PluginPhase, FollowsItsMembers) {
    EXPECT_EQ(next_plugin_phase(GetParam().before, 3, GetParam().members), GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    All, PluginPhase,
    testing::Values(
        PhaseCase{"Nothing", "", {}, "Pending"},
        PhaseCase{"TooFew", "Pending", {.all = 2}, "Pending"},
        PhaseCase{"AllWait", "Pending", {.all = 3}, "Scheduling"},
        PhaseCase{"Some", "Scheduling", {.all = 3, .scheduled = 3, .running = 2}, "Scheduling"},
        PhaseCase{"All", "Scheduling", {.all = 3, .scheduled = 3, .running = 3}, "Running"},
        PhaseCase{"OneFailed",
                  "Running",
                  {.all = 3, .scheduled = 3, .running = 2, .failed = 1},
                  "Failed"},
        PhaseCase{"Over", "Running", {.all = 3, .scheduled = 3, .succeeded = 3}, "Finished"},
        PhaseCase{"StaysOver", "Finished", {}, "Finished"}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace muster::lab
