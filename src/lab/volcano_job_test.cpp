#include "lab/volcano_job.h"

#include "lab/queue_status.h"
#include "lab/volcano_api_test.h"
#include "lab/volcano_object.h"

#include <boost/json.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace muster::lab {
namespace {

namespace json = boost::json;

const std::string jobs_path = "/apis/batch.volcano.sh/v1alpha1/namespaces/team/jobs";
const std::string groups_path = "/apis/scheduling.volcano.sh/v1beta1/podgroups";
const std::string pods_path = "/api/v1/pods";

struct JobText {
    int replicas = 6;
    std::string spec;  // more of it, each with a comma before it
    std::string task;  // the same
};

std::string job_text(const JobText& text) {
    return fmt::format(
        R"({{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{{"name":"train"}},)"
        R"("spec":{{"schedulerName":"volcano","queue":"default"{},"tasks":[{{"name":"worker",)"
        R"("replicas":{}{},"template":{{"spec":{{"containers":[{{"name":"c","image":"i",)"
        R"("resources":{{"requests":{{"nvidia.com/gpu":1,"memory":"1Gi"}}}}}}]}}}}}}]}}}})",
        text.spec, text.replicas, text.task);
}

class VolcanoJob : public testing::Test {
protected:
    VolcanoJob() : jobs(api, [this] { return api.now; }), queues(api) {
        jobs.start();
        queues.start();
        api.run_for(200);
    }

    void create(const std::string& text) {
        ASSERT_EQ(api.send("POST", jobs_path, text).status, 201);
        api.run_for(300);
    }
    void patch(const std::string& name, std::string_view spec) {
        ASSERT_EQ(api.send("PATCH", jobs_path + "/" + name, spec).status, 200);
        api.run_for(300);
    }
    void set_pod(const std::string& name, std::string_view phase, int exit_code = 0) {
        const std::string status = fmt::format(
            R"({{"status":{{"phase":"{}","containerStatuses":[{{"name":"c","state":{{"terminated":{{"exitCode":{}}}}}}}]}}}})",
            phase, exit_code);
        ASSERT_EQ(
            api.send("PATCH", "/api/v1/namespaces/team/pods/" + name + "/status", status).status,
            200);
    }
    void bind_all() {
        for (const std::string& name : api.texts(pods_path, "metadata.name")) {
            api.send("PATCH", "/api/v1/namespaces/team/pods/" + name,
                     R"({"spec":{"nodeName":"n1"}})");
            set_pod(name, "Running");
        }
        api.run_for(300);
    }
    void set_group(std::string_view status) {
        const auto all = api.all(groups_path);
        ASSERT_EQ(all.size(), 1U);
        const std::string name(text_at(*all[0], "metadata.name"));
        ASSERT_EQ(api.send("PATCH",
                           "/apis/scheduling.volcano.sh/v1beta1/namespaces/team/podgroups/" + name +
                               "/status",
                           status)
                      .status,
                  200);
        api.run_for(300);
    }
    /// Terminating pods end, as a kubelet would end them.
    void end_pods() {
        api.end_pods();
        api.run_for(300);
    }

    const json::object& job(const std::string& name = "train") {
        static const json::object nothing;
        const json::object* found = api.find(jobs_path + "/" + name);
        return found == nullptr ? nothing : *found;
    }
    const json::object& group() {
        static const json::object nothing;
        const auto all = api.all(groups_path);
        return all.size() == 1 ? *all[0] : nothing;
    }
    std::string phase() { return std::string(text_at(job(), "status.state.phase")); }
    std::int64_t count(std::string_view what) {
        return kube::int_at(job(), fmt::format("status.{}", what));
    }
    std::vector<std::string> pod_names() {
        auto names = api.texts(pods_path, "metadata.name");
        std::sort(names.begin(), names.end());
        return names;
    }
    int reasons(const std::string& reason) {
        const auto all = api.texts("/api/v1/events", "reason");
        return static_cast<int>(std::count(all.begin(), all.end(), reason));
    }

    volcano::StrictApi api;
    VolcanoJobs jobs;
    QueueStatus queues;
};

TEST_F(VolcanoJob, MakesThePodGroupAndAllPodsOfTheGang) {
    create(job_text({.spec = R"(,"minAvailable":6)", .task = ""}));

    EXPECT_EQ(pod_names(),
              (std::vector<std::string>{"train-worker-0", "train-worker-1", "train-worker-2",
                                        "train-worker-3", "train-worker-4", "train-worker-5"}));
    const std::string uid(volcano::uid_of(job()));
    EXPECT_EQ(text_at(group(), "metadata.name"), "train-" + uid);
    EXPECT_EQ(volcano::owner_of(group()).uid, uid);
    EXPECT_EQ(json::serialize(group().at("spec")),
              R"({"minMember":6,"queue":"default","minResources":{"count/pods":"6",)"
              R"("memory":"6Gi","nvidia.com/gpu":"6","pods":"6","requests.memory":"6Gi",)"
              R"("requests.nvidia.com/gpu":"6"},"minTaskMember":{"worker":6}})");
    EXPECT_EQ(phase(), "Pending");
    EXPECT_EQ(count("minAvailable"), 6);
    EXPECT_EQ(count("pending"), 6);
    EXPECT_EQ(int_at(job(), "status.taskStatusCount.worker.phase.Pending"), 6);
}

TEST_F(VolcanoJob, LabelsItsPodsAsUsersSelectThem) {
    create(job_text({.replicas = 1, .spec = R"(,"priorityClassName":"high")"}));

    const json::object* pod = api.find("/api/v1/namespaces/team/pods/train-worker-0");
    ASSERT_NE(pod, nullptr);
    const std::string uid(volcano::uid_of(job()));
    EXPECT_EQ(json::serialize(pod->at("metadata").at("labels")),
              R"({"volcano.sh/job-name":"train","volcano.sh/job-namespace":"team",)"
              R"("volcano.sh/queue-name":"default","volcano.sh/task-spec":"worker",)"
              R"("volcano.sh/task-index":"0"})");
    EXPECT_EQ(kube::annotation_of(*pod, "scheduling.k8s.io/group-name"), "train-" + uid);
    EXPECT_EQ(kube::annotation_of(*pod, "volcano.sh/job-version"), "0");
    EXPECT_EQ(text_at(*pod, "spec.schedulerName"), "volcano");
    EXPECT_EQ(text_at(*pod, "spec.priorityClassName"), "high");
    EXPECT_EQ(text_at(group(), "spec.priorityClassName"), "high");
}

TEST_F(VolcanoJob, MakesAllPodsThoughNoneCanStart) {
    create(job_text({.replicas = 10}));
    set_group(R"({"status":{"phase":"Inqueue","conditions":[{"type":"Unschedulable",)"
              R"("status":"True","message":"10 of 10 wait, room for 8"}]}})");

    EXPECT_EQ(pod_names().size(), 10U);
    EXPECT_EQ(phase(), "Pending");
    EXPECT_EQ(text_at(group(), "status.phase"), "Inqueue");
    EXPECT_EQ(reasons("PodGroupPending"), 1);
}

TEST_F(VolcanoJob, RunsWhenItsPodsDo) {
    create(job_text({}));
    set_group(R"({"status":{"phase":"Inqueue"}})");
    bind_all();
    set_group(R"({"status":{"phase":"Running"}})");
    api.run_for(300);

    EXPECT_EQ(phase(), "Running");
    EXPECT_EQ(count("running"), 6);
    const json::object* queue = api.find("/apis/scheduling.volcano.sh/v1beta1/queues/default");
    ASSERT_NE(queue, nullptr);
    EXPECT_EQ(text_at(*queue, "status.state"), "Open");
    EXPECT_EQ(int_at(*queue, "status.running"), 1);
    EXPECT_EQ(int_at(*queue, "status.inqueue", -1), 0);
}

TEST_F(VolcanoJob, DoesNothingWhenThereIsNothingToDo) {
    create(job_text({}));
    bind_all();
    const int before = api.calls;

    api.run_for(60'000);

    EXPECT_EQ(api.calls, before);
}

TEST_F(VolcanoJob, CompletesWhenAllHaveSucceeded) {
    create(job_text({.replicas = 2}));
    bind_all();
    set_pod("train-worker-0", "Succeeded");
    set_pod("train-worker-1", "Succeeded");
    api.run_for(300);

    EXPECT_EQ(phase(), "Completed");
    EXPECT_EQ(count("succeeded"), 2);
    EXPECT_FALSE(text_at(job(), "status.runningDuration").empty());
    EXPECT_EQ(text_at(group(), "status.phase"), "Completed");
    EXPECT_EQ(pod_names().size(), 2U);
}

TEST_F(VolcanoJob, GrowsWhileItsMembersRun) {
    create(job_text({}));
    bind_all();
    std::vector<std::string> before = api.texts(pods_path, "metadata.uid");

    patch("train", R"({"spec":{"minAvailable":10}})");
    ASSERT_EQ(api.send("GET", jobs_path + "/train", "").status, 200);
    json::object grown = job();
    grown["spec"].as_object()["tasks"].as_array()[0].as_object()["replicas"] = 10;
    grown["metadata"].as_object().erase("resourceVersion");
    ASSERT_EQ(api.send("PUT", jobs_path + "/train", json::serialize(grown)).status, 200);
    api.run_for(300);

    EXPECT_EQ(pod_names().size(), 10U);
    const std::vector<std::string> after = api.texts(pods_path, "metadata.uid");
    for (const std::string& uid : before) {
        EXPECT_NE(std::find(after.begin(), after.end(), uid), after.end()) << uid;
    }
    EXPECT_EQ(phase(), "Running");
    EXPECT_EQ(count("running"), 6);
    EXPECT_EQ(count("pending"), 4);
    EXPECT_EQ(count("minAvailable"), 10);
    EXPECT_EQ(int_at(group(), "spec.minMember"), 10);
}

TEST_F(VolcanoJob, ShrinksFromTheHighestIndex) {
    create(job_text({.replicas = 4}));
    json::object less = job();
    less["spec"].as_object()["tasks"].as_array()[0].as_object()["replicas"] = 2;
    less["metadata"].as_object().erase("resourceVersion");

    ASSERT_EQ(api.send("PUT", jobs_path + "/train", json::serialize(less)).status, 200);
    api.run_for(300);
    end_pods();

    EXPECT_EQ(pod_names(), (std::vector<std::string>{"train-worker-0", "train-worker-1"}));
    EXPECT_EQ(int_at(group(), "spec.minMember"), 2);
}

TEST_F(VolcanoJob, TakesItsPodsAndPodGroupWithIt) {
    create(job_text({}));

    ASSERT_EQ(api.send("DELETE", jobs_path + "/train", "").status, 200);
    api.run_for(300);
    end_pods();

    EXPECT_TRUE(pod_names().empty());
    EXPECT_TRUE(api.all(groups_path).empty());
}

TEST_F(VolcanoJob, StartsAnewUnderTheNameOfOneThatIsStillGoing) {
    create(job_text({.spec = R"(,"policies":[{"event":"*","action":"AbortJob"}])"}));
    bind_all();
    ASSERT_EQ(api.send("DELETE", jobs_path + "/train", "").status, 200);

    create(
        job_text({.replicas = 10, .spec = R"(,"policies":[{"event":"*","action":"AbortJob"}])"}));
    end_pods();

    EXPECT_EQ(pod_names().size(), 10U);
    EXPECT_EQ(phase(), "Pending");
    EXPECT_EQ(count("pending"), 10);
}

struct PolicyCase {
    std::string policies;
    std::string phase;  // in the end
    std::int64_t retries = 0;
    std::int64_t version = 0;
    std::size_t pods = 0;      // in the end
    std::size_t replaced = 0;  // of them made anew
};

TEST_F(VolcanoJob, DoesWhatThePolicySaysWhenAPodFails) {
    const std::vector<PolicyCase> cases{
        {R"([])", "Running", 0, 0, 3, 0},
        {R"([{"event":"PodFailed","action":"RestartJob"}])", "Pending", 1, 1, 3, 3},
        {R"([{"event":"PodFailed","action":"RestartTask"}])", "Pending", 1, 0, 3, 3},
        {R"([{"event":"PodFailed","action":"RestartPod"}])", "Pending", 1, 0, 3, 1},
        {R"([{"event":"PodFailed","action":"AbortJob"}])", "Aborted", 0, 0, 1, 0},
        {R"([{"event":"PodFailed","action":"TerminateJob"}])", "Terminated", 0, 0, 1, 0},
        {R"([{"event":"PodFailed","action":"CompleteJob"}])", "Completed", 0, 0, 1, 0},
        {R"([{"event":"PodFailed","action":"ResumeJob"}])", "Running", 0, 0, 3, 0},
        {R"([{"event":"*","action":"TerminateJob"}])", "Terminated", 0, 0, 1, 0},
        {R"([{"events":["PodEvicted","PodFailed"],"action":"AbortJob"}])", "Aborted", 0, 0, 1, 0},
        {R"([{"event":"PodEvicted","action":"AbortJob"}])", "Running", 0, 0, 3, 0},
        {R"([{"exitCode":3,"action":"AbortJob"}])", "Aborted", 0, 0, 1, 0},
        {R"([{"exitCode":4,"action":"AbortJob"}])", "Running", 0, 0, 3, 0},
        {R"([{"exitCode":4,"action":"AbortJob"},{"event":"PodFailed","action":"CompleteJob"}])",
         "Completed", 0, 0, 1, 0},
    };
    for (const PolicyCase& one : cases) {
        SCOPED_TRACE(one.policies);
        create(job_text({.replicas = 3, .spec = ",\"policies\":" + one.policies}));
        bind_all();
        const std::vector<std::string> before = api.texts(pods_path, "metadata.uid");

        set_pod("train-worker-1", "Failed", 3);
        api.run_for(300);
        end_pods();

        EXPECT_EQ(phase(), one.phase);
        EXPECT_EQ(count("retryCount"), one.retries);
        EXPECT_EQ(count("version"), one.version);
        const std::vector<std::string> after = api.texts(pods_path, "metadata.uid");
        EXPECT_EQ(after.size(), one.pods);
        EXPECT_EQ(std::count_if(after.begin(), after.end(),
                                [&](const std::string& uid) {
                                    return std::find(before.begin(), before.end(), uid) ==
                                           before.end();
                                }),
                  static_cast<std::ptrdiff_t>(one.replaced));
        ASSERT_EQ(api.send("DELETE", jobs_path + "/train", "").status, 200);
        api.run_for(300);
        end_pods();
        ASSERT_TRUE(pod_names().empty());
    }
}

TEST_F(VolcanoJob, FailsWhenItsRetriesAreUsedUp) {
    create(job_text(
        {.replicas = 2,
         .spec = R"(,"maxRetry":3,"policies":[{"event":"PodFailed","action":"RestartJob"}])"}));
    for (int i = 0; i < 3; ++i) {
        bind_all();
        ASSERT_EQ(phase(), "Running") << i;
        set_pod("train-worker-0", "Failed", 1);
        api.run_for(300);
        end_pods();
    }

    EXPECT_EQ(phase(), "Failed");
    EXPECT_EQ(count("retryCount"), 3);
    EXPECT_EQ(pod_names(), std::vector<std::string>{"train-worker-0"});
    EXPECT_EQ(text_at(job(), "status.state.message"),
              "PodFailed of pod train-worker-0, exit code 1; retry 3 of at most 3");
    EXPECT_EQ(reasons("ExecuteAction"), 2);  // the first is counted twice
}

TEST_F(VolcanoJob, NoticesThatAPodWasTaken) {
    create(job_text(
        {.replicas = 2, .spec = R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}])"}));
    bind_all();

    ASSERT_EQ(api.send("DELETE", "/api/v1/namespaces/team/pods/train-worker-1", "").status, 200);
    api.run_for(300);
    end_pods();

    EXPECT_EQ(phase(), "Pending");
    EXPECT_EQ(count("retryCount"), 1);
    EXPECT_EQ(count("version"), 1);
    EXPECT_EQ(pod_names().size(), 2U);
}

TEST_F(VolcanoJob, CompletesWhenATaskDoesIfAsked) {
    create(job_text({.replicas = 2,
                     .task = R"(,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}])"}));
    bind_all();
    set_pod("train-worker-0", "Succeeded");
    api.run_for(300);
    ASSERT_EQ(phase(), "Running");

    set_pod("train-worker-1", "Succeeded");
    api.run_for(300);

    EXPECT_EQ(phase(), "Completed");
}

TEST_F(VolcanoJob, AbortsAndResumesOnCommand) {
    create(job_text({.replicas = 2}));
    bind_all();
    const auto command = [&](std::string_view name, std::string_view action) {
        api.send("POST", "/apis/bus.volcano.sh/v1alpha1/namespaces/team/commands",
                 fmt::format(R"({{"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command",)"
                             R"("metadata":{{"name":"{}"}},"action":"{}",)"
                             R"("target":{{"kind":"Job","name":"train"}}}})",
                             name, action));
        api.run_for(300);
        end_pods();
    };

    command("stop", "AbortJob");

    EXPECT_EQ(phase(), "Aborted");
    EXPECT_TRUE(pod_names().empty());
    EXPECT_TRUE(api.all(groups_path).empty());
    EXPECT_TRUE(api.all("/apis/bus.volcano.sh/v1alpha1/commands").empty());

    command("go", "ResumeJob");

    EXPECT_EQ(phase(), "Pending");
    EXPECT_EQ(pod_names().size(), 2U);
    EXPECT_EQ(api.all(groups_path).size(), 1U);
}

TEST_F(VolcanoJob, LetsATaskWaitForThoseItDependsOn) {
    const std::string pod = R"("template":{"spec":{"containers":[{"name":"c","image":"i"}]}})";
    create(R"({"metadata":{"name":"train"},"spec":{"tasks":[{"name":"ps","replicas":2,)" + pod +
           R"(},{"name":"worker","replicas":3,"dependsOn":{"name":["ps"]},)" + pod + "}]}}");

    EXPECT_EQ(pod_names(), (std::vector<std::string>{"train-ps-0", "train-ps-1"}));
    EXPECT_EQ(int_at(group(), "spec.minMember"), 2);
    set_pod("train-ps-0", "Running");
    api.run_for(300);
    EXPECT_EQ(pod_names().size(), 2U);

    set_pod("train-ps-1", "Running");
    api.run_for(300);

    EXPECT_EQ(pod_names().size(), 5U);
    EXPECT_EQ(int_at(group(), "spec.minMember"), 5);
    EXPECT_EQ(phase(), "Pending");
}

TEST_F(VolcanoJob, GoesWhenItsTimeToLiveIsOver) {
    create(job_text({.replicas = 1, .spec = R"(,"ttlSecondsAfterFinished":60)"}));
    bind_all();
    set_pod("train-worker-0", "Succeeded");
    api.run_for(30'000);
    ASSERT_EQ(phase(), "Completed");

    api.run_for(60'000);

    EXPECT_EQ(phase(), "");
    EXPECT_TRUE(api.all(groups_path).empty());
}

TEST_F(VolcanoJob, EndsEarlyWhenEnoughHaveSucceeded) {
    create(job_text({.replicas = 3, .spec = R"(,"minSuccess":1)"}));
    bind_all();
    set_pod("train-worker-2", "Succeeded");
    api.run_for(300);
    end_pods();

    EXPECT_EQ(phase(), "Completed");
    EXPECT_EQ(pod_names(), std::vector<std::string>{"train-worker-2"});
}

TEST_F(VolcanoJob, WaitsForAPodThatIsPendingTooLong) {
    create(job_text(
        {.replicas = 1,
         .spec = R"(,"policies":[{"event":"PodPending","action":"AbortJob","timeout":"10m"}])"}));
    api.run_for(500'000);
    ASSERT_EQ(phase(), "Pending");

    api.run_for(120'000);
    end_pods();

    EXPECT_EQ(phase(), "Aborted");
}

TEST_F(VolcanoJob, WiresHostsAndIndexIntoPods) {
    create(job_text({.replicas = 2, .spec = R"(,"plugins":{"svc":[],"env":[]})"}));

    const json::object* map = api.find("/api/v1/namespaces/team/configmaps/train-svc");
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(json::serialize(map->at("data")),
              R"({"worker.host":"train-worker-0.train\ntrain-worker-1.train",)"
              R"("VC_WORKER_HOSTS":"train-worker-0.train,train-worker-1.train",)"
              R"("VC_WORKER_NUM":"2"})");
    const json::object* service = api.find("/api/v1/namespaces/team/services/train");
    ASSERT_NE(service, nullptr);
    EXPECT_EQ(json::serialize(service->at("spec")),
              R"({"clusterIP":"None","selector":{"volcano.sh/job-name":"train",)"
              R"("volcano.sh/job-namespace":"team"}})");
    const json::object* pod = api.find("/api/v1/namespaces/team/pods/train-worker-1");
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(text_at(*pod, "spec.hostname"), "train-worker-1");
    EXPECT_EQ(text_at(*pod, "spec.subdomain"), "train");
    EXPECT_EQ(json::serialize(pod->at("spec").at("containers").at(0).at("env")),
              R"([{"name":"VC_WORKER_HOSTS","valueFrom":{"configMapKeyRef":{"name":"train-svc",)"
              R"("key":"VC_WORKER_HOSTS"}}},{"name":"VC_WORKER_NUM","valueFrom":)"
              R"({"configMapKeyRef":{"name":"train-svc","key":"VC_WORKER_NUM"}}},)"
              R"({"name":"VK_TASK_INDEX","value":"1"},{"name":"VC_TASK_INDEX","value":"1"}])");
}

TEST_F(VolcanoJob, TriesAgainWhenCreationIsRefused) {
    ASSERT_EQ(api.send("POST", jobs_path, job_text({})).status, 201);
    api.refusals = 3;

    api.run_for(5'000);

    EXPECT_EQ(pod_names().size(), 6U);
    EXPECT_EQ(api.all(groups_path).size(), 1U);
}

TEST_F(VolcanoJob, CountsOnceWhatItsCacheStillShows) {
    create(job_text(
        {.spec = R"(,"policies":[{"event":"PodFailed","action":"RestartPod"}])", .task = ""}));
    bind_all();
    api.watch_delay = 200;

    set_pod("train-worker-2", "Failed", 1);
    api.run_for(2'000);
    end_pods();
    api.run_for(2'000);

    EXPECT_EQ(count("retryCount"), 1);
    EXPECT_EQ(pod_names().size(), 6U);
    EXPECT_EQ(count("running"), 5);
    EXPECT_EQ(count("pending"), 1);
}

TEST_F(VolcanoJob, GoesOnWhereAnEarlierControllerStopped) {
    create(job_text({}));
    bind_all();

    VolcanoJobs second(api, [this] { return api.now; });
    second.start();
    api.run_for(1'000);
    set_pod("train-worker-0", "Failed", 1);
    api.run_for(1'000);

    EXPECT_EQ(pod_names().size(), 6U);
    EXPECT_EQ(count("running"), 5);
    EXPECT_EQ(count("failed"), 1);
}

}  // namespace
}  // namespace muster::lab
