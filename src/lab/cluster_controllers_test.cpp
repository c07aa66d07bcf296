#include "lab/whole_lab_test.h"

#include <gmock/gmock.h>

#include <ostream>

namespace muster::lab {
namespace {

namespace json = boost::json;
using kube::int_at;
using kube::text_at;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ClusterControllersTest : public WholeLab {
protected:
    void SetUp() override {
        start("2x4");
        start_scheduler();
    }
    void web(int replicas) {
        apply(fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{{name: c, image: "web:1"}}]
)",
                          replicas));
        live(4'000);
    }
    void budget(const std::string& spec) {
        apply(fmt::format(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web}}
spec: {{selector: {{matchLabels: {{app: web}}}}, {}}}
)",
                          spec));
        live(1'000);
    }
    Object budget() { return get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web"); }
    /// "healthy of expected, at least desired, allowed"
    std::string numbers() {
        const Object found = budget();
        return fmt::format(
            "{} of {}, at least {}, allowed {}", int_at(found, "status.currentHealthy"),
            int_at(found, "status.expectedPods"), int_at(found, "status.desiredHealthy"),
            int_at(found, "status.disruptionsAllowed"));
    }
    net::HttpResponse evict(const std::string& pod, const std::string& more = "") {
        return send("POST", "/api/v1/namespaces/default/pods/" + pod + "/eviction" + more,
                    fmt::format(R"({{"apiVersion":"policy/v1","kind":"Eviction",
                                     "metadata":{{"name":"{}"}}}})",
                                pod));
    }
    std::vector<std::string> names(const std::string& selector) {
        std::vector<std::string> out;
        for (const Object& pod : list("/api/v1/pods?labelSelector=" + selector)) {
            out.emplace_back(text_at(pod, "metadata.name"));
        }
        return out;
    }
};

TEST_F(ClusterControllersTest, EachNamespaceHasADefaultServiceAccount) {
    make(known::namespaces, "",
         {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "team"}}}});
    run_for(1'000);
    const std::string account = "/api/v1/namespaces/team/serviceaccounts/default";
    EXPECT_FALSE(get("/api/v1/namespaces/default/serviceaccounts/default").empty());
    EXPECT_FALSE(get(account).empty());

    send("DELETE", account);
    run_for(1'000);

    EXPECT_FALSE(get(account).empty());
}

struct BudgetCase {
    std::string_view name;
    std::string_view spec;
    std::string_view numbers;
    std::string_view reason;
};
void PrintTo(const BudgetCase& of, std::ostream* out) { *out << of.name; }

class BudgetTest : public ClusterControllersTest, public testing::WithParamInterface<BudgetCase> {};

TEST_P(BudgetTest, HasTheNumbersOfAWebOfFivePods) {
    web(5);

    budget(std::string(GetParam().spec));

    EXPECT_EQ(numbers(), GetParam().numbers);
    const Object found = budget();
    EXPECT_EQ(kube::array_at(found, "status.conditions")->at(0).at("reason"),
              json::value(GetParam().reason));
    EXPECT_EQ(int_at(budget(), "status.observedGeneration"), 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, BudgetTest,
    testing::Values(
        BudgetCase{"Number", "minAvailable: 3", "5 of 5, at least 3, allowed 2", "SufficientPods"},
        BudgetCase{"All", "minAvailable: 5", "5 of 5, at least 5, allowed 0", "InsufficientPods"},
        BudgetCase{"ShareIsRoundedUp", "minAvailable: 50%", "5 of 5, at least 3, allowed 2",
                   "SufficientPods"},
        BudgetCase{"Unavailable", "maxUnavailable: 1", "5 of 5, at least 4, allowed 1",
                   "SufficientPods"},
        BudgetCase{"UnavailableShare", "maxUnavailable: 30%", "5 of 5, at least 3, allowed 2",
                   "SufficientPods"},
        BudgetCase{"NothingSaid", "", "5 of 0, at least 0, allowed 0", "InsufficientPods"}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_F(ClusterControllersTest, EvictionsCountDownAndGoOnWhenAReplacementIsReady) {
    web(3);
    budget("minAvailable: 2");
    const auto pods = names("app=web");
    ASSERT_EQ(pods.size(), 3u);

    EXPECT_EQ(evict(pods[0]).status, 201);
    const auto refused = evict(pods[1]);

    EXPECT_EQ(refused.status, 429);  // before any controller has looked
    EXPECT_THAT(refused.body, HasSubstr("needs 2 healthy pods and has 3 currently"));
    live(8'000);
    EXPECT_EQ(numbers(), "3 of 3, at least 2, allowed 1");
    EXPECT_EQ(kube::value_at(budget(), "status.disruptedPods"), nullptr);
    EXPECT_EQ(evict(pods[1]).status, 201);
}

TEST_F(ClusterControllersTest, ADryEvictionIsCheckedAndCountsNothing) {
    web(2);
    budget("minAvailable: 1");
    const auto pods = names("app=web");

    EXPECT_EQ(evict(pods.at(0), "?dryRun=All").status, 201);

    EXPECT_EQ(numbers(), "2 of 2, at least 1, allowed 1");
    EXPECT_EQ(names("app=web").size(), 2u);
}

TEST_F(ClusterControllersTest, WhoServesNobodyMayGoWhenTheOthersAreEnough) {
    web(2);
    budget("minAvailable: 1");
    const auto pods = names("app=web");
    const std::string status = "/api/v1/namespaces/default/pods/" + pods.at(0) + "/status";
    send("PATCH", status, R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})",
         "application/strategic-merge-patch+json");
    live(500);
    ASSERT_EQ(numbers(), "1 of 2, at least 1, allowed 0");

    EXPECT_EQ(evict(pods.at(1)).status, 429);
    EXPECT_EQ(evict(pods.at(0)).status, 201);
}

TEST_F(ClusterControllersTest, WhoServesNobodyStaysWhenTooFewServe) {
    web(2);
    budget("minAvailable: 2");
    const auto pods = names("app=web");
    send("PATCH", "/api/v1/namespaces/default/pods/" + pods.at(0) + "/status",
         R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})",
         "application/strategic-merge-patch+json");
    live(500);

    EXPECT_EQ(evict(pods.at(0)).status, 429);
    merge("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web",
          R"({"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}})");
    EXPECT_EQ(evict(pods.at(0)).status, 201);
}

TEST_F(ClusterControllersTest, ABudgetThatNobodyHasLookedAtLetsNobodyGo) {
    web(2);
    const auto pods = names("app=web");
    ASSERT_EQ(send("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                   R"({"metadata":{"name":"web"},"spec":{"minAvailable":1,
                       "selector":{"matchLabels":{"app":"web"}}}})")
                  .status,
              201);

    const auto refused = evict(pods.at(0));

    EXPECT_EQ(refused.status, 429);
    EXPECT_THAT(refused.body, HasSubstr("still being processed"));
    EXPECT_THAT(refused.body, HasSubstr("\"retryAfterSeconds\":10"));
}

TEST_F(ClusterControllersTest, AShareOfWhatHasNoScaleIsNotKnown) {
    apply(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "web:1", command: [sleep, "600"]}]
)");
    live(3'000);

    budget("maxUnavailable: 1");

    EXPECT_EQ(int_at(budget(), "status.disruptionsAllowed", -1), 0);
    EXPECT_THAT(events("PodDisruptionBudget"),
                Contains(StartsWith("CalculateExpectedPodCountFailed: Job train has no scale")));
}

class ClaimTest : public ClusterControllersTest {
protected:
    void pod(const std::string& name, const std::string& command) {
        apply(fmt::format(R"(
apiVersion: v1
kind: Pod
metadata: {{name: {}}}
spec:
  schedulerName: nobody
  restartPolicy: Never
  resourceClaims: [{{name: gpu, resourceClaimTemplateName: one-gpu}}]
  containers: [{{name: c, image: "web:1", command: {}, resources: {{claims: [{{name: gpu}}]}}}}]
)",
                          name, command));
    }
    void claim_template() {
        apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec:
  metadata: {labels: {team: research}}
  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
)");
    }
    std::vector<Object> claims() { return list("/apis/resource.k8s.io/v1/resourceclaims"); }
};

TEST_F(ClaimTest, EachPodHasAClaimOfItsOwn) {
    claim_template();
    pod("a", "[sleep, \"5\"]");
    run_for(1'000);
    ASSERT_EQ(claims().size(), 1u);
    const Object claim = claims()[0];
    EXPECT_THAT(std::string(text_at(claim, "metadata.name")), StartsWith("a-gpu-"));
    EXPECT_EQ(kube::label_of(claim, "team"), "research");
    EXPECT_EQ(json::value(claim).at_pointer("/spec/devices/requests/0/exactly/deviceClassName"),
              json::value("gpu.nvidia.com"));
    const Object made = get("/api/v1/namespaces/default/pods/a");
    EXPECT_EQ(json::value(made).at_pointer("/status/resourceClaimStatuses/0/resourceClaimName"),
              json::value(text_at(claim, "metadata.name")));

    send("DELETE", "/api/v1/namespaces/default/pods/a");
    run_for(1'000);

    EXPECT_THAT(claims(), IsEmpty());
}

TEST_F(ClaimTest, APodWaitsForItsTemplate) {
    pod("a", "[sleep, \"5\"]");
    run_for(1'000);
    EXPECT_THAT(claims(), IsEmpty());
    EXPECT_THAT(events("Pod"), Contains(HasSubstr("\"one-gpu\" not found")));

    claim_template();
    run_for(10'000);

    EXPECT_EQ(claims().size(), 1u);
}

TEST_F(ClaimTest, AnEndedPodGivesItsClaimAndReservationsBack) {
    claim_template();
    pod("a", "[\"true\"]");
    apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
)");
    const Object made = get("/api/v1/namespaces/default/pods/a");
    merge("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/shared/status",
          fmt::format(R"({{"status":{{"allocation":{{"devices":{{}}}},"reservedFor":[
                           {{"resource":"pods","name":"a","uid":"{}"}}]}}}})",
                      kube::uid_of(made)));
    run_for(1'000);
    ASSERT_EQ(claims().size(), 2u);
    ASSERT_NE(kube::value_at(claims()[1], "status.reservedFor"), nullptr);

    merge("/api/v1/namespaces/default/pods/a/status", R"({"status":{"phase":"Succeeded"}})");
    run_for(1'000);

    ASSERT_EQ(claims().size(), 1u);
    EXPECT_EQ(kube::value_at(claims()[0], "status.reservedFor"), nullptr);
    EXPECT_EQ(kube::value_at(claims()[0], "status.allocation"), nullptr);
}

}  // namespace
}  // namespace muster::lab
