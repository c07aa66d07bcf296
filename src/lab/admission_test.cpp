// LimitRange and ResourceQuota, asked of the whole API.
#include "lab/api_fixture_test.h"

#include <gmock/gmock.h>

#include <ostream>

namespace muster::lab {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

class AdmissionTest : public ApiTest {
protected:
    static std::string container(const std::string& resources, const std::string& name = "main") {
        return fmt::format(R"({{"name":"{}","image":"busybox:1","resources":{}}})", name,
                           resources);
    }
    net::HttpResponse make(const std::string& name, const std::string& spec) {
        return ask("POST", pods,
                   fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},)"
                               R"("spec":{{{}}}}})",
                               name, spec));
    }
    net::HttpResponse make_with(const std::string& name, const std::string& resources) {
        return make(name, R"("containers":[)" + container(resources) + "]");
    }
    net::HttpResponse make_gpu_pod(const std::string& name, int gpus) {
        return make_with(name, fmt::format(R"({{"limits":{{"nvidia.com/gpu":"{}"}}}})", gpus));
    }
    net::HttpResponse make_in(const std::string& plural, const std::string& kind,
                              const std::string& name, const std::string& spec) {
        return ask("POST", "/api/v1/namespaces/default/" + plural,
                   fmt::format(R"({{"apiVersion":"v1","kind":"{}","metadata":{{"name":"{}"}},)"
                               R"("spec":{}}})",
                               kind, name, spec));
    }
    void quota(const std::string& spec, const std::string& name = "team") {
        const auto made = make_in("resourcequotas", "ResourceQuota", name, spec);
        ASSERT_EQ(made.status, 201) << made.body;
    }
    /// status.used as text, in the order of names.
    std::string used(const std::string& name = "team") {
        return at_path(ask("GET", quotas + "/" + name), "/status/used");
    }

    const std::string quotas = "/api/v1/namespaces/default/resourcequotas";
};

// A refused write of a quota's status is nothing that the client asked for.
TEST_F(AdmissionTest, AQuotaWhoseStatusIsNotWrittenIsWrittenLater) {
    bool is_full = false;
    open(std::make_unique<FullDisk>(is_full, "resourcequotas"));
    quota(R"({"hard":{"pods":"2"}})", "one");
    quota(R"({"hard":{"pods":"3"}})", "two");
    is_full = true;

    ASSERT_EQ(make("a", R"("containers":[)" + container("{}") + "]").status, 201);
    EXPECT_EQ(used("one"), R"({"pods":"0"})");

    is_full = false;
    ask("GET", pods);
    EXPECT_EQ(used("one"), R"({"pods":"1"})");
    EXPECT_EQ(used("two"), R"({"pods":"1"})");
}

struct LimitCase {
    std::string_view name;
    std::string_view limit;  // of the LimitRange
    std::string_view resources;
    std::string_view refusal;  // empty = the pod is made
    std::string_view becomes;  // its resources then
};
void PrintTo(const LimitCase& of, std::ostream* out) { *out << of.name; }

class LimitRangeTest : public AdmissionTest, public testing::WithParamInterface<LimitCase> {};

TEST_P(LimitRangeTest, FillsAndRefuses) {
    const LimitCase& of = GetParam();
    const auto range = make_in("limitranges", "LimitRange", "bounds",
                               fmt::format(R"({{"limits":[{}]}})", of.limit));
    ASSERT_EQ(range.status, 201) << range.body;

    const auto made = make_with("p", std::string(of.resources));

    if (of.refusal.empty()) {
        ASSERT_EQ(made.status, 201) << made.body;
        EXPECT_EQ(parsed(made).at_pointer("/spec/containers/0/resources"), json::parse(of.becomes))
            << made.body;
    } else {
        EXPECT_EQ(made.status, 403);
        EXPECT_EQ(at_path(made, "/reason"), "Forbidden");
        EXPECT_EQ(at_path(made, "/message"),
                  fmt::format("pods \"p\" is forbidden: {}", of.refusal));
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, LimitRangeTest,
    testing::Values(
        LimitCase{.name = "DefaultsForWhoSaysNothing",
                  .limit = R"({"type":"Container","default":{"cpu":"500m","memory":"1Gi"},
                               "defaultRequest":{"cpu":"250m"}})",
                  .resources = "{}",
                  .refusal = "",
                  .becomes = R"({"limits":{"cpu":"500m","memory":"1Gi"},
                                 "requests":{"cpu":"250m","memory":"1Gi"}})"},
        LimitCase{.name = "WhatIsSaidStays",
                  .limit = R"({"type":"Container","default":{"cpu":"500m"}})",
                  .resources = R"({"limits":{"cpu":"2"},"requests":{"cpu":"1"}})",
                  .refusal = "",
                  .becomes = R"({"limits":{"cpu":"2"},"requests":{"cpu":"1"}})"},
        LimitCase{.name = "TheMostIsADefault",
                  .limit = R"({"type":"Container","max":{"cpu":"2"}})",
                  .resources = "{}",
                  .refusal = "",
                  .becomes = R"({"limits":{"cpu":"2"},"requests":{"cpu":"2"}})"},
        LimitCase{.name = "AboveTheMost",
                  .limit = R"({"type":"Container","max":{"nvidia.com/gpu":"4"}})",
                  .resources = R"({"limits":{"nvidia.com/gpu":"8"}})",
                  .refusal = "maximum nvidia.com/gpu usage per Container is 4, but limit is 8",
                  .becomes = ""},
        LimitCase{.name = "BelowTheLeast",
                  .limit = R"({"type":"Container","min":{"memory":"256Mi"}})",
                  .resources = R"({"requests":{"memory":"64Mi"}})",
                  .refusal = "minimum memory usage per Container is 256Mi, but request is 64Mi",
                  .becomes = ""},
        LimitCase{.name = "AllThatIsWrong",
                  .limit = R"({"type":"Container","max":{"cpu":"1","memory":"1Gi"}})",
                  .resources = R"({"limits":{"cpu":"2","memory":"2Gi"}})",
                  .refusal = "[maximum cpu usage per Container is 1, but limit is 2, "
                             "maximum memory usage per Container is 1Gi, but limit is 2Gi]",
                  .becomes = ""},
        LimitCase{.name = "AboveTheRatio",
                  .limit = R"({"type":"Container","maxLimitRequestRatio":{"cpu":"2"}})",
                  .resources = R"({"limits":{"cpu":"3"},"requests":{"cpu":"1"}})",
                  .refusal = "cpu max limit to request ratio per Container is 2, but provided "
                             "ratio is 3.000000",
                  .becomes = ""},
        LimitCase{.name = "APodMustSayWhatIsBounded",
                  .limit = R"({"type":"Pod","max":{"cpu":"2"}})",
                  .resources = "{}",
                  .refusal = "maximum cpu usage per Pod is 2.  No limit is specified",
                  .becomes = ""},
        LimitCase{.name = "ADefaultBelowTheRequestIsNoPod",
                  .limit = R"({"type":"Pod","min":{"cpu":"1"}})",
                  .resources = R"({"requests":{"cpu":"500m"},"limits":{"cpu":"2"}})",
                  .refusal = "minimum cpu usage per Pod is 1, but request is 500m",
                  .becomes = ""}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_F(AdmissionTest, LimitRangesChangeThePodsClassAndSaySo) {
    ASSERT_EQ(make_in("limitranges", "LimitRange", "bounds",
                      R"({"limits":[{"type":"Container","default":{"cpu":"1","memory":"1Gi"}}]})")
                  .status,
              201);

    const auto made = make_with("p", "{}");

    EXPECT_EQ(at_path(made, "/status/qosClass"), "Guaranteed");
    EXPECT_EQ(at_path(made, "/metadata/annotations/kubernetes.io~1limit-ranger"),
              "LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit "
              "for container main");
}

TEST_F(AdmissionTest, AlikeContainersHaveOneFaultAndAreToldApart) {
    ASSERT_EQ(make_in("limitranges", "LimitRange", "bounds",
                      R"({"limits":[{"type":"Container","max":{"cpu":"1"}}]})")
                  .status,
              201);
    const auto pod_of = [&](const std::string& resources) {
        return R"("initContainers":[)" + container(resources, "first") + R"(],"containers":[)" +
               container(resources, "a") + "," + container(resources, "b") + "]";
    };

    EXPECT_EQ(at_path(make("large", pod_of(R"({"limits":{"cpu":"2"}})")), "/message"),
              "pods \"large\" is forbidden: maximum cpu usage per Container is 1, but limit is 2");
    EXPECT_EQ(
        at_path(make("small", pod_of("{}")), "/metadata/annotations/kubernetes.io~1limit-ranger"),
        "LimitRanger plugin set: cpu request for container a; cpu limit for container a; "
        "cpu request for container b; cpu limit for container b; cpu request for init "
        "container first; cpu limit for init container first");
}

TEST_F(AdmissionTest, ALimitRangeThatContradictsItselfIsRefused) {
    const auto made =
        make_in("limitranges", "LimitRange", "bounds",
                R"({"limits":[{"type":"Container","min":{"cpu":"2"},"max":{"cpu":"1"}}]})");

    EXPECT_EQ(made.status, 422);
    EXPECT_THAT(made.body, HasSubstr("min value 2 is greater than max value 1"));
}

TEST_F(AdmissionTest, ARequestAboveItsLimitIsInvalid) {
    const auto made = make_with("p", R"({"limits":{"cpu":"1"},"requests":{"cpu":"2"}})");

    EXPECT_EQ(made.status, 422);
    EXPECT_THAT(made.body, HasSubstr("must be less than or equal to cpu limit of 1"));
}

TEST_F(AdmissionTest, GpusAreBoundedByAQuota) {
    quota(R"({"hard":{"requests.nvidia.com/gpu":"8"}})");
    ASSERT_EQ(make_gpu_pod("a", 6).status, 201);
    EXPECT_EQ(used(), R"({"requests.nvidia.com/gpu":"6"})");

    const auto second = make_gpu_pod("b", 4);

    EXPECT_EQ(second.status, 403);
    EXPECT_EQ(at_path(second, "/reason"), "Forbidden");
    EXPECT_EQ(
        at_path(second, "/message"),
        "pods \"b\" is forbidden: exceeded quota: team, requested: requests.nvidia.com/gpu=4, "
        "used: requests.nvidia.com/gpu=6, limited: requests.nvidia.com/gpu=8");
    EXPECT_EQ(make_gpu_pod("c", 2).status, 201);
    EXPECT_EQ(used(), R"({"requests.nvidia.com/gpu":"8"})");
}

TEST_F(AdmissionTest, WhatEndsOrGoesIsUsedNoMore) {
    quota(R"({"hard":{"requests.nvidia.com/gpu":"8","pods":"2","count/pods":"5"}})");
    ASSERT_EQ(make_gpu_pod("a", 4).status, 201);
    ASSERT_EQ(make_gpu_pod("b", 4).status, 201);
    EXPECT_EQ(used(), R"({"count/pods":"2","pods":"2","requests.nvidia.com/gpu":"8"})");
    ASSERT_EQ(make_with("c", "{}").status, 403);

    ask("PATCH", pods + "/a/status", R"({"status":{"phase":"Succeeded"}})",
        {{"Content-Type", "application/merge-patch+json"}});
    EXPECT_EQ(used(), R"({"count/pods":"2","pods":"1","requests.nvidia.com/gpu":"4"})");
    ask("DELETE", pods + "/b");
    ask("DELETE", pods + "/a");

    EXPECT_EQ(used(), R"({"count/pods":"0","pods":"0","requests.nvidia.com/gpu":"0"})");
}

TEST_F(AdmissionTest, AQuotaCountsWhatWasThereBefore) {
    ASSERT_EQ(make_gpu_pod("a", 4).status, 201);
    ask("POST", "/api/v1/namespaces/default/configmaps",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})");

    quota(R"({"hard":{"requests.nvidia.com/gpu":"2","configmaps":"3"}})");

    EXPECT_EQ(used(), R"({"configmaps":"1","requests.nvidia.com/gpu":"4"})");
    EXPECT_EQ(make_gpu_pod("b", 1).status, 403);
    EXPECT_EQ(make_with("c", "{}").status, 201);  // wants none of what is short
    ask("PATCH", quotas + "/team", R"({"spec":{"hard":{"requests.nvidia.com/gpu":"6"}}})",
        {{"Content-Type", "application/merge-patch+json"}});
    EXPECT_EQ(make_gpu_pod("b", 1).status, 201);
    EXPECT_EQ(at_path(ask("GET", quotas + "/team"), "/status/hard/requests.nvidia.com~1gpu"), "6");
}

TEST_F(AdmissionTest, AnyKindIsBoundedByItsCount) {
    quota(R"({"hard":{"count/jobs.batch":"1","count/jobs.batch.volcano.sh":"0"}})");
    const std::string job = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"%"},
        "spec":{"template":{"spec":{"restartPolicy":"Never","containers":[
            {"name":"c","image":"busybox"}]}}}})";
    const auto make_job = [&](const std::string& name) {
        std::string text = job;
        text.replace(text.find('%'), 1, name);
        return ask("POST", "/apis/batch/v1/namespaces/default/jobs", text);
    };
    ASSERT_EQ(make_job("a").status, 201);

    const auto second = make_job("b");

    EXPECT_EQ(at_path(second, "/message"),
              "jobs.batch \"b\" is forbidden: exceeded quota: team, requested: count/jobs.batch=1, "
              "used: count/jobs.batch=1, limited: count/jobs.batch=1");
    const auto gang =
        ask("POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs",
            R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"g"},
                "spec":{"minAvailable":1,"tasks":[{"name":"w","replicas":1,"template":{"spec":{
                    "containers":[{"name":"c","image":"busybox"}]}}}]}})");
    EXPECT_EQ(gang.status, 403) << gang.body;
}

TEST_F(AdmissionTest, ABoundedPodMustSayWhatItNeeds) {
    quota(R"({"hard":{"limits.memory":"4Gi","requests.cpu":"4"}})");

    const auto made =
        make("p", R"("containers":[)" + container(R"({"requests":{"cpu":"1"}})", "a") + "," +
                      container(R"({"limits":{"memory":"1Gi"}})", "b") + "]");

    EXPECT_EQ(at_path(made, "/message"),
              "pods \"p\" is forbidden: failed quota: team: must specify limits.memory for: a; "
              "requests.cpu for: b");
}

TEST_F(AdmissionTest, ADryRunIsRefusedAndUsesNothing) {
    quota(R"({"hard":{"pods":"1"}})");
    const auto dry = [&] { return ask("POST", pods + "?dryRun=All", pod("d")); };

    EXPECT_EQ(dry().status, 201);
    EXPECT_EQ(used(), R"({"pods":"0"})");
    ASSERT_EQ(make_pod("a").status, 201);
    EXPECT_EQ(dry().status, 403);
}

TEST_F(AdmissionTest, QuotasOutliveARestart) {
    quota(R"({"hard":{"pods":"1"}})");
    ASSERT_EQ(make_pod("a").status, 201);

    QuotaBook again(api->store());

    const json::value second = json::parse(pod("b"));
    EXPECT_THAT(again.refusal("pods", "default", second.as_object()),
                HasSubstr("exceeded quota: team"));
    EXPECT_EQ(again.refusal("pods", "other", second.as_object()), "");
}

TEST_F(AdmissionTest, WithoutControllersAQuotaBoundsNothing) {
    auto store = ObjectStore::open(nullptr);
    ASSERT_TRUE(store.has_value());
    ApiOptions options = api->options();
    options.counts_quotas = false;
    auto opened = Api::open(std::move(*store), built_in_schemas(), std::move(options));
    ASSERT_TRUE(opened.has_value());
    collector.reset();
    api = std::move(*opened);

    quota(R"({"hard":{"pods":"0"}})");

    EXPECT_EQ(make_pod("a").status, 201);
    EXPECT_EQ(at_path(ask("GET", quotas + "/team"), "/status"), "{}");
}

TEST_F(AdmissionTest, ScopesOfAQuotaStayAsTheyWere) {
    quota(R"({"hard":{"pods":"1"},"scopes":["BestEffort"]})");

    const auto changed = ask("PATCH", quotas + "/team", R"({"spec":{"scopes":["NotBestEffort"]}})",
                             {{"Content-Type", "application/merge-patch+json"}});

    EXPECT_EQ(changed.status, 422);
    EXPECT_THAT(changed.body, HasSubstr("field is immutable"));
}

struct ScopeCase {
    std::string_view name;
    std::string_view quota;   // beside hard
    std::string_view inside;  // spec of a pod that counts, beside its containers
    std::string_view beside;  // and of one that does not
};
void PrintTo(const ScopeCase& of, std::ostream* out) { *out << of.name; }

class QuotaScopeTest : public AdmissionTest, public testing::WithParamInterface<ScopeCase> {};

TEST_P(QuotaScopeTest, CountsOnlyPodsOfItsScope) {
    const ScopeCase& of = GetParam();
    ASSERT_EQ(ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
                  R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
                      "metadata":{"name":"high"},"value":100})")
                  .status,
              201);
    quota(fmt::format(R"({{"hard":{{"pods":"1"}},{}}})", of.quota));

    EXPECT_EQ(make("beside", std::string(of.beside)).status, 201);
    EXPECT_EQ(used(), R"({"pods":"0"})");
    EXPECT_EQ(make("a", std::string(of.inside)).status, 201);
    EXPECT_EQ(used(), R"({"pods":"1"})");
    EXPECT_EQ(make("b", std::string(of.inside)).status, 403);
    EXPECT_EQ(make("also-beside", std::string(of.beside)).status, 201);
}

constexpr std::string_view plain = R"("containers":[{"name":"c","image":"busybox:1"}])";
constexpr std::string_view sized = R"("containers":[{"name":"c","image":"busybox:1",
    "resources":{"limits":{"cpu":"1"}}}])";
constexpr std::string_view ending = R"("activeDeadlineSeconds":60,
    "containers":[{"name":"c","image":"busybox:1"}])";
constexpr std::string_view urgent = R"("priorityClassName":"high",
    "containers":[{"name":"c","image":"busybox:1"}])";

INSTANTIATE_TEST_SUITE_P(
    All, QuotaScopeTest,
    testing::Values(ScopeCase{"BestEffort", R"("scopes":["BestEffort"])", plain, sized},
                    ScopeCase{"NotBestEffort", R"("scopes":["NotBestEffort"])", sized, plain},
                    ScopeCase{"Terminating", R"("scopes":["Terminating"])", ending, plain},
                    ScopeCase{"NotTerminating", R"("scopes":["NotTerminating"])", plain, ending},
                    ScopeCase{"Both", R"("scopes":["NotTerminating","BestEffort"])", plain, sized},
                    ScopeCase{"PriorityClassIn",
                              R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass",
                                  "operator":"In","values":["high"]}]})",
                              urgent, plain},
                    ScopeCase{"PriorityClassDoesNotExist",
                              R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass",
                                  "operator":"DoesNotExist"}]})",
                              plain, urgent}),
    [](const auto& of) { return std::string(of.param.name); });

struct BadQuota {
    std::string_view name;
    std::string_view spec;
    std::string_view says;
};
void PrintTo(const BadQuota& of, std::ostream* out) { *out << of.name; }

class BadQuotaTest : public AdmissionTest, public testing::WithParamInterface<BadQuota> {};

TEST_P(BadQuotaTest, IsInvalid) {
    const auto made = make_in("resourcequotas", "ResourceQuota", "q", std::string(GetParam().spec));

    EXPECT_EQ(made.status, 422);
    EXPECT_THAT(at_path(made, "/message"), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadQuotaTest,
    testing::Values(BadQuota{"Negative", R"({"hard":{"pods":"-1"}})", "greater than or equal to 0"},
                    BadQuota{"CpuOfBestEffort", R"({"hard":{"cpu":"1"},"scopes":["BestEffort"]})",
                             "unsupported scope applied to resource"},
                    BadQuota{"MemoryOfVolumes",
                             R"({"hard":{"memory":"1"},"scopes":["VolumeAttributesClass"]})",
                             "unsupported scope applied to resource"},
                    BadQuota{"ServicesOfAPriority",
                             R"({"hard":{"services":"1"},"scopeSelector":{"matchExpressions":[
                        {"scopeName":"PriorityClass","operator":"Exists"}]}})",
                             R"(spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpre)"
                             R"(ssions":[{"ScopeName":"PriorityClass","Operator":"Exists",)"
                             R"("Values":null}]}: unsupported scope applied to resource)"},
                    BadQuota{"AnOperatorForNothing",
                             R"({"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[
                        {"scopeName":"BestEffort","operator":"DoesNotExist"}]}})",
                             "must be 'Exists' when scope is any of"},
                    BadQuota{"UnknownScope", R"({"hard":{"pods":"1"},"scopes":["Small"]})",
                             R"(["Small"]: unsupported scope)"},
                    BadQuota{"Opposites", R"({"hard":{"pods":"1"},
                                              "scopes":["BestEffort","NotBestEffort"]})",
                             "conflicting scopes"},
                    BadQuota{"NoValues", R"({"hard":{"pods":"1"},"scopeSelector":{
                        "matchExpressions":[{"scopeName":"PriorityClass","operator":"In"}]}})",
                             "must be at least one value when"}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace muster::lab
