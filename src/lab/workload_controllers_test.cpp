#include "lab/workload_controllers.h"

#include "kube/objects.h"
#include "lab/fake_api_test.h"
#include "lab/fake_kubelet.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace muster::lab {
namespace {

namespace json = boost::json;
using kube::condition_of;
using kube::int_at;
using kube::text_at;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// The controllers, a fake node, and a scheduler that puts every pod there at once.
class WorkloadTest : public testing::Test {
protected:
    WorkloadTest()
        : kubelet(api, api.clock(), {.start_latency = 500, .grace_max = 500}),
          scheduler(api, {.group = "", .version = "v1", .plural = "pods"},
                    [this](kube::Informer::Change change, const kube::ObjectName& name,
                           const json::object& pod, const json::object*) {
                        const bool is_free = text_at(pod, "spec.nodeName").empty();
                        if (change == kube::Informer::Change::gone || !is_free) { return; }
                        kube::Call call;
                        call.method = "POST";
                        call.target =
                            kube::path_of({.group = "", .version = "v1", .plural = "pods"},
                                          name.first, name.second, "binding");
                        call.body = R"({"target":{"name":"a"}})";
                        api.call(std::move(call), [](const Result<kube::Answer>&) {});
                    }) {
        api.send("POST", "/api/v1/nodes",
                 R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a",
                     "annotations":{"lab.muster/fake":"true"}}})");
        start();
        kubelet.start();
        scheduler.start();
        api.run_for(50);
    }

    void start() {
        controllers = std::make_unique<WorkloadControllers>(api, api.clock());
        controllers->start();
    }

    static std::string pods_of(const std::string& command, const std::string& policy = "Never") {
        return fmt::format(
            R"("template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"restartPolicy":"{}",
                "containers":[{{"name":"main","image":"one","command":{}}}]}}}})",
            policy, command);
    }
    void create(const std::string& path, const std::string& kind, const std::string& spec) {
        const bool is_batch = kind == "Job" || kind == "CronJob";
        const std::string object = fmt::format(
            R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"w"}},"spec":{{{}}}}})",
            is_batch ? "batch/v1" : "apps/v1", kind, spec);
        ASSERT_EQ(api.send("POST", path, object), 201);
    }
    void create_job(const std::string& spec) { create(jobs, "Job", spec); }
    void patch(const std::string& path, const std::string& body) {
        ASSERT_EQ(api.send("PATCH", path, body, "application/merge-patch+json"), 200);
    }
    const json::object& object(const std::string& path) {
        static const json::object none;
        const json::object* found = api.find(path);
        return found ? *found : none;
    }
    const json::object& job() { return object(jobs + "/w"); }
    std::vector<std::string> pod_texts(std::string_view field) {
        return api.texts("/api/v1/pods", field);
    }
    /// "running/all"
    std::string running() {
        const auto phases = pod_texts("status.phase");
        return fmt::format("{}/{}", std::count(phases.begin(), phases.end(), "Running"),
                           phases.size());
    }
    std::vector<std::string> events() { return api.texts("/api/v1/events", "reason"); }
    bool job_has_event(std::string_view reason) {
        const auto all = events();
        return std::find(all.begin(), all.end(), reason) != all.end();
    }

    const std::string jobs = "/apis/batch/v1/namespaces/team/jobs";
    const std::string sets = "/apis/apps/v1/namespaces/team/replicasets";
    const std::string deployments = "/apis/apps/v1/namespaces/team/deployments";
    const std::string stateful = "/apis/apps/v1/namespaces/team/statefulsets";
    const std::string crons = "/apis/batch/v1/namespaces/team/cronjobs";
    FakeApi api;
    FakeKubelet kubelet;
    kube::Informer scheduler;
    std::unique_ptr<WorkloadControllers> controllers;
};

TEST_F(WorkloadTest, AJobRunsToItsCompletions) {
    create_job(R"("parallelism":2,"completions":5,)" + pods_of(R"(["sleep","10"])"));
    api.run_for(2'000);
    EXPECT_EQ(running(), "2/2");
    EXPECT_EQ(int_at(job(), "status.active"), 2);
    EXPECT_EQ(int_at(job(), "status.ready"), 2);
    EXPECT_NE(text_at(job(), "status.startTime"), "");
    EXPECT_THAT(pod_texts("metadata.generateName"), Each("w-"));
    EXPECT_EQ(kube::label_of(*api.all("/api/v1/pods")[0], "batch.kubernetes.io/job-name"), "w");
    api.run_for(40'000);

    EXPECT_EQ(api.all("/api/v1/pods").size(), 5u);
    EXPECT_EQ(int_at(job(), "status.succeeded"), 5);
    EXPECT_EQ(kube::value_at(job(), "status.active"), nullptr);
    EXPECT_EQ(condition_of(job(), "Complete"), "True");
    EXPECT_NE(text_at(job(), "status.completionTime"), "");
    EXPECT_THAT(events(), Contains("SuccessfulCreate"));
    EXPECT_TRUE(job_has_event("Completed"));
}

TEST_F(WorkloadTest, AJobThatFailsTooOftenEnds) {
    create_job(R"("parallelism":1,"backoffLimit":1,)" + pods_of(R"(["sh","-c","exit 3"])"));
    api.run_for(8'000);
    EXPECT_EQ(api.all("/api/v1/pods").size(), 1u);  // waits before it tries again
    EXPECT_EQ(int_at(job(), "status.failed"), 1);
    api.run_for(10'000);

    EXPECT_EQ(api.all("/api/v1/pods").size(), 2u);
    EXPECT_EQ(condition_of(job(), "Failed"), "True");
    EXPECT_EQ(int_at(job(), "status.failed"), 2);
    EXPECT_TRUE(job_has_event("BackoffLimitExceeded"));
}

TEST_F(WorkloadTest, AnEndedJobTakesItsOtherPodsAway) {
    create_job(R"("parallelism":2,"activeDeadlineSeconds":5,)" + pods_of(R"(["sleep","900"])"));
    api.run_for(3'000);
    EXPECT_EQ(running(), "2/2");
    api.run_for(5'000);

    EXPECT_EQ(condition_of(job(), "Failed"), "True");
    EXPECT_EQ(running(), "0/0");
    EXPECT_TRUE(job_has_event("DeadlineExceeded"));
}

TEST_F(WorkloadTest, AnIndexedJobMakesOnePodForEachIndex) {
    create_job(R"("parallelism":2,"completions":3,"completionMode":"Indexed",)" +
               pods_of(R"(["sleep","10"])"));
    api.run_for(2'000);
    const json::object& pod = *api.all("/api/v1/pods")[1];
    EXPECT_THAT(pod_texts("metadata.name"), ElementsAre(StartsWith("w-0-"), StartsWith("w-1-")));
    EXPECT_EQ(kube::annotation_of(pod, "batch.kubernetes.io/job-completion-index"), "1");
    EXPECT_EQ(text_at(pod, "spec.hostname"), "w-1");
    EXPECT_THAT(json::serialize(pod), HasSubstr("JOB_COMPLETION_INDEX"));
    api.run_for(30'000);

    EXPECT_EQ(text_at(job(), "status.completedIndexes"), "0-2");
    EXPECT_EQ(condition_of(job(), "Complete"), "True");
}

TEST_F(WorkloadTest, AFailureThatARuleKnowsEndsTheJob) {
    create_job(
        R"("podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{
            "operator":"In","values":[42]}}]},)" +
        pods_of(R"(["sh","-c","exit 42"])"));
    api.run_for(5'000);

    EXPECT_EQ(condition_of(job(), "Failed"), "True");
    EXPECT_EQ(int_at(job(), "status.failed"), 1);
    EXPECT_TRUE(job_has_event("PodFailurePolicy"));
    EXPECT_THAT(json::serialize(job()),
                HasSubstr("failed with exit code 42 matching FailJob rule at index 0"));
}

TEST_F(WorkloadTest, AFailureThatIsIgnoredDoesNotCount) {
    create_job(
        R"("backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{
            "operator":"NotIn","values":[1]}}]},)" +
        pods_of(R"(["sh","-c","exit 3"])"));
    api.run_for(5'000);

    EXPECT_EQ(condition_of(job(), "Failed"), "");
    EXPECT_EQ(kube::value_at(job(), "status.failed"), nullptr);
    EXPECT_GT(api.all("/api/v1/pods").size(), 1U);
}

TEST_F(WorkloadTest, AnIndexHasALimitOfItsOwn) {
    create_job(
        R"("completions":2,"parallelism":2,"completionMode":"Indexed","backoffLimitPerIndex":0,)" +
        pods_of(R"(["sh","-c","exit 1"])"));
    api.run_for(5'000);

    EXPECT_EQ(condition_of(job(), "Failed"), "True");
    EXPECT_EQ(text_at(job(), "status.failedIndexes"), "0,1");
    EXPECT_TRUE(job_has_event("FailedIndexes"));
}

TEST_F(WorkloadTest, AJobIsDoneWhenItsLeaderIs) {
    create_job(
        R"("completions":3,"parallelism":1,"completionMode":"Indexed",
            "successPolicy":{"rules":[{"succeededIndexes":"0"}]},)" +
        pods_of(R"(["sleep","3"])"));
    api.run_for(8'000);

    EXPECT_EQ(condition_of(job(), "Complete"), "True");
    EXPECT_EQ(text_at(job(), "status.completedIndexes"), "0");
    EXPECT_THAT(json::serialize(job()), HasSubstr("Matched rules at index 0"));
}

TEST_F(WorkloadTest, ADeletedPodOfAJobIsReplacedAndCountsAsFailed) {
    create_job(pods_of(R"(["sleep","20"])"));
    api.run_for(2'000);
    api.send("DELETE", "/api/v1/namespaces/team/pods/" + pod_texts("metadata.name").at(0), "");
    api.run_for(15'000);

    EXPECT_EQ(running(), "1/1");
    EXPECT_EQ(int_at(job(), "status.failed"), 1);
}

TEST_F(WorkloadTest, CountsOfAJobOutliveItsPodsAndARestart) {
    create_job(R"("completions":3,)" + pods_of(R"(["sleep","10"])"));
    api.run_for(13'000);
    EXPECT_EQ(int_at(job(), "status.succeeded"), 1);
    controllers.reset();
    const auto phases = api.texts("/api/v1/pods", "status.phase");
    const auto names = pod_texts("metadata.name");
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (phases[i] != "Succeeded") { continue; }
        api.send("DELETE", "/api/v1/namespaces/team/pods/" + names[i],
                 R"({"gracePeriodSeconds":0})");
    }
    start();
    api.run_for(12'000);
    EXPECT_EQ(int_at(job(), "status.succeeded"), 2);
    api.run_for(12'000);

    EXPECT_EQ(condition_of(job(), "Complete"), "True");
    EXPECT_EQ(int_at(job(), "status.succeeded"), 3);
}

TEST_F(WorkloadTest, ASuspendedJobHoldsNothingAndResumes) {
    create_job(R"("parallelism":2,"suspend":true,)" + pods_of(R"(["sleep","90"])"));
    api.run_for(2'000);
    EXPECT_EQ(running(), "0/0");
    EXPECT_EQ(condition_of(job(), "Suspended"), "True");
    patch(jobs + "/w", R"({"spec":{"suspend":false}})");
    api.run_for(2'000);
    EXPECT_EQ(running(), "2/2");
    EXPECT_EQ(condition_of(job(), "Suspended"), "False");
    patch(jobs + "/w", R"({"spec":{"suspend":true}})");
    api.run_for(2'000);

    EXPECT_EQ(running(), "0/0");
    EXPECT_EQ(int_at(job(), "status.failed"), 0);
    EXPECT_EQ(text_at(job(), "status.startTime"), "");
}

TEST_F(WorkloadTest, AnEndedJobIsDeletedWhenItsTimeIsOver) {
    create_job(R"("ttlSecondsAfterFinished":30,)" + pods_of(R"(["true"])"));
    api.run_for(20'000);
    EXPECT_EQ(condition_of(job(), "Complete"), "True");
    api.run_for(15'000);

    EXPECT_EQ(api.find(jobs + "/w"), nullptr);
}

TEST_F(WorkloadTest, RefusedPodsAreToldAndTriedAgain) {
    create_job(R"("parallelism":3,"completions":3,)" + pods_of(R"(["sleep","90"])"));
    api.refuse_creates(1);
    api.run_for(500);
    EXPECT_EQ(running(), "0/0");
    api.run_for(5'000);

    EXPECT_EQ(running(), "3/3");
    EXPECT_THAT(events(), Contains("FailedCreate"));
}

TEST_F(WorkloadTest, AReplicaSetKeepsItsNumber) {
    create(sets, "ReplicaSet", R"("replicas":40,)" + pods_of(R"(["server"])", "Always"));
    api.run_for(3'000);
    EXPECT_EQ(running(), "40/40");
    EXPECT_EQ(int_at(object(sets + "/w"), "status.readyReplicas"), 40);
    patch(sets + "/w", R"({"spec":{"replicas":3}})");
    api.run_for(3'000);
    EXPECT_EQ(running(), "3/3");
    api.send("DELETE", "/api/v1/namespaces/team/pods/" + pod_texts("metadata.name").at(0), "");
    api.run_for(3'000);

    EXPECT_EQ(running(), "3/3");
    EXPECT_EQ(int_at(object(sets + "/w"), "status.availableReplicas"), 3);
    EXPECT_EQ(int_at(object(sets + "/w"), "status.observedGeneration"), 2);
}

TEST_F(WorkloadTest, ADeploymentRollsWithinItsBounds) {
    create(deployments, "Deployment",
           R"("replicas":4,"selector":{"matchLabels":{"app":"web"}},
              "strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":1}},)" +
               pods_of(R"(["server"])", "Always"));
    api.run_for(3'000);
    EXPECT_EQ(running(), "4/4");
    EXPECT_EQ(kube::annotation_of(object(deployments + "/w"), "deployment.kubernetes.io/revision"),
              "1");
    EXPECT_NE(kube::label_of(*api.all("/api/v1/pods")[0], "pod-template-hash"), "");

    patch(deployments + "/w",
          R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"two",
              "command":["server"]}]}}}})");
    for (int i = 0; i < 100; ++i) {
        api.run_for(100);
        std::size_t ready = 0;
        std::size_t standing = 0;
        for (const json::object* pod : api.all("/api/v1/pods")) {
            if (kube::is_leaving(*pod)) { continue; }
            ++standing;
            ready += condition_of(*pod, "Ready") == "True" ? 1 : 0;
        }
        ASSERT_GE(ready, 3u);
        ASSERT_LE(standing, 5u);
    }

    const json::object& deployment = object(deployments + "/w");
    EXPECT_EQ(running(), "4/4");
    EXPECT_EQ(int_at(deployment, "status.updatedReplicas"), 4);
    EXPECT_EQ(int_at(deployment, "status.availableReplicas"), 4);
    EXPECT_EQ(condition_of(deployment, "Available"), "True");
    EXPECT_EQ(kube::annotation_of(deployment, "deployment.kubernetes.io/revision"), "2");
    for (const json::object* pod : api.all("/api/v1/pods")) {
        EXPECT_THAT(json::serialize(*pod), HasSubstr(R"("image":"two")"));
    }
    EXPECT_EQ(api.all("/apis/apps/v1/replicasets").size(), 2u);
    EXPECT_THAT(events(), Contains("ScalingReplicaSet"));
}

TEST_F(WorkloadTest, ADeploymentThatMakesNoStepIsTimedOut) {
    create(
        deployments, "Deployment",
        R"("replicas":1,"progressDeadlineSeconds":30,"selector":{"matchLabels":{"app":"web"}},)" +
            pods_of(R"(["server"])", "Always"));
    for (int i = 0; i < 100 && api.all("/apis/apps/v1/replicasets").empty(); ++i) {
        api.run_for(1);
    }
    api.refuse_creates(100'000);
    api.run_for(20'000);
    EXPECT_EQ(condition_of(object(deployments + "/w"), "Progressing"), "True");
    EXPECT_EQ(condition_of(object(deployments + "/w"), "ReplicaFailure"), "True");
    api.run_for(20'000);

    EXPECT_EQ(condition_of(object(deployments + "/w"), "Progressing"), "False");
    EXPECT_THAT(json::serialize(object(deployments + "/w")), HasSubstr("ProgressDeadlineExceeded"));
    api.refuse_creates(0);
    api.run_for(90'000);
    EXPECT_EQ(condition_of(object(deployments + "/w"), "Progressing"), "True");
    EXPECT_EQ(condition_of(object(deployments + "/w"), "ReplicaFailure"), "");
    EXPECT_THAT(json::serialize(object(deployments + "/w")), HasSubstr("NewReplicaSetAvailable"));
}

TEST_F(WorkloadTest, ADeploymentGoesBackToATemplateThatItHad) {
    create(deployments, "Deployment", R"("replicas":2,)" + pods_of(R"(["server"])", "Always"));
    api.run_for(3'000);
    const std::string to = R"({{"spec":{{"template":{{"metadata":{{"labels":{{"v":{}}}}}}}}}}})";
    patch(deployments + "/w", fmt::format(fmt::runtime(to), "\"2\""));
    api.run_for(10'000);
    patch(deployments + "/w", fmt::format(fmt::runtime(to), "null"));
    api.run_for(10'000);

    EXPECT_EQ(api.all("/apis/apps/v1/replicasets").size(), 2u);
    EXPECT_EQ(kube::annotation_of(object(deployments + "/w"), "deployment.kubernetes.io/revision"),
              "3");
    EXPECT_EQ(running(), "2/2");
}

TEST_F(WorkloadTest, RecreateWaitsUntilTheOldOnesAreGone) {
    create(deployments, "Deployment",
           R"("replicas":2,"strategy":{"type":"Recreate"},)" + pods_of(R"(["server"])", "Always"));
    api.run_for(3'000);
    patch(deployments + "/w", R"({"spec":{"template":{"metadata":{"labels":{"v":"2"}}}}})");
    std::set<std::string> labels;
    for (int i = 0; i < 50; ++i) {
        api.run_for(100);
        labels.clear();
        for (const json::object* pod : api.all("/api/v1/pods")) {
            if (!kube::is_leaving(*pod)) { labels.emplace(kube::label_of(*pod, "v")); }
        }
        ASSERT_LE(labels.size(), 1u);
    }

    EXPECT_THAT(labels, ElementsAre("2"));
    EXPECT_EQ(running(), "2/2");
}

TEST_F(WorkloadTest, AStatefulSetStartsInOrderAndShrinksFromTheEnd) {
    create(stateful, "StatefulSet", R"("replicas":3,)" + pods_of(R"(["server"])", "Always"));
    api.run_for(400);
    EXPECT_THAT(pod_texts("metadata.name"), ElementsAre("w-0"));
    api.run_for(3'000);
    EXPECT_THAT(pod_texts("metadata.name"), ElementsAre("w-0", "w-1", "w-2"));
    EXPECT_EQ(running(), "3/3");
    EXPECT_EQ(int_at(object(stateful + "/w"), "status.readyReplicas"), 3);
    patch(stateful + "/w", R"({"spec":{"replicas":1}})");
    api.run_for(200);
    EXPECT_EQ(running(), "3/3");
    api.run_for(400);
    EXPECT_EQ(running(), "2/2");
    api.run_for(2'000);

    EXPECT_THAT(pod_texts("metadata.name"), ElementsAre("w-0"));
}

TEST_F(WorkloadTest, AParallelStatefulSetStartsAtOnceAndUpdatesFromTheEnd) {
    create(
        stateful, "StatefulSet",
        R"("replicas":3,"podManagementPolicy":"Parallel",)" + pods_of(R"(["server"])", "Always"));
    api.run_for(400);
    EXPECT_EQ(api.all("/api/v1/pods").size(), 3u);
    api.run_for(2'000);
    patch(stateful + "/w", R"({"spec":{"template":{"metadata":{"labels":{"v":"2"}}}}})");
    api.run_for(1'300);
    EXPECT_EQ(kube::label_of(object("/api/v1/namespaces/team/pods/w-0"), "v"), "");
    EXPECT_EQ(kube::label_of(object("/api/v1/namespaces/team/pods/w-2"), "v"), "2");
    api.run_for(8'000);

    EXPECT_EQ(kube::label_of(object("/api/v1/namespaces/team/pods/w-0"), "v"), "2");
    EXPECT_EQ(text_at(object(stateful + "/w"), "status.currentRevision"),
              text_at(object(stateful + "/w"), "status.updateRevision"));
}

TEST_F(WorkloadTest, ACronJobMakesAJobAtItsTimes) {
    create(crons, "CronJob",
           R"("schedule":"*/5 * * * *","successfulJobsHistoryLimit":2,"jobTemplate":{"spec":{)" +
               pods_of(R"(["true"])") + "}}");
    api.run_for(290'000);
    EXPECT_THAT(api.all("/apis/batch/v1/jobs"), IsEmpty());
    api.run_for(15'000);
    EXPECT_EQ(api.all("/apis/batch/v1/jobs").size(), 1u);
    EXPECT_EQ(text_at(object(crons + "/w"), "status.lastScheduleTime"), "2026-11-29T10:05:00Z");
    api.run_for(905'000);

    EXPECT_EQ(api.all("/apis/batch/v1/jobs").size(), 2u);  // of four, two are kept
    EXPECT_EQ(text_at(object(crons + "/w"), "status.lastScheduleTime"), "2026-11-29T10:20:00Z");
    EXPECT_NE(text_at(object(crons + "/w"), "status.lastSuccessfulTime"), "");
}

struct ConcurrencyCase {
    std::string policy;
    std::size_t jobs;
    std::string last;  // the minute that the last job is of
};

class CronConcurrency : public WorkloadTest, public testing::WithParamInterface<ConcurrencyCase> {};

TEST_P(CronConcurrency, IsKept) {
    create(crons, "CronJob",
           fmt::format(R"("schedule":"* * * * *","concurrencyPolicy":"{}",
                          "jobTemplate":{{"spec":{{{}}}}})",
                       GetParam().policy, pods_of(R"(["sleep","900"])")));
    api.run_for(125'000);

    EXPECT_EQ(api.all("/apis/batch/v1/jobs").size(), GetParam().jobs);
    const json::object& last = *api.all("/apis/batch/v1/jobs").back();
    EXPECT_EQ(kube::annotation_of(last, "batch.kubernetes.io/cronjob-scheduled-timestamp"),
              GetParam().last);
    EXPECT_EQ(kube::array_at(object(crons + "/w"), "status.active")->size(), GetParam().jobs);
}

INSTANTIATE_TEST_SUITE_P(Policy, CronConcurrency,
                         testing::Values(ConcurrencyCase{"Allow", 2, "2026-11-29T10:02:00Z"},
                                         ConcurrencyCase{"Forbid", 1, "2026-11-29T10:01:00Z"},
                                         ConcurrencyCase{"Replace", 1, "2026-11-29T10:02:00Z"}));

}  // namespace
}  // namespace muster::lab
